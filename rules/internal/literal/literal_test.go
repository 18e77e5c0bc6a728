package literal

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScanFindsWhatContainsFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abc"[rng.IntN(3)]
		}
		return string(b)
	}
	for range 200 {
		var b Builder
		var list []string
		for range 1 + rng.IntN(20) {
			s := word(1 + rng.IntN(5))
			if b.Add(s) == len(list) {
				list = append(list, s)
			}
		}
		set := b.Build()
		var found Found
		for range 20 {
			text := []byte(word(rng.IntN(12)))
			found = set.Scan(text, found)
			for id, s := range list {
				if got, want := found.Has(id), bytes.Contains(text, []byte(s)); got != want {
					t.Fatalf("%q in %q: got %v, want %v", s, text, got, want)
				}
			}
		}
	}
}

func TestScanKnowsEveryByte(t *testing.T) {
	var b Builder
	ids := make([]int, 256)
	for i := range ids {
		ids[i] = b.Add(string([]byte{byte(i), byte(i)}))
	}
	set := b.Build()
	for i, id := range ids {
		found := set.Scan([]byte{byte(i), byte(i)}, nil)
		if !found.Has(id) {
			t.Errorf("byte %#x is not found", i)
		}
	}
}

func TestNeed(t *testing.T) {
	var b Builder
	need := b.Need([][]string{{"import"}, {"Modal", "Chip"}, {""}, {}})
	set := b.Build()
	for text, want := range map[string]bool{
		"import { Modal }": true,
		"import { Chip }":  true,
		"import { Text }":  false,
		"Modal":            false,
		"":                 false,
	} {
		if got := need.Met(set.Scan([]byte(text), nil)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	if !Need(nil).Met(set.Scan(nil, nil)) {
		t.Error("the empty need is not met")
	}
}

func TestFromRegexp(t *testing.T) {
	tests := []struct {
		expr string
		want [][]string
	}{
		{`javax\.ejb`, [][]string{{"javax.ejb"}}},
		{`a|bc`, nil},
		{`abc|def`, [][]string{{"abc", "def"}}},
		{`import[\s\S]*Modal`, [][]string{{"import"}, {"Modal"}}},
		{`groupId>javax.(annotation|batch)<`, [][]string{{"groupId>javax"}, {"annotation<", "batch<"}}},
		{`(?i)appender`, nil},
		{`.*`, nil},
		{`(foo)+bar`, [][]string{{"foo"}, {"bar"}}},
		{`(foo)?bar`, [][]string{{"bar", "foobar"}}},
		{`ya?ml`, [][]string{{"yml", "yaml"}}},
		{`(`, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, FromRegexp(tt.expr)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.expr, diff)
		}
	}
}

func TestStripLookaround(t *testing.T) {
	for expr, want := range map[string]string{
		`a(?!b)c`:               `ac`,
		`(?<![A-Za-z])x`:        `x`,
		`[(?!]a(?=b(c)d)e`:      `[(?!]ae`,
		`\(?!a`:                 `\(?!a`,
		`port(.*(?!8080)\d{4})`: `port(.*\d{4})`,
		`a(?=b)*c`:              `ac`,
		`(?!`:                   ``,
	} {
		if got := StripLookaround(expr); got != want {
			t.Errorf("%s: got %s, want %s", expr, got, want)
		}
	}
}

// FuzzFromRegexp checks that no expression matches a text that lacks what the
// expression is said to need.
func FuzzFromRegexp(f *testing.F) {
	f.Add(`import.*(Modal|Chip)s?`, "import Modal")
	f.Add(`(?i)x|y+z{2,3}`, "yzz")
	f.Fuzz(func(t *testing.T, expr, text string) {
		re, err := regexp.Compile(expr)
		if err != nil || !re.MatchString(text) {
			return
		}
		for _, clause := range FromRegexp(expr) {
			met := false
			for _, s := range clause {
				met = met || strings.Contains(text, s)
			}
			if !met {
				t.Errorf("%q matches %q without any of %q", expr, text, clause)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	var builder Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2500 {
		n := 6 + rng.IntN(20)
		s := make([]byte, n)
		for i := range s {
			s[i] = byte('a' + rng.IntN(26))
		}
		builder.Add(string(s))
	}
	set := builder.Build()
	text := []byte(strings.Repeat("import java.util.List; // nothing of interest here\n", 20000))
	b.SetBytes(int64(len(text)))
	var found Found
	for b.Loop() {
		found = set.Scan(text, found)
	}
}
