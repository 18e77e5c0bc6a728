package lsp

import "golang.org/x/sys/windows"

// stillActive is the exit code of a process that has not exited.
const stillActive = 259

// processAlive reports whether a process with this number exists.
func processAlive(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var code uint32
	return windows.GetExitCodeProcess(h, &code) == nil && code == stillActive
}
