package treesitter

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unicode/utf8"
)

func openDocument(t testing.TB, language string, text []byte) *Document {
	t.Helper()
	doc, err := NewDocument(context.Background(), Lookup(language), text)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(doc.Close)
	return doc
}

// Incremental means that an edit costs what is around it, not the whole file.
func TestEditReadsOnlyWhatIsAroundIt(t *testing.T) {
	for _, name := range []string{"go", "java", "typescript", "rust", "csharp"} {
		src := large(t, name, 256<<10)
		doc := openDocument(t, name, src)
		if doc.BytesRead() != len(src) {
			t.Errorf("%s: the first parse read %d of %d bytes", name, doc.BytesRead(), len(src))
		}
		at := len(src)/2 + bytes.IndexByte(src[len(src)/2:], '\n')
		if _, err := doc.Edit(context.Background(), []Edit{{at, at, []byte("\n// a comment\n")}}); err != nil {
			t.Fatal(err)
		}
		if read := doc.BytesRead(); read == 0 || read > len(src)/8 {
			t.Errorf("%s: an edit of 14 bytes made the parser read %d of %d bytes", name, read, len(src))
		}
	}
}

// An edited document's tree is the tree of its text, whatever the edits.
func TestEditedTreeEqualsFreshTree(t *testing.T) {
	for name, src := range samples(t) {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(len(name))))
			doc := openDocument(t, name, src)
			text := src
			for step := range 40 {
				next := mutate(rng, text)
				var tree *Tree
				var err error
				if step%2 == 0 {
					tree, err = doc.Update(context.Background(), next)
				} else { // the same change as two edits that follow each other
					d := difference(text, next)
					mid := len(d.New) / 2
					tree, err = doc.Edit(context.Background(), []Edit{
						{d.Start, d.End, d.New[:mid]}, {d.Start + mid, d.Start + mid, d.New[mid:]}})
				}
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(tree.Source(), next) {
					t.Fatalf("step %d: the document's text is not the edited text", step)
				}
				checkShape(t, tree)
				fresh := mustParse(t, name, string(next))
				// Error recovery may choose differently when it starts from an old
				// tree, so a broken text is compared by what everybody sees of it.
				if !fresh.Root().HasError() && !tree.Root().HasError() {
					if !slices.Equal(tree.nodes, fresh.nodes) {
						t.Fatalf("step %d: the trees differ for\n%q", step, next)
					}
				}
				if len(next) > 4*len(src) || step%10 == 9 {
					next = src
					if _, err := doc.Update(context.Background(), next); err != nil {
						t.Fatal(err)
					}
				}
				text = next
			}
			tree, err := doc.Update(context.Background(), src)
			if err != nil {
				t.Fatal(err)
			}
			if fresh := mustParse(t, name, string(src)); !slices.Equal(tree.nodes, fresh.nodes) {
				t.Error("back at the first text, the tree is not the first tree")
			}
		})
	}
}

func TestEditOutOfRangeChangesNothing(t *testing.T) {
	doc := openDocument(t, "go", []byte("package a\n"))
	for _, e := range []Edit{{-1, 0, nil}, {5, 4, nil}, {0, 12, nil}, {12, 12, nil}} {
		if _, err := doc.Edit(context.Background(), []Edit{{0, 0, []byte("x")}, e}); err == nil {
			t.Errorf("edit %v of a text of 11 bytes was accepted", e)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	before, _ := doc.Tree()
	if _, err := doc.Edit(ctx, []Edit{{0, 0, []byte("y")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want Canceled", err)
	}
	after, err := doc.Tree()
	if err != nil || !bytes.Equal(before.Source(), after.Source()) {
		t.Errorf("a cancelled edit changed the document: %q, %v", after.Source(), err)
	}
}

func TestClosedDocument(t *testing.T) {
	doc := openDocument(t, "go", []byte("package a\n"))
	tree, err := doc.Tree()
	if err != nil {
		t.Fatal(err)
	}
	doc.Close()
	doc.Close()
	if _, err := doc.Tree(); !errors.Is(err, ErrClosed) {
		t.Errorf("Tree: %v", err)
	}
	if _, err := doc.Update(context.Background(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Update: %v", err)
	}
	if got := tree.Root().Text(); got != "package a\n" {
		t.Errorf("a tree from before Close reads %q", got)
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct{ old, text string }{
		{"abc", "abc"}, {"abc", "abXc"}, {"aaa", "aa"}, {"aa", "aaa"}, {"", "x"}, {"x", ""},
		{"é", "è"}, {"xéy", "xÉy"}, {"é", "\xc3"}, {"日本", "日木"},
	} {
		e := difference([]byte(c.old), []byte(c.text))
		got := append(append(bytes.Clone([]byte(c.old)[:e.Start]), e.New...), []byte(c.old)[e.End:]...)
		if string(got) != c.text {
			t.Errorf("%q to %q: the edit gives %q", c.old, c.text, got)
		}
		if utf8.ValidString(c.text) && !utf8.Valid(e.New) {
			t.Errorf("%q to %q: the edit %q splits a character", c.old, c.text, e.New)
		}
	}
}

func BenchmarkEdit(b *testing.B) {
	for _, name := range []string{"go", "java", "python", "typescript"} {
		b.Run(name, func(b *testing.B) {
			src := large(b, name, 400<<10) // about 10,000 lines
			doc := openDocument(b, name, src)
			at := len(src)/2 + bytes.IndexByte(src[len(src)/2:], '\n')
			grow, shrink := Edit{at, at, []byte(" ")}, Edit{at, at + 1, nil}
			b.ReportAllocs()
			defer func() { b.ReportMetric(float64(doc.BytesRead()), "bytes-read") }()
			for i := 0; b.Loop(); i++ {
				e := grow
				if i%2 == 1 {
					e = shrink
				}
				if _, err := doc.Edit(context.Background(), []Edit{e}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestDocumentInManyGoroutines(t *testing.T) {
	doc := openDocument(t, "go", samples(t)["go"])
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if _, err := doc.Edit(context.Background(), []Edit{{0, 0, []byte("// x\n")}}); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 20 {
				tree, err := doc.Tree()
				if err != nil {
					t.Error(err)
					return
				}
				checkShape(t, tree)
			}
		})
	}
	wg.Wait()
	tree, err := doc.Tree()
	if err != nil || bytes.Count(tree.Source(), []byte("// x\n")) != 80 {
		t.Errorf("%d of 80 edits arrived (%v)", bytes.Count(tree.Source(), []byte("// x\n")), err)
	}
}
