package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// A program is one of the two that are measured.
type program struct {
	name string
	path string
}

// A bench is one measurement: it fills a table of docs/benchmarks.md.
type bench struct {
	name  string
	title string
	run   func(ctx context.Context, b *env) (table, error)
}

var benches = []bench{
	{"start", "Start: spawn to the answer of `initialize`, and memory when idle", benchStart},
	{"scan", "`check` over Go's own source tree", benchScan},
	{"modules", "`check` over installed JavaScript packages", benchModules},
	{"edit", "An edit in an open file of 10,000 lines to its diagnostics", benchEdit},
	{"batch", "2,000 incidents fixed by rule", benchBatch},
}

// env is what every measurement gets.
type env struct {
	kaiak program
	peer  program // path "" when there is none
	runs  int
	work  string // an empty folder, removed at the end
	goSrc string // Go's source tree
}

// programs returns the programs in the order in which they take turns.
func (e *env) programs() []program {
	if e.peer.path == "" {
		return []program{e.kaiak}
	}
	return []program{e.kaiak, e.peer}
}

func main() {
	runs := flag.Int("runs", 5, "counted runs of each program")
	only := flag.String("only", "", "names of the measurements to make, separated by commas; empty: all")
	bin := flag.String("kaiak", "bin/kaiak", "the kaiak binary")
	src := flag.String("src", "", "the source tree to scan; empty: GOROOT/src")
	update := flag.Bool("update", false, "rewrite the tables in docs/benchmarks.md")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := benchmark(ctx, *runs, *only, *bin, *src, *update); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func benchmark(ctx context.Context, runs int, only, bin, src string, update bool) error {
	e := &env{runs: runs, goSrc: src, peer: program{"ast-grep", os.Getenv("KAIAK_ASTGREP")}}
	abs, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	e.kaiak = program{"kaiak", abs}
	if _, err := os.Stat(abs); err != nil {
		return fmt.Errorf("%w; run make build first", err)
	}
	if e.goSrc == "" {
		out, _, err := run(ctx, "", nil, "go", "env", "GOROOT")
		if err != nil {
			return err
		}
		e.goSrc = filepath.Join(strings.TrimSpace(string(out)), "src")
	}
	if e.work, err = os.MkdirTemp("", "kaiak-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(e.work)

	var tables []table
	for _, b := range benches {
		if only != "" && !strings.Contains(","+only+",", ","+b.name+",") {
			continue
		}
		t, err := b.run(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		t.name, t.title = b.name, b.title
		fmt.Println(t.markdown())
		tables = append(tables, t)
	}
	if !update {
		return nil
	}
	return updateDocument("docs/benchmarks.md", tables)
}
