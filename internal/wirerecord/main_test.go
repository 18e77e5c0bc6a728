package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestFramesAreLoggedWhateverTheirPieces(t *testing.T) {
	body := `{"jsonrpc":"2.0","method":"x","params":{"text":"äö😀"}}`
	wire := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	wire += "Content-Length: +x\r\n\r\n" + wire
	for _, step := range []int{1, 7, len(wire)} {
		var out bytes.Buffer
		w := (&log{start: time.Now(), out: &out}).frames("s2c")
		for rest := wire; rest != ""; {
			n := min(step, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		got := out.String()
		if n := strings.Count(got, body); n != 2 {
			t.Errorf("in pieces of %d: %d messages logged, want 2:\n%s", step, n, got)
		}
		if n := strings.Count(got, `"fault":"bad header`); n != 1 {
			t.Errorf("in pieces of %d: %d faults logged, want 1:\n%s", step, n, got)
		}
	}
}
