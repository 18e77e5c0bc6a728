package edit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/kaiak/kaiak/workspace"
)

func file(path, text string) *workspace.File {
	return &workspace.File{Path: path, Text: []byte(text), SHA256: workspace.SHA256([]byte(text))}
}

func options(f *workspace.File) Options {
	return Options{Files: map[string]Base{f.Path: {File: f}}}
}

func replace(path, sha string, pairs ...string) Proposal {
	p := Proposal{Files: []FileEdits{{Path: path, BaseSHA256: sha}}}
	for i := 0; i+1 < len(pairs); i += 2 {
		p.Files[0].Edits = append(p.Files[0].Edits, Replacement{OldText: pairs[i], NewText: pairs[i+1]})
	}
	return p
}

const source = "package a\n\nfunc f() {\n\tx := 1\n\ty := 2\n}\n\nfunc g() {\n\tx := 1\n}\n"

func TestResolve(t *testing.T) {
	for _, tt := range []struct {
		name   string
		path   string // "" a.go
		base   string
		pairs  []string
		adjust func(*Proposal, *Options)
		want   string
		level  Level
		kind   Kind // of the failure, "" for none
		says   string
	}{
		{name: "exact", base: source, pairs: []string{"\ty := 2\n", "\ty := 3\n"}, want: strings.Replace(source, "y := 2", "y := 3", 1)},
		{name: "two edits in any order", base: source, pairs: []string{"func g()", "func h()", "package a", "package b"}, want: strings.NewReplacer("func g", "func h", "package a", "package b").Replace(source)},
		{name: "deletion", base: source, pairs: []string{"\ty := 2\n", ""}, want: strings.Replace(source, "\ty := 2\n", "", 1)},
		{name: "ambiguous", base: source, pairs: []string{"x := 1", "x := 2"}, kind: Ambiguous, says: "2 times, at lines 4, 9"},
		{name: "occurrence unasked", base: source, pairs: []string{"x := 1", "x := 2"}, adjust: func(p *Proposal, _ *Options) { p.Files[0].Edits[0].Occurrence = 2 }, kind: Ambiguous},
		{name: "occurrence in the retry", base: source, pairs: []string{"x := 1", "x := 2"}, adjust: func(p *Proposal, o *Options) { p.Files[0].Edits[0].Occurrence = 2; o.Occurrence = true }, want: strings.Replace(source, "g() {\n\tx := 1", "g() {\n\tx := 2", 1)},
		{name: "occurrence out of range", base: source, pairs: []string{"x := 1", "x := 2"}, adjust: func(p *Proposal, o *Options) { p.Files[0].Edits[0].Occurrence = 3; o.Occurrence = true }, kind: Ambiguous},
		{name: "not found names the nearest", base: source, pairs: []string{"func f() {\n\tx := 1\n\ty := 7\n}", "z"}, kind: NotFound, says: "did you mean line 3?\nfunc f() {\n\tx := 1\n\ty := 2\n}"},
		{name: "similar is never enough", base: source, pairs: []string{"\ty := 20\n", "\ty := 3\n"}, kind: NotFound},
		{name: "empty old text", base: source, pairs: []string{"", "x"}, kind: EmptyOld},
		{name: "empty file takes anything", base: "", pairs: []string{"", "package a\n"}, want: "package a\n"},
		{name: "no change", base: source, pairs: []string{"x", "x"}, kind: NoChange},
		{name: "no edits", base: source, kind: NoChange},
		{name: "overlap", base: source, pairs: []string{"\ty := 2\n}", "1", "}\n\nfunc g", "2"}, kind: Overlap, says: "edit 1"},
		{name: "all or nothing", base: source, pairs: []string{"\ty := 2", "\ty := 3", "nowhere", "x"}, kind: NotFound, says: "None of the edits were applied"},

		{name: "stale base", base: source, pairs: []string{"y := 2", "y"}, adjust: func(p *Proposal, _ *Options) { p.Files[0].BaseSHA256 = "00000000" }, kind: StaleBase},
		{name: "no base", base: source, pairs: []string{"y := 2", "y"}, adjust: func(p *Proposal, _ *Options) { p.Files[0].BaseSHA256 = "" }, kind: StaleBase},
		{name: "seven digits are too few", base: source, pairs: []string{"y := 2", "y"}, adjust: func(p *Proposal, _ *Options) { p.Files[0].BaseSHA256 = p.Files[0].BaseSHA256[:7] }, kind: StaleBase},
		{name: "eight digits are enough", base: source, pairs: []string{"y := 2", "y := 3"}, adjust: func(p *Proposal, _ *Options) { p.Files[0].BaseSHA256 = strings.ToUpper(p.Files[0].BaseSHA256[:8]) }, want: strings.Replace(source, "y := 2", "y := 3", 1)},
		{name: "another file", base: source, pairs: []string{"y := 2", "y"}, adjust: func(p *Proposal, _ *Options) { p.Files[0].Path = "../b.go" }, kind: NotAllowed, says: "a.go"},
		{name: "the same file by another name", base: source, pairs: []string{"y := 2", "y := 3"}, adjust: func(p *Proposal, _ *Options) { p.Files[0].Path = "./x/../a.go" }, want: strings.Replace(source, "y := 2", "y := 3", 1)},
		{name: "creation is not offered", base: source, pairs: []string{"y := 2", "y"}, adjust: func(p *Proposal, _ *Options) { p.NewFiles = []NewFile{{"b.go", "x"}} }, kind: NotAllowed},
		{name: "creation over an existing file", base: source, pairs: []string{"y := 2", "y"}, adjust: func(p *Proposal, o *Options) {
			p.NewFiles = []NewFile{{"a.go", "x"}}
			o.Create = func(string) error { return nil }
		}, kind: NotAllowed, says: "exists"},
		{name: "creation refused", base: source, pairs: []string{"y := 2", "y"}, adjust: func(p *Proposal, o *Options) {
			p.NewFiles = []NewFile{{"b.go", "x"}}
			o.Create = func(string) error { return errors.New("denied by policy") }
		}, kind: NotAllowed, says: "denied by policy"},

		{name: "CRLF stays CRLF", base: "a\r\nb\r\nc\r\n", pairs: []string{"a\nb\n", "a\nx\ny\n"}, want: "a\r\nx\r\ny\r\nc\r\n"},
		{name: "CRLF asked for in an LF file", base: "a\nb\nc\n", pairs: []string{"a\r\nb\r\n", "a\r\nx\r\n"}, want: "a\nx\nc\n"},
		{name: "mixed ends stay as they are", base: "a\r\nb\nc\r\nd\n", pairs: []string{"a\nb\nc\nd\n", "a\nb\nX\nd\n"}, want: "a\r\nb\nX\r\nd\n"},
		{name: "byte order mark stays", base: "\ufeffa\nb\n", pairs: []string{"a\n", "x\n"}, want: "\ufeffx\nb\n"},
		{name: "no newline at the end stays so", base: "a\nb", pairs: []string{"b", "c"}, want: "a\nc"},
		{name: "whole lines at an end without newline", base: "a\nb", pairs: []string{"b\n", "c\n"}, want: "a\nc", level: TrailingBlanks},

		{name: "L1 blanks at the end", base: "a  \nb\t\nc\n", pairs: []string{"a\nb\n", "a\nx\n"}, want: "a  \nx\nc\n", level: TrailingBlanks},
		{name: "L1 ambiguous", base: "a \nb\na \n", pairs: []string{"a\n", "x\n"}, kind: Ambiguous, adjust: func(p *Proposal, _ *Options) { p.Files[0].Edits[0] = Replacement{OldText: "a  \n", NewText: "x\n"} }},
		{name: "L2 indentation lost", base: "if a {\n\t\tb()\n\t\tif c {\n\t\t\td()\n\t\t}\n}\n", pairs: []string{"b()\nif c {\n\td()\n}\n", "b2()\nif c {\n\td()\n\te()\n}\n"}, want: "if a {\n\t\tb2()\n\t\tif c {\n\t\t\td()\n\t\t\te()\n\t\t}\n}\n", level: IndentShift},
		{name: "L2 indentation too deep", base: "a()\nb()\n", pairs: []string{"    a()\n    b()\n", "    a()\n    c()\n"}, want: "a()\nc()\n", level: IndentShift},
		{name: "L2 spaces for tabs", base: "func f() {\n\ta()\n\tif b {\n\t\tc()\n\t}\n}\n", pairs: []string{"    a()\n    if b {\n        c()\n    }\n", "    a()\n    if b {\n        d()\n    }\n"}, want: "func f() {\n\ta()\n\tif b {\n\t\td()\n\t}\n}\n", level: IndentShift},
		{name: "L2 not uniform", base: "\ta()\n\t\t\tb()\n", pairs: []string{"a()\nb()\n", "c()\n"}, kind: NotFound},
		{name: "L3 punctuation", base: "s := “x” – y\nt\n", pairs: []string{"s := \"x\" - y\nt\n", "s := \"x\" - y\nu\n"}, want: "s := “x” – y\nu\n", level: Punctuation},
		{name: "gutter", base: source, pairs: []string{"   4│ \tx := 1\n   5│ \ty := 2\n", "   4│ \tx := 1\n   5│ \ty := 3\n"}, want: strings.Replace(source, "y := 2", "y := 3", 1)},

		{name: "elided comment", base: source, pairs: []string{"\tx := 1\n\ty := 2\n", "\tx := 1\n\t// ... existing code ...\n"}, kind: Elided, says: "existing code"},
		{name: "elided, rest of", base: source, pairs: []string{"\ty := 2\n", "\ty := 3\n\t// rest of the function unchanged\n"}, kind: Elided},
		{name: "elided dots", base: source, pairs: []string{"\ty := 2\n", "\t...\n"}, kind: Elided},
		{name: "dots that were there", base: "// ...\nx\n", pairs: []string{"// ...\nx\n", "// ...\ny\n"}, want: "// ...\ny\n"},
		{name: "spread is no elision", path: "a.js", base: "f()\n", pairs: []string{"f()", "f(...args)\nconst o = {\n  ...rest,\n}"}, want: "f(...args)\nconst o = {\n  ...rest,\n}\n"},
		{name: "Python's ellipsis", path: "a.py", base: "def f():\n    pass\n", pairs: []string{"    pass\n", "    ...\n"}, want: "def f():\n    ...\n"},
		{name: "a comment about existing things", base: source, pairs: []string{"\ty := 2\n", "\t// existing callers pass 3\n\ty := 3\n"}, want: strings.Replace(source, "\ty := 2\n", "\t// existing callers pass 3\n\ty := 3\n", 1)},

		{name: "NUL", base: source, pairs: []string{"y := 2", "y\x00"}, kind: BadText},
		{name: "invalid UTF-8", base: source, pairs: []string{"y := 2", "y\xff"}, kind: BadText},
		{name: "merge markers", base: source, pairs: []string{"y := 2", "\n<<<<<<< HEAD\ny\n"}, kind: BadText},
		{name: "placeholder in the new text", base: source, pairs: []string{"y := 2", "y := ⟦1⟧"}, adjust: hide, kind: Placeholder},
		{name: "placeholder in the old text", base: source, pairs: []string{"y := ⟦1⟧", "y := 2"}, adjust: hide, kind: Placeholder},

		{name: "outside the region", base: source, pairs: []string{"func g", "func h"}, adjust: region, kind: OutOfRegion, says: "reason"},
		{name: "inside the region", base: source, pairs: []string{"y := 2", "y := 3"}, adjust: region, want: strings.Replace(source, "y := 2", "y := 3", 1)},
		{name: "outside with a reason", base: source, pairs: []string{"func g", "func h"}, adjust: func(p *Proposal, o *Options) { region(p, o); p.Reason = "its caller is renamed" }, want: strings.Replace(source, "func g", "func h", 1)},
		{name: "too many lines", base: source, pairs: []string{"y := 2", strings.Repeat("z()\n", 2001)}, kind: TooLarge},
		{name: "whole small file", base: "a\r\nb\r\n", adjust: func(p *Proposal, _ *Options) { s := "a\nc"; p.Files[0].Whole = &s }, want: "a\r\nc\r\n"},
		{name: "whole large file", base: strings.Repeat("a\n", 61), adjust: func(p *Proposal, _ *Options) { s := "a\n"; p.Files[0].Whole = &s }, kind: WholeFile},
		{name: "whole large file, allowed", base: strings.Repeat("a\n", 61), adjust: func(p *Proposal, o *Options) { s := "a\n"; p.Files[0].Whole = &s; o.Whole = true }, want: "a\n"},
		{name: "whole file, elided", base: "a\nb\n", adjust: func(p *Proposal, _ *Options) { s := "a\n// ... rest unchanged\n"; p.Files[0].Whole = &s }, kind: Elided},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.path
			if path == "" {
				path = "a.go"
			}
			f := file(path, tt.base)
			p, o := replace(path, f.SHA256, tt.pairs...), options(f)
			if tt.adjust != nil {
				tt.adjust(&p, &o)
			}
			got, err := Resolve(p, o)
			if tt.kind != "" {
				var r *Rejection
				if !errors.As(err, &r) || len(r.Failures) == 0 || r.Failures[0].Kind != tt.kind || !strings.Contains(r.Error(), tt.says) {
					t.Fatalf("error = %v, want %s saying %q", err, tt.kind, tt.says)
				}
				if len(got.Files) != 0 {
					t.Error("something was resolved nevertheless")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := string(got.Files[0].Text); text != tt.want {
				t.Errorf("got %q\nwant %q", text, tt.want)
			}
			if applied, err := workspace.ApplyEdits(f.Text, got.Files[0].Edits); err != nil || string(applied) != tt.want {
				t.Errorf("the edits give %q, %v", applied, err)
			}
			if got.Relaxed() != (tt.level != "") || tt.level != "" && got.Notes[0].Level != tt.level {
				t.Errorf("notes = %+v, want level %q", got.Notes, tt.level)
			}
		})
	}
}

func hide(_ *Proposal, o *Options) {
	o.Protected = func(s string) bool { return strings.Contains(s, "⟦") }
}

func region(_ *Proposal, o *Options) {
	b := o.Files["a.go"]
	b.Regions = []Span{{strings.Index(source, "func f"), strings.Index(source, "func g")}}
	o.Files["a.go"] = b
}

func TestManyFilesAreSortedAndLimited(t *testing.T) {
	o := Options{Files: map[string]Base{}}
	var p Proposal
	for i := range MaxFiles {
		f := file(fmt.Sprintf("f%02d.go", MaxFiles-i), "x\n")
		o.Files[f.Path] = Base{File: f}
		p.Files = append(p.Files, FileEdits{Path: f.Path, BaseSHA256: f.SHA256, Edits: []Replacement{{OldText: "x", NewText: "y"}}})
	}
	got, err := Resolve(p, o)
	if err != nil || got.Files[0].Path != "f01.go" {
		t.Errorf("got %v, %v", got.Files, err)
	}
	p.NewFiles = []NewFile{{"n.go", "x"}}
	o.Create = func(string) error { return nil }
	if _, err := Resolve(p, o); err == nil || !strings.Contains(err.Error(), "at most 20") {
		t.Errorf("error = %v", err)
	}
}

