package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func FuzzSSE(f *testing.F) {
	f.Add([]byte("data: {\"a\":1}\n\n: c\r\ndata: x\rdata:y\n\nevent: error\ndata: z"), uint8(3))
	f.Add([]byte("\ufeffdata: [DONE]\n\n"), uint8(1))
	f.Add([]byte("data\n\n\n\r\r\ndata:\n"), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		read := func(src io.Reader) (out []string) {
			s := newSSEReader(src, nil)
			for {
				ev, err := s.next()
				if err != nil {
					if !errors.Is(err, io.EOF) {
						out = append(out, err.Error())
					}
					return out
				}
				out = append(out, fmt.Sprintf("%s|%t|%s", ev.Type, ev.Comment, ev.Data))
			}
		}
		whole := read(bytes.NewReader(text))
		if got := read(iotest.OneByteReader(bytes.NewReader(text))); strings.Join(got, "\x00") != strings.Join(whole, "\x00") {
			t.Errorf("byte by byte %q, at once %q", got, whole)
		}
		cut := min(int(n), len(text))
		if got := read(io.MultiReader(bytes.NewReader(text[:cut]), bytes.NewReader(text[cut:]))); strings.Join(got, "\x00") != strings.Join(whole, "\x00") {
			t.Errorf("cut at %d %q, at once %q", cut, got, whole)
		}
		for _, line := range whole {
			if len(line) > len(text)+64 {
				t.Errorf("an event has more than the text: %q", line)
			}
			decodeChunk([]byte(line)) // must not panic
		}
		splitValues(text)
	})
}

// dialect is how a server deviates when it streams calls.
type dialect struct {
	index     int // 0 right, 1 from one, 2 all zero, 3 absent, 4 as a string
	id        int // 0 first fragment, 1 every fragment the same, 2 absent, 3 a new one per fragment
	name      int // 0 first fragment, 1 every fragment
	args      int // 0 fragments, 1 whole, 2 object, 3 encoded twice
	interleft bool
}

type sent struct{ name, args string }

// fragments makes the deltas of calls in a dialect.
func (d dialect) fragments(rng *rand.Rand, calls []sent) []string {
	perCall := make([][]string, len(calls))
	for i, c := range calls {
		pieces := []string{c.args}
		if d.args == 0 {
			pieces = nil
			for rest := []rune(c.args); len(rest) > 0; {
				n := 1 + rng.IntN(len(rest))
				pieces = append(pieces, string(rest[:n]))
				rest = rest[n:]
			}
			if rng.IntN(2) == 0 {
				pieces = append([]string{""}, pieces...)
			}
		}
		for k, piece := range pieces {
			members := map[string]any{}
			switch d.index {
			case 0:
				members["index"] = i
			case 1:
				members["index"] = i + 1
			case 2:
				members["index"] = 0
			case 4:
				members["index"] = fmt.Sprint(i)
			}
			switch {
			case d.id == 0 && k == 0 || d.id == 1:
				members["id"] = fmt.Sprintf("id%d", i)
			case d.id == 3:
				members["id"] = fmt.Sprintf("id%d.%d", i, k)
			}
			function := map[string]any{}
			if k == 0 || d.name == 1 {
				function["name"] = c.name
			}
			switch d.args {
			case 2:
				function["arguments"] = json.RawMessage(piece)
			case 3:
				inner, _ := json.Marshal(piece)
				function["arguments"] = string(inner)
			default:
				function["arguments"] = piece
			}
			members["function"] = function
			js, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"tool_calls": []any{members}}}}})
			perCall[i] = append(perCall[i], string(js))
		}
	}
	var out []string
	if d.interleft && d.index < 2 { // only a server that tells calls apart can interleave them
		for more := true; more; {
			more = false
			for i := range perCall {
				if len(perCall[i]) > 0 {
					out, perCall[i], more = append(out, perCall[i][0]), perCall[i][1:], true
				}
			}
		}
		return out
	}
	for _, p := range perCall {
		out = append(out, p...)
	}
	return out
}

// FuzzAccumulator sends random valid calls through random dialects: they come out
// as they went in, or are rejected, never mixed up.
func FuzzAccumulator(f *testing.F) {
	for seed := range uint64(64) {
		f.Add(seed, uint32(seed*2654435761))
	}
	f.Fuzz(func(t *testing.T, seed uint64, bits uint32) {
		rng := rand.New(rand.NewPCG(seed, 7))
		d := dialect{index: int(bits % 5), id: int(bits >> 4 % 4), name: int(bits >> 8 % 2), args: int(bits >> 12 % 4), interleft: bits>>16%2 == 1}
		tools := []string{"edit", "read_file", "search"}
		var calls []sent
		for i := range 1 + rng.IntN(4) {
			args := map[string]any{"n": i, "s": strings.Repeat("é\"{}", rng.IntN(5)), "v": rng.Uint32()}
			js, _ := json.Marshal(args)
			calls = append(calls, sent{tools[rng.IntN(3)], string(js)})
		}
		acc := newAccumulator(tools)
		for _, raw := range d.fragments(rng, calls) {
			ch, ok := decodeChunk([]byte(raw))
			if !ok {
				t.Fatalf("chunk %s is not understood", raw)
			}
			if err := acc.add(ch.Choices[0].Delta); err != nil {
				t.Fatal(err)
			}
		}
		got := acc.calls("")
		valid := 0
		ids := map[string]bool{}
		for _, c := range got {
			if ids[c.ID] {
				t.Errorf("id %q twice", c.ID)
			}
			ids[c.ID] = true
			if c.Invalid != "" {
				continue
			}
			// A valid call must be one that was sent, in the order of sending.
			for valid < len(calls) && (calls[valid].name != c.Name || !sameObject(calls[valid].args, string(c.Arguments))) {
				valid++
			}
			if valid == len(calls) {
				t.Fatalf("%+v: call %s(%s) was never sent; sent %v", d, c.Name, c.Arguments, calls)
			}
			valid++
		}
		// What every server gets right must come out whole.
		if d.index <= 1 && d.id <= 1 && (d.name == 0 || d.id == 1) {
			if len(got) != len(calls) {
				t.Fatalf("%+v: %d calls of %d", d, len(got), len(calls))
			}
			for i, c := range got {
				if c.Invalid != "" || c.Name != calls[i].name {
					t.Errorf("%+v: call %d is %s, %s; sent %s", d, i, c.Name, c.Invalid, calls[i].name)
				}
			}
		}
	})
}

func sameObject(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}
