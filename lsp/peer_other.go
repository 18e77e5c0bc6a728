//go:build !linux

package lsp

import "net"

// checkPeer leaves the check to the socket's mode, 0600.
func checkPeer(*net.UnixConn) error { return nil }
