package workspace

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditsBetween(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		want           []Edit
	}{
		{"equal", "a\n", "a\n", nil},
		{"one word", "a\nfoo bar\nc\n", "a\nfoo baz\nc\n", []Edit{{6, 9, "baz"}}},
		{"not within a word", "ReadAll(x)", "ReadFile(x)", []Edit{{0, 7, "ReadFile"}}},
		{"insert a line", "a\nb\n", "a\nx\nb\n", []Edit{{2, 2, "x\n"}}},
		{"delete a line", "a\nx\nb\n", "a\nb\n", []Edit{{2, 4, ""}}},
		{"CRLF stays", "a\r\nfoo\r\nc\r\n", "a\r\nbar\r\nc\r\n", []Edit{{3, 6, "bar"}}},
		{"CRLF is not parted", "a\r\n", "a\n", []Edit{{1, 3, "\n"}}},
		{"mark stays", "\ufefffoo x\n", "\ufeffbar x\n", []Edit{{3, 6, "bar"}}},
		{"no final newline", "a\nfoo", "a\nbar", []Edit{{2, 5, "bar"}}},
		{"two lines", "a 1\nb 1\n", "a 2\nb 2\n", []Edit{{2, 3, "2"}, {6, 7, "2"}}},
		{"from nothing", "", "x", []Edit{{0, 0, "x"}}},
		{"to nothing", "x", "", []Edit{{0, 1, ""}}},
		{"character is not parted", "\"é\"", "\"è\"", []Edit{{1, 3, "è"}}},
	} {
		got := EditsBetween([]byte(test.old), []byte(test.new))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func FuzzEditsBetween(f *testing.F) {
	f.Add("a\r\nb\xff\n", "a\nb\r\nc")
	f.Fuzz(func(t *testing.T, old, new string) {
		checkEdits(t, []byte(old), []byte(new))
	})
}

func checkEdits(t *testing.T, old, new []byte) {
	t.Helper()
	edits := EditsBetween(old, new)
	got, err := ApplyEdits(old, edits)
	if err != nil || !bytes.Equal(got, new) {
		t.Fatalf("%q to %q: %v gives %q, %v", old, new, edits, got, err)
	}
	for i, e := range edits {
		if i > 0 && e.Start < edits[i-1].End || string(old[e.Start:e.End]) == e.New {
			t.Fatalf("%q to %q: %v are not in order, or do nothing", old, new, edits)
		}
	}
}

// randomText returns text with every kind of line end, mark and byte.
func randomText(rnd *rand.Rand, lines int) []byte {
	var b bytes.Buffer
	if rnd.IntN(4) == 0 {
		b.Write(utf8BOM)
	}
	ends := []string{"\n", "\r\n", "\r", "\n\n", "\r\n", "\n"}
	if rnd.IntN(2) == 0 {
		ends = ends[rnd.IntN(3):][:1]
	}
	for range lines {
		switch rnd.IntN(6) {
		case 0:
		case 1:
			b.WriteString("é𐐷\u200d \t" + strings.Repeat("日本", rnd.IntN(4)))
		case 2:
			b.WriteString(strings.Repeat("long ", rnd.IntN(200)))
		default:
			b.WriteString("x := f(" + string(rune('a'+rnd.IntN(26))) + ")")
		}
		b.WriteString(ends[rnd.IntN(len(ends))])
	}
	if rnd.IntN(3) == 0 {
		b.WriteString("no end")
	}
	return b.Bytes()
}

// What no edit covers stays as it was, byte for byte, and the edits found by
// comparing are no larger than the ones that were made.
func TestUntouchedBytesStay(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		old := randomText(rnd, rnd.IntN(30))
		var edits []Edit
		for at := 0; at < len(old); {
			start := at + rnd.IntN(40)
			end := start + rnd.IntN(8)
			if end > len(old) {
				break
			}
			edits = append(edits, Edit{start, end, string(randomText(rnd, rnd.IntN(2)))})
			at = end + 1
		}
		new, err := ApplyEdits(old, edits)
		check(t, err)
		from, to := 0, 0
		for _, e := range edits {
			keep := e.Start - from
			if !bytes.Equal(old[from:e.Start], new[to:to+keep]) {
				t.Fatalf("bytes %d to %d changed", from, e.Start)
			}
			from, to = e.End, to+keep+len(e.New)
		}
		if !bytes.Equal(old[from:], new[to:]) {
			t.Fatal("the end changed")
		}
		checkEdits(t, old, new)
	}
}

func TestDiff(t *testing.T) {
	for _, test := range []struct{ name, old, new, want string }{
		{"equal", "a\n", "a\n", ""},
		{"changed", "a\nb\nc\n", "a\nx\nc\n", "--- a/p\n+++ b/p\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"created", "", "x\n", "--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+x\n"},
		{"no end", "a", "b", "--- a/p\n+++ b/p\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"},
	} {
		old := []byte(test.old)
		if test.name == "created" {
			old = nil
		}
		if diff := cmp.Diff(test.want, Diff("p", old, []byte(test.new))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestDetectEncoding(t *testing.T) {
	for text, want := range map[string]TextEncoding{
		"": UTF8Text, "abc é\r\n": UTF8Text, "\ufeffabc": UTF8BOMText, "\xff\xfea\x00": UTF16LEText, "\xfe\xff\x00a": UTF16BEText,
		"\xff\xfe\x00\x00a\x00\x00\x00": UTF32Text, "caf\xe9": OtherText, "a\x00b": NotText, "a\xed\xa0\x80": OtherText, "\ufffd": UTF8Text,
	} {
		got, at := DetectEncoding([]byte(text))
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if want == OtherText && (at == 0 || text[at] < 0x80) {
			t.Errorf("%q: byte %d is not where it goes wrong", text, at)
		}
		err := CheckEditable("p", []byte(text))
		if editable := want == UTF8Text || want == UTF8BOMText; editable != (err == nil) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
