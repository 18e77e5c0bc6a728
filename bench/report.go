package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"
)

// A table is the figures of one measurement.
type table struct {
	name, title string
	columns     []string
	rows        [][]string
	notes       []string
}

func (t table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", t.title)
	b.WriteString("| " + strings.Join(t.columns, " | ") + " |\n|" + strings.Repeat("---|", len(t.columns)) + "\n")
	for _, r := range t.rows {
		b.WriteString("| " + strings.Join(r, " | ") + " |\n")
	}
	for _, n := range t.notes {
		b.WriteString("\n" + n + "\n")
	}
	fmt.Fprintf(&b, "\nCommand: `go run ./bench -only %s`\n", t.name)
	return b.String()
}

// updateDocument replaces what stands between the markers
// "<!-- bench:NAME -->" and "<!-- /bench:NAME -->" of the document.
func updateDocument(file string, tables []table) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, t := range tables {
		open, end := []byte("<!-- bench:"+t.name+" -->\n"), []byte("<!-- /bench:"+t.name+" -->")
		i, j := bytes.Index(text, open), bytes.Index(text, end)
		if i < 0 || j < i {
			return fmt.Errorf("%s has no markers for %q", file, t.name)
		}
		text = bytes.Join([][]byte{text[:i+len(open)], []byte(t.markdown()), text[j:]}, nil)
	}
	return os.WriteFile(file, text, 0o644)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }
