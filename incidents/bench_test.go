package incidents

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkRead reads 10,000 incidents in 500 files, with the files' texts.
func BenchmarkRead(b *testing.B) {
	text := bytes.Repeat([]byte("import javax.ejb.Stateless; // some line of code\n"), 400)
	opts := Options{Root: "/ws", Text: func(string) ([]byte, bool) { return text, true }}
	list := make([]Incident, 10000)
	for i := range list {
		list[i] = Incident{
			RuleID: fmt.Sprintf("rule-%d", i%50), FilePath: fmt.Sprintf("src/f%d.java", i%500), LineNumber: 1 + i%400,
			Severity: Warning, Message: "Replace the `javax.ejb` import statement with `jakarta.ejb`", Description: "The package moved.",
		}
	}
	for format, write := range map[Format]func(*bytes.Buffer) error{
		SARIF: func(w *bytes.Buffer) error { return WriteSARIF(w, list, SARIFTool{Name: "t"}) },
		Konveyor: func(w *bytes.Buffer) error {
			return WriteKonveyor(w, list, KonveyorOptions{Root: "/ws", Text: opts.Text})
		},
		Native: func(w *bytes.Buffer) error { return WriteNative(w, list) },
	} {
		var doc bytes.Buffer
		if err := write(&doc); err != nil {
			b.Fatal(err)
		}
		b.Run(string(format), func(b *testing.B) {
			b.SetBytes(int64(doc.Len()))
			for b.Loop() {
				rep, err := Read("bench", doc.Bytes(), opts)
				if err != nil || len(rep.Incidents) != len(list) {
					b.Fatal(err, len(rep.Incidents))
				}
			}
		})
	}
}

// BenchmarkIndex moves and replaces the incidents of one file with 1,000.
func BenchmarkIndex(b *testing.B) {
	text := bytes.Repeat([]byte("x := old(1)\n"), 1000)
	list := find(text, "old")
	x := NewIndex()
	x.Replace("a.go", "t", list)
	b.Run("replace", func(b *testing.B) {
		for b.Loop() {
			x.Replace("a.go", "t", list)
		}
	})
	b.Run("query", func(b *testing.B) {
		for b.Loop() {
			if page, err := x.Query(Filter{}, "", 100); err != nil || page.Total != 1000 {
				b.Fatal(page.Total, err)
			}
		}
	})
}