func TestParseCall(t *testing.T) {
	want := replace("a.go", "12345678", "x", "y")
	for name, args := range map[string]string{
		"schema":         `{"summary":"","files":[{"path":"a.go","base_sha256":"12345678","edits":[{"old_text":"x","new_text":"y"}]}]}`,
		"aliases":        `{"files":[{"file_path":"a.go","sha256":"12345678","changes":[{"old_string":"x","new_string":"y"}]}]}`,
		"one file":       `{"files":{"path":"a.go","base_sha256":"12345678","edits":{"old_text":"x","new_text":"y"}}}`,
		"flat":           `{"path":"a.go","base_sha256":"12345678","edits":[{"old_text":"x","new_text":"y"}]}`,
		"flatter":        `{"path":"a.go","base_sha256":"12345678","old_text":"x","new_text":"y"}`,
		"list in string": `{"files":"[{\"path\":\"a.go\",\"base_sha256\":\"12345678\",\"edits\":[{\"search\":\"x\",\"replace\":\"y\"}]}]"}`,
	} {
		got, err := ParseCall([]byte(args))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, want)
		}
	}
	for args, says := range map[string]string{
		`{}`:                                "files is missing",
		`[]`:                                "not an object",
		`{`:                                 "not JSON",
		`{"files":[{"path":5,"edits":[]}]}`: "must be a string",
		`{"files":[{"edits":[{"old_text":[1]}]}]}`: "must be a string",
	} {
		if _, err := ParseCall([]byte(args)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error = %v, want %q", args, err, says)
		}
	}
}

