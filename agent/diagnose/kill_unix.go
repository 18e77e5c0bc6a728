//go:build unix

package diagnose

import (
	"os/exec"
	"syscall"
)

// killGroup makes the end of the command's context end everything it started.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
