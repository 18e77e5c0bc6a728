//go:build unix && !linux

package workspace

import "golang.org/x/sys/unix"

const openNonblock = unix.O_NONBLOCK
