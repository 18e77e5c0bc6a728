package incidents

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden parts of testdata")

// Each archive of testdata/read has an "input" of one producer, the files of
// the workspace under "ws/", and what is read from it under "want". Its comment
// may hold "option value" lines.
func TestReadGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/read/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives in testdata/read", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			opts, input := openArchive(ar)
			rep, err := Read("input", input, opts)
			if err != nil {
				t.Fatal(err)
			}
			got := renderReport(rep)
			i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
			if *update {
				if i < 0 {
					ar.Files = append(ar.Files, txtar.File{Name: "want"})
					i = len(ar.Files) - 1
				}
				ar.Files[i].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if i < 0 {
				t.Fatal("no want in the archive; run with -update")
			}
			if diff := cmp.Diff(string(ar.Files[i].Data), got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			checkInvariants(t, rep, opts)
		})
	}
}

func openArchive(ar *txtar.Archive) (Options, []byte) {
	ws := map[string][]byte{}
	var input []byte
	for _, f := range ar.Files {
		if name, ok := strings.CutPrefix(f.Name, "ws/"); ok {
			ws[name] = f.Data
		} else if f.Name == "input" {
			input = f.Data
		}
	}
	opts := Options{Root: "/home/dev/shop", Text: func(p string) ([]byte, bool) { text, ok := ws[p]; return text, ok }}
	for line := range strings.Lines(string(ar.Comment)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "base":
			opts.Base = value
		case "prefix":
			from, to, _ := strings.Cut(value, " ")
			opts.Prefixes = append(opts.Prefixes, Prefix{from, to})
		case "new-only":
			opts.NewOnly = true
		case "suppressed":
			opts.Suppressed = true
		case "no-text":
			opts.Text = nil
		}
	}
	return opts, input
}

func renderReport(rep *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "format %s, hidden %d\n", rep.Format, rep.Hidden)
	for _, in := range rep.Incidents {
		fmt.Fprintf(&b, "\n%s %s:%d %s", in.Severity, in.FilePath, in.LineNumber, in.RuleID)
		if in.Range != nil {
			fmt.Fprintf(&b, " %s", renderRange(*in.Range))
		}
		fmt.Fprintf(&b, "\n  source %s | category %s | effort %d | labels %v | links %v\n", in.Source, in.Category, in.Effort, in.Labels, in.Links)
		fmt.Fprintf(&b, "  description %q\n  message %q\n  snippet %q\n", in.Description, in.Message, in.Snippet)
		for _, key := range sortedKeys(in.Metadata) {
			fmt.Fprintf(&b, "  metadata %s %v\n", key, in.Metadata[key])
		}
		for _, fix := range in.Fixes {
			fmt.Fprintf(&b, "  fix %q\n", fix.Title)
			for _, e := range fix.Edits {
				fmt.Fprintf(&b, "    %s %s %q\n", e.FilePath, renderRange(e.Range), e.NewText)
			}
		}
	}
	for _, p := range rep.Problems {
		fmt.Fprintf(&b, "\nproblem %s\n", p)
	}
	return b.String()
}

func renderRange(r Range) string {
	end := fmt.Sprint(r.End.Character)
	if r.End.Character == endOfLine {
		end = "$"
	}
	return fmt.Sprintf("%d:%d-%d:%s", r.Start.Line, r.Start.Character, r.End.Line, end)
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// checkInvariants checks what holds for every report, whatever was read.
func checkInvariants(t *testing.T, rep *Report, opts Options) {
	t.Helper()
	seen := map[string]bool{}
	for i, in := range rep.Incidents {
		where := fmt.Sprintf("incident %d (%s)", i, in.RuleID)
		if in.ID == "" || in.RuleID == "" {
			t.Errorf("%s: id %q, rule %q", where, in.ID, in.RuleID)
		}
		if strings.HasPrefix(in.ID, "inc-") && seen[in.ID] {
			t.Errorf("%s: id %s occurs twice", where, in.ID)
		}
		seen[in.ID] = true
		if in.FilePath == "" || filepath.IsAbs(in.FilePath) || strings.HasPrefix(in.FilePath, "../") {
			t.Errorf("%s: path %q is not inside the workspace", where, in.FilePath)
		}
		if in.LineNumber < 0 || in.Severity == "" {
			t.Errorf("%s: line %d, severity %q", where, in.LineNumber, in.Severity)
		}
		if in.Range != nil && !in.Range.valid() {
			t.Errorf("%s: range %v", where, *in.Range)
		}
		if opts.Text == nil {
			continue
		}
		text, ok := opts.Text(in.FilePath)
		if in.Span.Start < 0 || in.Span.End < in.Span.Start || in.Span.End > len(text) && ok {
			t.Errorf("%s: span %v in a file of %d bytes", where, in.Span, len(text))
		}
		if ok && in.Range != nil && len(in.Snippet) < maxSnippet && string(text[in.Span.Start:in.Span.End]) != in.Snippet && rep.Format != Native {
			t.Errorf("%s: snippet %q, text %q", where, in.Snippet, text[in.Span.Start:in.Span.End])
		}
	}
	for _, p := range rep.Problems {
		if p.Source == "" || p.Where == "" || p.Reason == "" {
			t.Errorf("problem without source, place or reason: %#v", p)
		}
	}
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]Format{
		`{"version":"2.1.0","runs":[]}`:                SARIF,
		`{"Issues":[]}`:                                GolangciLint,
		`[{"filePath":"a.js","messages":[]}]`:          ESLint,
		`[{"rule_id":"r","file_path":"a"}]`:            Native,
		`[]`:                                           Native,
		`{"incidents":[]}`:                             Native,
		`[{"name":"x","violations":{}}]`:               Konveyor,
		"- name: x\n  violations:\n    r: {}\n":        Konveyor,
		"- name: x\n  unmatched:\n  - a\n":             Konveyor,
		`window["apps"] = [{"id":"1","rulesets":[]}];`: Konveyor,
		`[17, {"filePath":"a.js","messages":[]}]`:      ESLint,
		"":             "",
		"hello":        "",
		`{"a":1}`:      "",
		`[1,2]`:        "",
		"name: x\n":    "",
		"\x00\x01\x02": "",
	} {
		got, ok := Detect([]byte(text))
		if got != want || ok != (want != "") {
			t.Errorf("Detect(%q) = %q, %v; want %q", text, got, ok, want)
		}
	}
	if _, err := Read("notes.txt", []byte("hello"), Options{}); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Errorf("Read of an unknown format: %v; want an error that names the file", err)
	}
}

func TestReadOtherEncodings(t *testing.T) {
	sarif := `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[{"ruleId":"R","message":{"text":"grün"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.c"},"region":{"startLine":2}}}]}]}]}`
	wide := func(big bool) []byte {
		var b bytes.Buffer
		for _, r := range "\ufeff" + sarif {
			if big {
				b.Write([]byte{byte(r >> 8), byte(r)})
			} else {
				b.Write([]byte{byte(r), byte(r >> 8)})
			}
		}
		return b.Bytes()
	}
	for name, data := range map[string][]byte{
		"bom": []byte("\ufeff" + sarif), "utf-16le": wide(false), "utf-16be": wide(true),
	} {
		rep, err := Read(name, data, Options{})
		if err != nil || len(rep.Incidents) != 1 || rep.Incidents[0].Message != "grün" {
			t.Errorf("%s: %+v, %v", name, rep, err)
		}
	}
}
