package lsp_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kaiak/kaiak/lsp"
)

// maxGrowth is how much memory a flood of broken frames may cost a process.
const maxGrowth = 64 << 20

// TestProcessSurvivesMalformedFrames floods a real process with the whole
// service behind it: it answers the sound requests in between, does not grow,
// and ends as if nothing had been.
func TestProcessSurvivesMalformedFrames(t *testing.T) {
	count := 10_000
	if os.Getenv("KAIAK_RELIABILITY") == "full" {
		count = 100_000
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("KAIAK_SEED"), 10, 64); err == nil {
		seed = n
	}
	rnd := rand.New(rand.NewPCG(seed, 2))
	p := startProcess(t)
	p.send(`{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`)
	p.answer(`"begin"`)
	answers := make(chan string, 1024)
	go func() { // ends with the process
		defer close(answers)
		read(p.out, func(body string) {
			if strings.Contains(body, "sound ") {
				answers <- body
			}
		})
	}()
	var before int64
	slowest := time.Duration(0)
	for i := range count {
		if _, err := io.WriteString(p.in, lsp.Malform(rnd)); err != nil {
			t.Fatalf("KAIAK_SEED=%d, frame %d: %v", seed, i, err)
		}
		if i%100 != 99 {
			continue
		}
		// What waits for the rest of a header or of a body gets it.
		if _, err := io.WriteString(p.in, "\r\n"+strings.Repeat(" ", 16<<10)+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf(`"sound %d"`, i)
		begun := time.Now()
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"no/such/method"}`)
		if !answered(answers, id) {
			t.Fatalf("KAIAK_SEED=%d: after %d frames the sound request was not answered", seed, i+1)
		}
		slowest = max(slowest, time.Since(begun))
		if i == 999 {
			before = resident(p.cmd.Process.Pid) // with its buffers and its heap in use
		}
	}
	after := resident(p.cmd.Process.Pid)
	t.Logf("%d frames, KAIAK_SEED=%d: the slowest answer took %v; %d KiB of memory before, %d KiB after", count, seed, slowest, before>>10, after>>10)
	if after-before > maxGrowth {
		t.Errorf("it grew by %d bytes", after-before)
	}
	p.send(`{"jsonrpc":"2.0","id":"sound end","method":"shutdown"}`)
	if !answered(answers, `"sound end"`) {
		t.Fatal("shutdown was not answered")
	}
	p.send(`{"jsonrpc":"2.0","method":"exit"}`)
	for range answers { // to the end of its output
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func answered(answers <-chan string, id string) bool {
	end := time.After(30 * time.Second)
	for {
		select {
		case body, ok := <-answers:
			if !ok {
				return false
			}
			if strings.Contains(body, id) {
				return true
			}
		case <-end:
			return false
		}
	}
}

// read passes each frame's body to visit, to the end of the stream.
func read(in *bufio.Reader, visit func(body string)) {
	for {
		var size int
		if _, err := fmt.Fscanf(in, "Content-Length: %d\r\n\r\n", &size); err != nil {
			return
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		visit(string(body))
	}
}

// resident is how much memory a process has, in bytes; 0 where the system does
// not tell.
func resident(pid int) int64 {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return kib << 10
}
