package lsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// seeds are frames, sound and broken, from which fuzzing and the flood begin.
var seeds = []string{
	frame(`{"jsonrpc":"2.0","id":1,"method":"kaiak/session/status","params":{"session_id":"x"}}`),
	frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a","languageId":"go","version":1,"text":"old"}}}`),
	frame(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":0},"end":{"line":9,"character":9}},"text":"é😀"}]}}`),
	frame(`{"jsonrpc":"2.0","id":"a","method":"textDocument/codeAction","params":{"textDocument":{"uri":"file:///a"},"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"context":{"diagnostics":[]}}}`),
	frame(`[{"jsonrpc":"2.0","id":1,"method":"x"},{"jsonrpc":"2.0","method":"y"},1]`),
	frame(`{"jsonrpc":"2.0","id":null,"method":"x"}`),
	frame(`{"jsonrpc":"2.0","id":5,"result":{}}`),
	frame(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`),
	"Content-Length: 9223372036854775807\r\n\r\n{}",
	"Content-Length: -5\r\n\r\n{}",
	"Content-Length: +10\r\n\r\n{}",
	"Content-Length: 5\nContent-Length: 6\n\n{}",
	"Content-Length:5\r\nContent-Type: a; charset=utf-16\r\n\r\nabcde",
	"content-length: 2\n\n{}",
	"\r\n\r\n\r\n",
	strings.Repeat("x", maxHeaderLine+1),
}

// FuzzFrames checks that whatever comes, reading ends with the stream, no body
// is longer than what came, and a sound frame behind a header that could not be
// read is found.
func FuzzFrames(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte(s + frame("{}")))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := newFrameReader(bytes.NewReader(stream))
		for total := 0; ; {
			body, bad, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatalf("reading ended with %v", err)
				}
				return
			}
			if total += len(body); total > len(stream) {
				t.Fatalf("%d bytes of bodies in %d bytes", total, len(stream))
			}
			if bad != nil {
				if bad.reason == "" || bad.code.Number == 0 {
					t.Fatalf("a fault without a reason: %+v", bad)
				}
				if !r.lost {
					continue
				}
				// Whatever stands before it, the next sound frame is found.
				rest, err := io.ReadAll(r.in)
				if err != nil {
					t.Fatal(err)
				}
				again := newFrameReader(strings.NewReader(string(rest) + "\n" + frame(`"sentinel"`)))
				again.lost = true
				for {
					body, _, err := again.next()
					if err != nil {
						if bytes.Contains(bytes.ToLower(rest), []byte("content-length:")) {
							return // it may have swallowed the sentinel as its body
						}
						t.Fatalf("the sentinel behind %q was not found: %v", rest, err)
					}
					if string(body) == `"sentinel"` {
						return
					}
				}
			}
			_ = checkBody(body)
		}
	})
}

// FuzzEnvelope checks that reading an envelope piece by piece gives what
// reading it whole gives, and that nothing much is kept.
func FuzzEnvelope(f *testing.F) {
	for _, s := range seeds {
		_, body, _ := strings.Cut(s, "\r\n\r\n")
		f.Add([]byte(body), 3)
	}
	f.Fuzz(func(t *testing.T, msg []byte, piece int) {
		whole := parseEnvelope(msg)
		parts := new(envelope)
		for rest := msg; len(rest) > 0; {
			n := min(max(piece, 1), len(rest))
			parts.feed(rest[:n])
			rest = rest[n:]
		}
		if a, b := fmt.Sprintf("%+v", whole), fmt.Sprintf("%+v", parts); a != b && whole.capture == nil {
			t.Errorf("whole %s\nparts %s", a, b)
		}
		if len(whole.id) > maxID || len(whole.method) > maxMethod || len(whole.key) > maxKeyBytes {
			t.Errorf("kept %d, %d, %d bytes", len(whole.id), len(whole.method), len(whole.key))
		}
		_ = whole.check()
	})
}

// TestMalformedFrames sends many malformed frames on one connection, each
// followed now and then by a sound request that must be answered: 10,000, and
// 200,000 with KAIAK_RELIABILITY=full. The seed is printed; KAIAK_SEED repeats it.
func TestMalformedFrames(t *testing.T) {
	count := 10_000
	if os.Getenv("KAIAK_RELIABILITY") == "full" {
		count = 200_000
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("KAIAK_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("%d frames, KAIAK_SEED=%d", count, seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	p := dial(t, newTestEngine())
	p.initialize()

	answers := make(chan *answer, 1024)
	go func() { // ends with the connection
		defer close(answers)
		for {
			a, err := p.read()
			if err != nil {
				return
			}
			answers <- a
		}
	}()
	slowest := time.Duration(0)
	for i := range count {
		p.raw(malform(rnd))
		if i%10 != 9 {
			continue
		}
		// A line break ends a header line that was left open; what still waits
		// for a body gets spaces, which are no JSON.
		p.raw("\r\n" + strings.Repeat(" ", 16<<10) + "\r\n\r\n")
		id := fmt.Sprintf(`"sound %d"`, i)
		begun := time.Now()
		p.send(`{"jsonrpc":"2.0","id":%s,"method":"no/such/method"}`, id)
		if !waitFor(t, answers, id) {
			t.Fatalf("after %d frames the sound request was not answered", i)
		}
		slowest = max(slowest, time.Since(begun))
	}
	t.Logf("the slowest answer took %v", slowest)
}

func waitFor(t *testing.T, answers <-chan *answer, id string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		select {
		case a, ok := <-answers:
			if !ok {
				return false
			}
			if a.code() == 0 && a.Method == "" && a.Result == nil && !strings.HasPrefix(a.body, "[") {
				t.Errorf("an answer with neither result nor error: %s", a.body)
			}
			if string(a.ID) == id {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

// malform makes a frame that is broken in one of many ways. A length that
// promises more than follows is kept small, so that it does not swallow the next
// sound request.
func malform(rnd *rand.Rand) string {
	s := []byte(seeds[rnd.IntN(len(seeds))])
	for range 1 + rnd.IntN(4) {
		if len(s) == 0 {
			break
		}
		at := rnd.IntN(len(s))
		switch rnd.IntN(5) {
		case 0:
			s[at] = byte(rnd.IntN(256))
		case 1:
			s = append(s[:at], s[at+1:]...)
		case 2:
			s = append(s[:at], append([]byte{byte(rnd.IntN(256))}, s[at:]...)...)
		case 3:
			s = s[:at]
		case 4:
			end := at + rnd.IntN(len(s)-at)
			s = append(s, s[at:end]...)
		}
	}
	// Lengths that would be believed stay below what the padding fills, even
	// with a digit from the next frame behind them.
	return believed.ReplaceAllStringFunc(string(s), func(header string) string {
		name, digits, _ := strings.Cut(header, ":")
		if n, bad := parseLength(strings.Trim(digits, " \t")); bad == "" && n > 999 {
			return name + ": 999"
		}
		return header
	})
}

var believed = regexp.MustCompile(`(?i)content-length:[ \t]*[0-9]+`)
