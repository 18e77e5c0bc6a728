package rules_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kaiak/kaiak/rules"
)

func TestCacheSkipsOnlyWhatHadNothingToTell(t *testing.T) {
	ws := project(t, map[string]string{"quiet.js": "x()", "loud.js": "foo(1)", "sub/quiet.js": "y()"})
	set := loadText(t, fooRule)
	cache := rules.NewCache(filepath.Join(t.TempDir(), "not", "there", "yet")).Settled()
	scan := func(set *rules.Set, opts rules.ScanOptions) []string {
		t.Helper()
		opts.Cache = cache
		var got []string
		err := set.Scan(context.Background(), ws, opts, func(r rules.FileResult) error {
			got = append(got, r.Path)
			return r.Err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(ws.RealDir(), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("first", scan(set, rules.ScanOptions{}), []string{"loud.js"})
	expect("again", scan(set, rules.ScanOptions{}), []string{"loud.js"})
	if n := cache.Known(set, ws); n != 2 {
		t.Errorf("%d files are known to be quiet, want 2", n)
	}
	// A change is seen, also where size and modification time are the old ones.
	name := filepath.Join(ws.RealDir(), "quiet.js")
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	write("quiet.js", "x( )")
	write("quiet.js", "z()")
	if err := os.Chtimes(name, before.ModTime(), before.ModTime()); err != nil {
		t.Fatal(err)
	}
	write("loud.js", "x( )")
	expect("after a change", scan(set, rules.ScanOptions{}), nil)
	write("quiet.js", "foo(2)")
	write("loud.js", "foo(1)")
	expect("after another", scan(set, rules.ScanOptions{}), []string{"loud.js", "quiet.js"})
	// A part of the tree does not make the cache forget the rest.
	expect("a part", scan(set, rules.ScanOptions{Under: []string{"sub"}}), nil)
	expect("the whole again", scan(set, rules.ScanOptions{}), []string{"loud.js", "quiet.js"})
	// Other rules know nothing of it.
	other := loadText(t, "id: y\nlanguage: js\nrule: {pattern: y()}\n")
	expect("other rules", scan(other, rules.ScanOptions{}), []string{"sub/quiet.js"})
	// Files that were written just now are not trusted by a cache as it is.
	fresh := rules.NewCache(t.TempDir())
	cache = fresh
	scan(set, rules.ScanOptions{})
	if n := fresh.Known(set, ws); n != 0 {
		t.Errorf("%d files that were just written are taken for settled", n)
	}
	// A buffer counts, whatever is on disk.
	if _, err := ws.OpenBuffer("sub/quiet.js", 1, []byte("foo(3)"), "javascript"); err != nil {
		t.Fatal(err)
	}
	expect("with a buffer", scan(set, rules.ScanOptions{}), []string{"loud.js", "quiet.js", "sub/quiet.js"})
}

func TestCacheThatIsDamagedKnowsNothing(t *testing.T) {
	ws := project(t, map[string]string{"quiet.js": "x()", "loud.js": "foo(1)"})
	set := loadText(t, fooRule)
	dir := t.TempDir()
	scan := func() (n int) {
		err := set.Scan(context.Background(), ws, rules.ScanOptions{Cache: rules.NewCache(dir).Settled()}, func(rules.FileResult) error {
			n++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	scan()
	for _, damage := range []string{"", "nonsense", "kaiak quiet files 1\n", "kaiak quiet files 1\n0123456789012345678901234567890123456789\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		files, _ := filepath.Glob(filepath.Join(dir, "*.quiet"))
		for _, f := range files {
			if err := os.WriteFile(f, []byte(damage), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if n := scan(); n != 1 {
			t.Errorf("after %q: %d files with matches", damage, n)
		}
	}
	// A directory that cannot be written is no error.
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := set.Scan(context.Background(), ws, rules.ScanOptions{Cache: rules.NewCache(file)}, func(rules.FileResult) error { return nil })
	if err != nil {
		t.Errorf("a cache that cannot be written fails the scan: %v", err)
	}
}
