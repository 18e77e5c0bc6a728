package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"

	"github.com/kaiak/kaiak/internal/fakeeditor"
	"github.com/kaiak/kaiak/internal/wirecheck"
	"github.com/kaiak/kaiak/kaiak"
	"github.com/kaiak/kaiak/lsp"
)

// serveEnv makes this test binary a server on stdio, with its state in the
// folder that it names: a real child process without a build of its own.
const serveEnv = "KAIAK_TEST_SERVE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(serveEnv); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	if err := serveReal(context.Background(), dir, os.Stdin, os.Stdout); err != nil {
		if !errors.Is(err, lsp.ErrNoShutdown) {
			fmt.Fprintln(os.Stderr, err)
		}
		return 1
	}
	return 0
}

// serveReal serves one client with the real service.
func serveReal(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	svc, err := kaiak.New(ctx, kaiak.Options{StateDir: dir, Version: "test", Log: log})
	if err != nil {
		return err
	}
	err = lsp.Serve(ctx, svc, in, out, lsp.Options{Version: "test", Log: log})
	return errors.Join(err, svc.Close())
}

// starters are the ways to run the real service.
func starters(t *testing.T) map[string]fakeeditor.Starter {
	return map[string]fakeeditor.Starter{
		"in process": inProcess(t.TempDir()),
		"child":      asChild(t),
	}
}

func inProcess(dir string) fakeeditor.Starter {
	return fakeeditor.InProcess(func(ctx context.Context, in io.Reader, out io.Writer) error {
		return serveReal(ctx, dir, in, out)
	})
}

func asChild(t *testing.T) fakeeditor.Starter {
	t.Helper()
	t.Setenv(serveEnv, t.TempDir())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fakeeditor.Child(self)
}

// checks judges kaiak/* by the operation table.
func checks(t *testing.T) wirecheck.Options {
	t.Helper()
	svc, err := kaiak.New(t.Context(), kaiak.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = svc.Close() }()
	results := map[string]reflect.Type{}
	for _, op := range svc.Operations() {
		if op.Result == nil {
			continue
		}
		for _, method := range append([]string{op.Method}, op.Aliases...) {
			results[method] = op.Result
		}
	}
	return wirecheck.Options{Results: results}
}

const goProject = `
-- go.mod --
module example.com/old

go 1.21
-- main.go --
package main

import (
	"fmt"
	"io/ioutil"
)

func main() {
	data, err := ioutil.ReadFile("x")
	fmt.Println("é😀", data, err)
}
`

const fixedMain = `package main

import (
	"fmt"
	"os"
)

func main() {
	data, err := os.ReadFile("x")
	fmt.Println("é😀", data, err)
}
`

// TestQuickFixOfRecipe goes from a file that is opened to the fix that is on
// disk, with the built-in rules, as every editor and in a real child process.
func TestQuickFixOfRecipe(t *testing.T) {
	check := checks(t)
	for name, start := range starters(t) {
		for _, profile := range fakeeditor.Profiles {
			t.Run(name+"/"+profile.Name, func(t *testing.T) {
				ed := fakeeditor.Open(t, fakeeditor.Options{Start: start, Profile: profile, Files: goProject, Check: check})
				ed.OpenFile("main.go")
				ed.Await(fakeeditor.Condition("the deprecated package is found", func(s *fakeeditor.State) bool {
					return len(s.Diagnostics["main.go"].List) > 0
				}))
				r := ed.Range("main.go", "ioutil.ReadFile")
				actions := ed.CodeActions("main.go", r, []string{"quickfix"})
				var chosen bool
				for _, a := range actions {
					if a.IsPreferred != nil && *a.IsPreferred || strings.HasPrefix(a.Title, "Fix: ") && !chosen {
						if err := ed.Choose(a); err != nil {
							t.Fatal(err)
						}
						chosen = true
						break
					}
				}
				if !chosen {
					t.Fatalf("no fix is offered, only %+v", actions)
				}
				ed.Await(fakeeditor.HasText("main.go", fixedMain))
				ed.Await(fakeeditor.HasDiagnostics("main.go", 0))
				ed.Save("main.go")
			})
		}
	}
}

// TestMethodsAnswer calls every method that the server lists: none may be
// unknown, and each error says its kind.
func TestMethodsAnswer(t *testing.T) {
	ed := fakeeditor.Open(t, fakeeditor.Options{Start: inProcess(t.TempDir()), Files: goProject, Check: checks(t), Experimental: `{"kaiak":true}`})
	var result struct {
		Capabilities struct {
			Experimental struct {
				Kaiak struct {
					Methods []string
				}
			}
		}
	}
	if err := json.Unmarshal(ed.Initialized(), &result); err != nil {
		t.Fatal(err)
	}
	methods := result.Capabilities.Experimental.Kaiak.Methods
	if len(methods) < 6 {
		t.Fatalf("only %q are listed", methods)
	}
	for _, method := range methods {
		err := ed.Call(method, json.RawMessage("{}"), nil)
		var wire *jsonrpc2.Error
		if errors.As(err, &wire) && wire.Code == -32601 && !strings.Contains(string(wire.Data), "reason") {
			t.Errorf("%s is listed, but answers %v %s", method, err, wire.Data)
		}
	}
}
