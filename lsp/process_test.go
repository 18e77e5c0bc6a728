package lsp_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A process is a server in a child process, spoken to in plain frames.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startProcess(t *testing.T) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), serveEnv+"="+t.TempDir())
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

func (p *process) send(body string) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		p.t.Fatal(err)
	}
}

// answer reads up to the message that contains a text.
func (p *process) answer(text string) {
	p.t.Helper()
	for {
		var size int
		if _, err := fmt.Fscanf(p.out, "Content-Length: %d\r\n\r\n", &size); err != nil {
			p.t.Fatalf("reading a header: %v", err)
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(p.out, body); err != nil {
			p.t.Fatal(err)
		}
		if strings.Contains(string(body), text) {
			return
		}
	}
}

// TestProcessEnds checks the exit codes of a real process, and that it ends
// within two seconds of the client's leaving, however that leaves.
func TestProcessEnds(t *testing.T) {
	const shutdown = `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`
	const exit = `{"jsonrpc":"2.0","method":"exit"}`
	tests := []struct {
		name  string
		leave func(p *process, parent *exec.Cmd)
		code  int
	}{
		{"shutdown and exit", func(p *process, _ *exec.Cmd) { p.send(shutdown); p.answer(`"id":2`); p.send(exit) }, 0},
		{"exit alone", func(p *process, _ *exec.Cmd) { p.send(exit) }, 1},
		{"stdin ends", func(p *process, _ *exec.Cmd) { _ = p.in.Close() }, 1},
		{"shutdown, then stdin ends", func(p *process, _ *exec.Cmd) { p.send(shutdown); p.answer(`"id":2`); _ = p.in.Close() }, 0},
		{"the parent dies, stdin stays open", func(_ *process, parent *exec.Cmd) { _ = parent.Process.Kill(); _ = parent.Wait() }, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parent := exec.Command("cat")
			hold, err := parent.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = hold.Close() }()
			if err := parent.Start(); err != nil {
				t.Skipf("no process to be a parent: %v", err)
			}
			p := startProcess(t)
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":%d,"rootUri":null,"capabilities":{}}}`, parent.Process.Pid))
			p.answer(`"id":1`)
			begun := time.Now()
			tt.leave(p, parent)
			rest, err := io.ReadAll(p.out)
			if err != nil || len(rest) > 0 {
				t.Errorf("left behind on stdout: %q, %v", rest, err)
			}
			_ = p.cmd.Wait() // its code is looked at below
			if took := time.Since(begun); took > 2*time.Second {
				t.Errorf("it took %v to end", took)
			}
			if code := p.cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("it ended with %d, want %d", code, tt.code)
			}
		})
	}
}
