package treesitter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sitter "github.com/smacker/go-tree-sitter"
)

// The binding's own tree, walked node by node, is the reference for ours.
func TestFlatTreeEqualsTheBindings(t *testing.T) {
	for name, src := range samples(t) {
		t.Run(name, func(t *testing.T) {
			broken := append(bytes.Clone(src[:len(src)*2/3]), "}) <<<\x00\xff"...)
			for _, src := range [][]byte{src, broken, nil} {
				checkAgainstBinding(t, Lookup(name), src)
			}
		})
	}
}

func checkAgainstBinding(t *testing.T, lang *Language, src []byte) {
	t.Helper()
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(sitter.NewLanguage(lang.grammar()))
	ref, err := p.ParseCtx(context.Background(), nil, src)
	if err != nil {
		t.Fatal(err)
	}
	defer ref.Close()
	tree, err := Parse(context.Background(), lang, src)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	var walk func(n *sitter.Node, parent int, field string)
	walk = func(n *sitter.Node, parent int, field string) {
		if i >= tree.Len() {
			t.Fatalf("the flat tree has only %d nodes", i)
		}
		got := tree.Node(i)
		want := fmt.Sprint(n.Type(), n.StartByte(), n.EndByte(), n.IsNamed(), n.IsMissing(), n.IsError(), n.IsExtra(), n.HasError(), parent, field)
		p := -1
		if !got.Parent().IsZero() {
			p = got.Parent().Index()
		}
		if g := fmt.Sprint(got.Kind(), got.Start(), got.End(), got.Named(), got.Missing(), got.Error(), got.Extra(), got.HasError(), p, got.Field()); g != want {
			t.Fatalf("node %d: got %s, want %s", i, g, want)
		}
		self := i
		i++
		c := sitter.NewTreeCursor(n)
		defer c.Close()
		for ok := c.GoToFirstChild(); ok; ok = c.GoToNextSibling() {
			walk(c.CurrentNode(), self, c.CurrentFieldName())
		}
		if got.Last() != i {
			t.Fatalf("node %d: subtree ends at %d, want %d", self, got.Last(), i)
		}
	}
	walk(ref.RootNode(), -1, "")
	if i != tree.Len() {
		t.Fatalf("the flat tree has %d nodes, want %d", tree.Len(), i)
	}
}

func TestParseEmpty(t *testing.T) {
	for _, lang := range All() {
		tree, err := Parse(context.Background(), lang, nil)
		if err != nil || tree.Len() == 0 || tree.Root().End() != 0 {
			t.Errorf("%s: %v, %d nodes", lang.Name, err, tree.Len())
		}
	}
}

// Lots of source in one language, for the tests of cancellation, memory and speed.
func large(t testing.TB, language string, size int) []byte {
	t.Helper()
	src := samples(t)[language]
	return bytes.Repeat(append(src, '\n'), size/len(src)+1)
}

func TestParseIsCancelled(t *testing.T) {
	src := large(t, "go", 8<<20)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("superseded")
	done := make(chan error, 1)
	go func() {
		_, err := Parse(ctx, Lookup("go"), src)
		done <- err
	}()
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Fatalf("err = %v, want the cause of the cancellation", err)
	}
	// A deadline that passes during the parse.
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer stop()
	if _, err := Parse(ctx, Lookup("go"), src); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("err = %v, want DeadlineExceeded", err)
	}
	// The parser that gave up starts afresh.
	tree := mustParse(t, "java", "class A {}")
	if tree.Root().Kind() != "program" || tree.Root().HasError() {
		t.Fatalf("after a cancelled parse: %s", tree.Root().Kind())
	}
}

