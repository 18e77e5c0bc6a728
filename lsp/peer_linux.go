package lsp

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer reports an error when the process at the other end is not the
// user's own (nor root's).
func checkPeer(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var fail error
	if err := raw.Control(func(fd uintptr) {
		peer, fail = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return err
	}
	if fail != nil {
		return fail
	}
	if own := os.Getuid(); peer.Uid != 0 && int(peer.Uid) != own {
		return fmt.Errorf("process %d belongs to user %d, not to %d", peer.Pid, peer.Uid, own)
	}
	return nil
}