// TestBlocks reads testdata/blocks/*.txtar: answer.txt is what the model wrote,
// in/ the files, out/ what becomes of them, error.txt what the error says.
func TestBlocks(t *testing.T) {
	names, err := filepath.Glob("testdata/blocks/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no fixtures: ", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			opts := Options{Files: map[string]Base{}, Create: func(string) error { return nil }}
			var answer, wantErr, only string
			want := map[string]string{}
			for _, f := range txtar.Parse(text).Files {
				dir, path, _ := strings.Cut(f.Name, "/")
				switch {
				case f.Name == "answer.txt":
					answer = string(f.Data)
				case f.Name == "error.txt":
					wantErr = strings.TrimSpace(string(f.Data))
				case dir == "in":
					opts.Files[path] = Base{File: file(path, string(f.Data))}
					only = path
				case dir == "out":
					want[path] = string(f.Data)
				}
			}
			if len(opts.Files) > 1 {
				only = ""
			}
			p, err := ParseBlocks(answer, only)
			if errors.Is(err, ErrNoBlocks) && only != "" {
				p, err = ParseWhole(answer, only)
			}
			var got Result
			if err == nil {
				got, err = Resolve(p, opts)
			}
			if wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), wantErr) {
					t.Errorf("error = %v, want %q", err, wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			have := map[string]string{}
			for _, f := range got.Files {
				have[f.Path] = string(f.Text)
			}
			for _, f := range got.Created {
				have[f.Path] = f.Content
			}
			if fmt.Sprint(have) != fmt.Sprint(want) {
				t.Errorf("got %q\nwant %q", have, want)
			}
		})
	}
}