func TestParseInManyGoroutines(t *testing.T) {
	all := samples(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for name, src := range all {
				ctx, cancel := context.WithCancel(context.Background())
				if tree, err := Parse(ctx, Lookup(name), src); err != nil || tree.Root().HasError() {
					t.Errorf("%s: %v", name, err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

// C memory is invisible to Go's collector: what is not freed adds up.
func TestParseLeaksNothing(t *testing.T) {
	src := large(t, "go", 16<<10)
	run := func(n int) {
		doc, err := NewDocument(context.Background(), Lookup("go"), src)
		if err != nil {
			t.Fatal(err)
		}
		defer doc.Close()
		for i := range n {
			mustParse(t, "go", string(src))
			if _, err := doc.Edit(context.Background(), []Edit{{Start: 100, End: 100, New: []byte("x")}}); err != nil {
				t.Fatal(err)
			}
			if i%100 == 0 {
				runtime.GC()
			}
		}
	}
	run(50)
	before := resident(t)
	run(400) // a tree of this text takes some 250 kB of C memory
	if grown := resident(t) - before; grown > 32<<20 {
		t.Errorf("resident memory grew by %d MB over 800 parses", grown>>20)
	}
}

// resident returns the process's resident set in bytes.
func resident(t *testing.T) int {
	t.Helper()
	runtime.GC()
	stat, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("resident memory is not known on this system: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(stat))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// Deep nesting must not overflow a stack, neither C's nor ours.
func TestParseDeepNesting(t *testing.T) {
	deep := strings.Repeat("(", 200_000)
	for _, name := range []string{"go", "java", "javascript", "python", "json", "c"} {
		tree := mustParse(t, name, deep)
		if tree.Root().IsZero() {
			t.Errorf("%s: no tree", name)
		}
		Errors(tree)
		Outline(tree)
	}
}

// mutate returns src with a few random edits, for the property tests.
func mutate(rng *rand.Rand, src []byte) []byte {
	src = bytes.Clone(src)
	for range 1 + rng.IntN(4) {
		at := rng.IntN(len(src) + 1)
		end := min(len(src), at+rng.IntN(12))
		pieces := []string{"", "x", "{", "}", "\"", "\n", "  ", "/*", "é", "\xff", "\x00", string(src[min(at, len(src)):end])}
		src = append(src[:at:at], append([]byte(pieces[rng.IntN(len(pieces))]), src[end:]...)...)
	}
	return src
}

func FuzzParse(f *testing.F) {
	for name, src := range samples(f) {
		f.Add(name, src)
	}
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		lang := Lookup(name)
		if lang == nil || len(src) > 1<<16 {
			t.Skip()
		}
		tree, err := Parse(context.Background(), lang, src)
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, tree)
		Errors(tree)
		Outline(tree)
		Imports(tree)
		Package(tree)
		Enclosing(tree, len(src)/2)
	})
}

// checkShape checks what a flat tree promises of any text.
func checkShape(t *testing.T, tree *Tree) {
	t.Helper()
	for i := range tree.Len() {
		n := tree.Node(i)
		if n.Last() <= i || n.Last() > tree.Len() || n.Start() > n.End() || n.End() > len(tree.Source()) {
			t.Fatalf("node %d: last %d, range [%d,%d)", i, n.Last(), n.Start(), n.End())
		}
		if p := n.Parent(); !p.IsZero() && (p.Index() >= i || p.Last() < n.Last()) {
			t.Fatalf("node %d lies outside its parent %d", i, p.Index())
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"go", "java", "typescript"} {
		src := large(b, name, 256<<10)
		lang := Lookup(name)
		b.Run(name+"/flat", func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if _, err := Parse(context.Background(), lang, src); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/binding", func(b *testing.B) { // only parses
			b.SetBytes(int64(len(src)))
			p := sitter.NewParser()
			defer p.Close()
			p.SetLanguage(sitter.NewLanguage(lang.grammar()))
			for b.Loop() {
				tree, err := p.ParseCtx(context.Background(), nil, src)
				if err != nil {
					b.Fatal(err)
				}
				tree.Close()
			}
		})
	}
}
