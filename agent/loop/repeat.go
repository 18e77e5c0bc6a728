package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/kaiak/kaiak/agent"
)

// repeats is how often the same thing may happen.
const repeats = 3

// A tracker notices that a conversation goes in circles.
type tracker struct {
	calls []string       // signatures of call and result, in order
	count map[string]int // by signature
	texts map[string]bool
	flaws []map[string]bool // of each attempt
}

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// call records a call with its result and reports whether it goes in circles:
// the same call three times, or a cycle of up to four calls three times in a row.
func (t *tracker) call(name, args, result string) bool {
	if t.count == nil {
		t.count = map[string]int{}
	}
	// The arguments alone count, too: a result that refers to an earlier one differs.
	only := digest(name, args)
	t.count[only]++
	t.calls = append(t.calls, digest(name, result))
	if t.count[only] >= repeats {
		return true
	}
	for period := 1; period <= 4; period++ {
		if cycles(t.calls, period) {
			return true
		}
	}
	return false
}

// cycles reports whether list ends in a run of period elements three times.
func cycles(list []string, period int) bool {
	n := len(list)
	if n < repeats*period {
		return false
	}
	last := list[n-period:]
	for r := 2; r <= repeats; r++ {
		if !slices.Equal(list[n-r*period:n-(r-1)*period], last) {
			return false
		}
	}
	return true
}

// text records a candidate text and reports whether it was proposed before.
func (t *tracker) text(text []byte) bool {
	if t.texts == nil {
		t.texts = map[string]bool{}
	}
	key := digest(string(text))
	seen := t.texts[key]
	t.texts[key] = true
	return seen
}

// attempt records the flaws of an attempt and reports whether it does not get
// anywhere: the same flaws as some attempt before and no fewer than the best, or
// twice in a row not fewer than before.
func (t *tracker) attempt(flaws []agent.Flaw) bool {
	set := map[string]bool{}
	for _, f := range flaws {
		set[flawKey(f)] = true
	}
	best := -1
	for _, old := range t.flaws {
		if best < 0 || len(old) < best {
			best = len(old)
		}
	}
	stuck := false
	for _, old := range t.flaws {
		same := len(old) == len(set)
		for k := range set {
			same = same && old[k]
		}
		stuck = stuck || same && len(set) >= best && len(t.flaws) > 1
	}
	if n := len(t.flaws); n >= 2 && len(set) >= len(t.flaws[n-1]) && len(t.flaws[n-1]) >= len(t.flaws[n-2]) {
		stuck = true
	}
	t.flaws = append(t.flaws, set)
	return stuck
}

// flawKey tells a flaw by what it says, not by where: edits move lines.
func flawKey(f agent.Flaw) string {
	return f.Check + "\x00" + f.Path + "\x00" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, f.Message)
}