// FuzzResolve checks of any proposal on any text that it either changes nothing
// or changes exactly what its edits say, and never half of it.
func FuzzResolve(f *testing.F) {
	f.Add(source, "\ty := 2\n", "\ty := 3\n", "func g", "func h")
	f.Add("a\r\nb\nc\r\n", "b\nc\n", "x\ny\n", "a", "")
	f.Add("\ta()\n\tb()\n", "a()\nb()\n", "a()\n\tc()\n", "", "")
	f.Add("“x” \n", "\"x\"\n", "y", "x", "x")
	f.Fuzz(func(t *testing.T, text, old1, new1, old2, new2 string) {
		if !utf8.ValidString(text) {
			return
		}
		base := file("a.go", text)
		got, err := Resolve(replace("a.go", base.SHA256, old1, new1, old2, new2), options(base))
		if err != nil {
			var r *Rejection
			if !errors.As(err, &r) || len(r.Failures) == 0 || len(got.Files)+len(got.Created) > 0 {
				t.Fatalf("got %+v with error %v", got, err)
			}
			return
		}
		out := got.Files[0]
		applied, err := workspace.ApplyEdits([]byte(text), out.Edits)
		if err != nil || string(applied) != string(out.Text) {
			t.Fatalf("edits give %q, %v; result is %q", applied, err, out.Text)
		}
		if string(out.Text) == text {
			t.Error("nothing changed, and that is no error")
		}
		if !strings.Contains(text, "\r") && !strings.Contains(new1+new2, "\r") && strings.Contains(string(out.Text), "\r") {
			t.Error("a CR came from nowhere")
		}
	})
}

func FuzzParseBlocks(f *testing.F) {
	f.Add("a.go\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n", "x\n", "y\n")
	f.Add("```go:a.go\n<<<<<<< SEARCH\n=======\n", "a", "")
	f.Fuzz(func(t *testing.T, text, old, replacement string) {
		_, _ = ParseBlocks(text, "a.go") // must not panic
		_, _ = ParseWhole(text, "a.go")
		_, _ = ParseCall([]byte(text))
		// What is written as a block is read back as it was.
		for _, s := range []string{old, replacement} {
			for line := range strings.SplitSeq(s, "\n") {
				if blockStart.MatchString(line) || blockDivider.MatchString(line) || blockEnd.MatchString(line) {
					return
				}
			}
			if strings.Contains(s, "\r") || !strings.HasSuffix(s, "\n") {
				return
			}
		}
		if strings.TrimSpace(old) == "" {
			return
		}
		p, err := ParseBlocks("a.go\n<<<<<<< SEARCH\n"+old+"=======\n"+replacement+">>>>>>> REPLACE\n", "")
		if err != nil || len(p.Files) != 1 || p.Files[0].Edits[0] != (Replacement{OldText: old, NewText: replacement}) {
			t.Fatalf("got %+v, %v", p, err)
		}
	})
}
