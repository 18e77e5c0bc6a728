package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/internal/fakeeditor"
	"github.com/kaiak/kaiak/kaiak"
	"github.com/kaiak/kaiak/workspace"
)

// open starts an editor on an in-process server of a test engine.
func open(t *testing.T, e *testEngine, opts fakeeditor.Options) *fakeeditor.Editor {
	t.Helper()
	opts.Start = fakeeditor.InProcess(func(ctx context.Context, in io.Reader, out io.Writer) error {
		return serve(ctx, e, stdStream(in, out), Options{Version: "test"})
	})
	return fakeeditor.Open(t, opts)
}

// everyEditor runs a test as every editor.
func everyEditor(t *testing.T, test func(t *testing.T, profile fakeeditor.Profile)) {
	for _, p := range fakeeditor.Profiles {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

const files = `
-- a.txt --
one old 😀 old é old
two
-- crlf.txt --
fine
`

// TestDiagnostics follows a document through its life, with characters that
// each encoding counts differently.
func TestDiagnostics(t *testing.T) {
	everyEditor(t, func(t *testing.T, profile fakeeditor.Profile) {
		ed := open(t, newTestEngine(), fakeeditor.Options{Profile: profile, Files: files})
		ed.OpenFile("a.txt")
		ed.Await(fakeeditor.HasDiagnostics("a.txt", 3))
		ed.Read(func(s *fakeeditor.State) {
			for _, d := range s.Diagnostics["a.txt"].List {
				source, _ := d.Source.Get()
				if source != "kaiak" || d.Code != protocol.String("no-old") || d.Message != protocol.String("old is old") {
					t.Errorf("a diagnostic says %+v", d)
				}
			}
		})
		var at []protocol.Range
		ed.Read(func(s *fakeeditor.State) {
			for _, d := range s.Diagnostics["a.txt"].List {
				at = append(at, d.Range)
			}
		})
		for _, r := range at {
			if got := ed.At("a.txt", r); got != "old" {
				t.Errorf("a diagnostic is at %q", got)
			}
		}
		ed.Replace("a.txt", "two", "two old")
		ed.Await(fakeeditor.HasDiagnostics("a.txt", 4))
		ed.Replace("a.txt", "😀 old", "😀 fine")
		ed.Await(fakeeditor.HasDiagnostics("a.txt", 3))
		ed.SetText("a.txt", "fine\r\nold\r\n")
		ed.Await(fakeeditor.HasDiagnostics("a.txt", 1))
		// Several cursors at once.
		ed.Edit("a.txt", workspace.Edit{Start: 0, End: 4, New: "old 𝄞"}, workspace.Edit{Start: 4, End: 6, New: "\n\n"}, workspace.Edit{Start: 6, End: 9, New: "old old"})
		ed.Await(fakeeditor.HasText("a.txt", "old 𝄞\n\nold old\r\n"), fakeeditor.HasDiagnostics("a.txt", 3))
		ed.CloseFile("a.txt")
		if !profile.Pulls {
			ed.Await(fakeeditor.Condition("what was pushed is taken back", func(s *fakeeditor.State) bool {
				return len(s.Diagnostics["a.txt"].List) == 0
			}))
		}
	})
}

// TestServerText checks after each edit that the server's text is the editor's,
// byte for byte.
func TestServerText(t *testing.T) {
	everyEditor(t, func(t *testing.T, profile fakeeditor.Profile) {
		e := newTestEngine()
		ed := open(t, e, fakeeditor.Options{Profile: profile, Files: files})
		ed.OpenText("b.txt", "é😀\r\nline\n\rend")
		uri := string(ed.URI("b.txt"))
		edits := [][]workspace.Edit{
			{{Start: 0, End: 2, New: "e"}},
			{{Start: 1, End: 5, New: ""}},
			{{Start: 1, End: 1, New: "𝄞𝄞"}, {Start: 3, End: 7, New: "LINE"}},
			{{Start: 0, End: 0, New: "\uFEFF"}},
		}
		for _, edit := range edits {
			ed.Edit("b.txt", edit...)
			version := int32(0)
			ed.Read(func(s *fakeeditor.State) { version = s.Buffers["b.txt"].Version })
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			err := e.client().until(ctx, func() bool {
				doc := e.client().docs[uri]
				return doc != nil && doc.Version == version
			})
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := string(e.client().document(uri).Text), ed.Text("b.txt"); got != want {
				t.Fatalf("the server has %q, the editor %q", got, want)
			}
		}
	})
}

// TestQuickFix chooses a fix that carries its edit.
func TestQuickFix(t *testing.T) {
	everyEditor(t, func(t *testing.T, profile fakeeditor.Profile) {
		ed := open(t, newTestEngine(), fakeeditor.Options{Profile: profile, Files: "-- a.txt --\n😀 old\n"})
		ed.OpenFile("a.txt")
		ed.Await(fakeeditor.HasDiagnostics("a.txt", 1))
		actions := ed.CodeActions("a.txt", ed.Range("a.txt", "old"), nil)
		fix := ed.Action(actions, "Replace old by new")
		if fix.Kind == nil || *fix.Kind != "quickfix.kaiak" {
			t.Errorf("its kind is %v", fix.Kind)
		}
		if fix.Edit != nil {
			t.Error("the edit came although it could come later")
		}
		if err := ed.Choose(fix); err != nil {
			t.Fatal(err)
		}
		ed.Await(fakeeditor.HasText("a.txt", "😀 new\n"), fakeeditor.HasDiagnostics("a.txt", 0))
	})
}

// TestStaleFix resolves a fix after the text it was for has changed.
func TestStaleFix(t *testing.T) {
	everyEditor(t, func(t *testing.T, profile fakeeditor.Profile) {
		ed := open(t, newTestEngine(), fakeeditor.Options{Profile: profile, Files: "-- a.txt --\nold\n"})
		ed.OpenFile("a.txt")
		fix := ed.Action(ed.CodeActions("a.txt", ed.Range("a.txt", "old"), nil), "Replace old by new")
		ed.Replace("a.txt", "old", "an old")
		err := ed.Choose(fix)
		var wire *jsonrpc2.Error
		switch {
		case err == nil:
			t.Error("a stale fix was applied")
		case errors.As(err, &wire) && wire.Code != -32801:
			t.Errorf("it was refused with %v", err)
		case !strings.Contains(err.Error(), "stale: the file changed"):
			t.Errorf("it was refused with %v", err)
		}
		ed.Await(fakeeditor.HasText("a.txt", "an old\n"))
	})
}

// TestInlineEdit is for a client that cannot ask for the edit later, and one
// that only knows commands.
func TestInlineEdit(t *testing.T) {
	const declared = `{"textDocument":{"codeAction":{"codeActionLiteralSupport":{"codeActionKind":{"valueSet":["quickfix"]}}}}}`
	for name, caps := range map[string]string{"literals": declared, "commands": `{"workspace":{"applyEdit":true}}`} {
		t.Run(name, func(t *testing.T) {
			ed := open(t, newTestEngine(), fakeeditor.Options{Profile: fakeeditor.Profile{Name: name, Capabilities: caps}, Files: "-- a.txt --\nold\n"})
			ed.OpenFile("a.txt")
			if name == "literals" {
				fix := ed.Action(ed.CodeActions("a.txt", ed.Range("a.txt", "old"), nil), "Replace old by new")
				if fix.Edit == nil {
					t.Fatal("the edit did not come with the action")
				}
				if err := ed.Choose(fix); err != nil {
					t.Fatal(err)
				}
			} else {
				var raw []protocol.Command
				params := &protocol.CodeActionParams{
					TextDocument: protocol.TextDocumentIdentifier{URI: ed.URI("a.txt")},
					Range:        ed.Range("a.txt", "old"),
					Context:      protocol.CodeActionContext{Diagnostics: []protocol.Diagnostic{}},
				}
				if err := ed.Call("textDocument/codeAction", params, &raw); err != nil {
					t.Fatal(err)
				}
				if len(raw) == 0 || raw[0].Command != applyActionCommand {
					t.Fatalf("offered %+v", raw)
				}
				if _, err := ed.Execute(raw[0].Command, json.RawMessage(raw[0].Arguments[0])); err != nil {
					t.Fatal(err)
				}
			}
			ed.Await(fakeeditor.HasText("a.txt", "new\n"))
		})
	}
}

// TestForeignDiagnostic offers a fix for what another server found.
func TestForeignDiagnostic(t *testing.T) {
	everyEditor(t, func(t *testing.T, profile fakeeditor.Profile) {
		ed := open(t, newTestEngine(), fakeeditor.Options{Profile: profile, Files: "-- a.txt --\nfine 😀 thing\n"})
		ed.OpenFile("a.txt")
		foreign := ed.Foreign("a.txt", "thing", "lint", "L1", "no things")
		fix := ed.Action(ed.CodeActions("a.txt", foreign.Range, nil, foreign), "Replace old by new")
		if len(fix.Diagnostics) != 1 || fix.Diagnostics[0].Code != protocol.String("L1") {
			t.Errorf("the action resolves %+v", fix.Diagnostics)
		}
	})
}

// TestCodeActionKinds checks the client's filter and what it can show.
func TestCodeActionKinds(t *testing.T) {
	everyEditor(t, func(t *testing.T, profile fakeeditor.Profile) {
		ed := open(t, newTestEngine(), fakeeditor.Options{Profile: profile, Files: "-- a.txt --\nold\n"})
		ed.OpenFile("a.txt")
		r := ed.Range("a.txt", "old")
		kinds := func(only ...string) string {
			var out []string
			for _, a := range ed.CodeActions("a.txt", r, only) {
				out = append(out, string(*a.Kind))
			}
			return strings.Join(out, " ")
		}
		rewrite := ""
		if strings.Contains(profile.Capabilities, `"disabledSupport":true`) {
			rewrite = "refactor.rewrite.kaiak"
		}
		for only, want := range map[string]string{
			"quickfix":            "quickfix.kaiak quickfix.kaiak quickfix.kaiak",
			"quickfix.kaiak":      "quickfix.kaiak quickfix.kaiak quickfix.kaiak",
			"quickfix.kai":        "",
			"source":              "source.fixAll.kaiak",
			"source.fixAll":       "source.fixAll.kaiak",
			"source.fixAll.kaiak": "source.fixAll.kaiak",
			"refactor":            rewrite,
			"notebook":            "",
		} {
			if got := kinds(only); got != want {
				t.Errorf("only %q: got %q, want %q", only, got, want)
			}
		}
	})
}

// TestCommand runs a command that reports progress, applies an edit and asks.
func TestCommand(t *testing.T) {
	everyEditor(t, func(t *testing.T, profile fakeeditor.Profile) {
		e := newTestEngine()
		e.on("kaiak.fixRule", func(ctx context.Context, front kaiak.Front, data json.RawMessage) (any, error) {
			var d kaiak.ActionData
			if err := json.Unmarshal(data, &d); err != nil {
				return nil, err
			}
			p := front.Progress(ctx, "Fixing", nil)
			defer p.End("done")
			p.Report("half", 50)
			if choice, ok := front.Ask(ctx, "Really?", []string{"Yes", "No"}); !ok || choice != "Yes" {
				return nil, fmt.Errorf("asked, got %q, %v", choice, ok)
			}
			doc := e.client().document(d.URI)
			err := front.EditBuffer(ctx, d.URI, doc.Version, doc.Text, []workspace.Edit{{Start: 0, End: 3, New: "new"}})
			return map[string]any{"fixed": 1}, err
		})
		read := make(chan struct{}) // closed when the user has seen the progress
		ed := open(t, e, fakeeditor.Options{
			Profile: profile, Files: "-- a.txt --\nold\n",
			Answer: func(string, []string) string { <-read; return "Yes" },
		})
		ed.OpenFile("a.txt")
		fix := ed.Action(ed.CodeActions("a.txt", ed.Range("a.txt", "old"), nil), "Fix all of no-old")
		var resolved protocol.CodeAction
		if err := ed.Call("codeAction/resolve", &fix, &resolved); err != nil || resolved.Command.Command != "kaiak.fixRule" {
			t.Errorf("a complete action resolves to %+v, %v", resolved, err)
		}
		done := make(chan error, 1)
		go func() { done <- ed.Choose(fix) }()
		ed.Await(fakeeditor.ProgressBegun("Fixing"))
		close(read)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		ed.Await(fakeeditor.HasText("a.txt", "new\n"), fakeeditor.ProgressEnded("Fixing"))
		ed.Read(func(s *fakeeditor.State) {
			if len(s.Edits) != 1 || len(s.Questions) != 1 {
				t.Errorf("%d edits, %d questions", len(s.Edits), len(s.Questions))
			}
			annotated := strings.Contains(profile.Capabilities, "changeAnnotationSupport") && strings.Contains(profile.Capabilities, `"documentChanges":true`)
			if got := len(s.Edits[0].Edit.ChangeAnnotations) > 0; got != annotated {
				t.Errorf("annotated: %v, want %v", got, annotated)
			}
		})
	})
}

// TestStaleEdit asks the editor to edit a document that has changed meanwhile:
// the server does not even ask.
func TestStaleEdit(t *testing.T) {
	everyEditor(t, func(t *testing.T, profile fakeeditor.Profile) {
		e := newTestEngine()
		e.on("kaiak.fixRule", func(ctx context.Context, front kaiak.Front, data json.RawMessage) (any, error) {
			var name string
			if err := json.Unmarshal(data, &name); err != nil {
				return nil, err
			}
			return nil, front.EditBuffer(ctx, name, 1, []byte("old\n"), []workspace.Edit{{Start: 0, End: 3, New: "new"}})
		})
		ed := open(t, e, fakeeditor.Options{Profile: profile, Files: "-- a.txt --\nold\n"})
		ed.OpenFile("a.txt")
		ed.Replace("a.txt", "old", "older")
		_, err := ed.Execute("kaiak.fixRule", ed.URI("a.txt"))
		var wire *jsonrpc2.Error
		if !errors.As(err, &wire) || wire.Code != -32801 {
			t.Errorf("got %v, want -32801", err)
		}
		ed.Read(func(s *fakeeditor.State) {
			if len(s.Edits) != 0 {
				t.Error("the editor was asked all the same")
			}
		})
	})
}

// TestProgressCancel presses the cancel button, for a progress of the server's
// and for one whose token the client gave.
func TestProgressCancel(t *testing.T) {
	for _, token := range []string{"", "the-client's"} {
		t.Run("token "+token, func(t *testing.T) {
			e := newTestEngine()
			e.on("kaiak.fixRule", func(ctx context.Context, front kaiak.Front, _ json.RawMessage) (any, error) {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				p := front.Progress(ctx, "Working", cancel)
				p.Report("on it", 10)
				<-ctx.Done()
				p.End("cancelled")
				return "stopped", nil
			})
			ed := open(t, e, fakeeditor.Options{})
			done := make(chan error, 1)
			go func() {
				_, err := ed.ExecuteContext(t.Context(), token, "kaiak.fixRule")
				done <- err
			}()
			ed.Await(fakeeditor.ProgressBegun("Working"))
			ed.CancelProgress("Working")
			if err := <-done; err != nil {
				t.Error(err)
			}
			ed.Await(fakeeditor.ProgressEnded("Working"))
		})
	}
}

// TestProgressOfManyReports checks that a progress begins and ends once, or
// never begins, whatever the order in which the client consents and the work
// ends. The wire's checker is the judge.
func TestProgressOfManyReports(t *testing.T) {
	e := newTestEngine()
	e.on("kaiak.fixRule", func(ctx context.Context, front kaiak.Front, _ json.RawMessage) (any, error) {
		for i := range 20 {
			p := front.Progress(ctx, fmt.Sprint("Quick ", i), nil)
			for percent := range i {
				p.Report("", percent)
			}
			if i%2 == 0 { // by the time of an answer, the client has consented
				front.Ask(ctx, "Go on?", nil)
			}
			p.End("")
			p.End("") // does nothing
		}
		front.Progress(ctx, "left to shutdown", nil)
		front.Ask(ctx, "Go on?", nil)
		return nil, nil
	})
	ed := open(t, e, fakeeditor.Options{})
	if _, err := ed.Execute("kaiak.fixRule"); err != nil {
		t.Fatal(err)
	}
	ed.Await(fakeeditor.ProgressBegun("left to shutdown"))
}

// TestIncidentsChanged checks that news reaches an open document, by push or by
// a request to pull.
func TestIncidentsChanged(t *testing.T) {
	everyEditor(t, func(t *testing.T, profile fakeeditor.Profile) {
		e := newTestEngine()
		ed := open(t, e, fakeeditor.Options{Profile: profile, Files: "-- a.txt --\nold\n"})
		ed.OpenFile("a.txt")
		ed.Await(fakeeditor.HasDiagnostics("a.txt", 1))
		before := 0
		ed.Read(func(s *fakeeditor.State) { before = s.Diagnostics["a.txt"].Count })
		e.client().front.IncidentsChanged(string(ed.URI("a.txt")))
		ed.Await(fakeeditor.Condition("the diagnostics came again", func(s *fakeeditor.State) bool {
			return s.Diagnostics["a.txt"].Count > before
		}))
	})
}

// TestPullUnchanged checks that a pull that knows the newest result is told so.
func TestPullUnchanged(t *testing.T) {
	ed := open(t, newTestEngine(), fakeeditor.Options{Files: "-- a.txt --\nold\n"})
	ed.OpenFile("a.txt")
	var first, second struct {
		Kind     string `json:"kind"`
		ResultID string `json:"resultId"`
	}
	params := &protocol.DocumentDiagnosticParams{TextDocument: protocol.TextDocumentIdentifier{URI: ed.URI("a.txt")}}
	if err := ed.Call("textDocument/diagnostic", params, &first); err != nil || first.Kind != "full" {
		t.Fatal(first, err)
	}
	params.PreviousResultID = &first.ResultID
	if err := ed.Call("textDocument/diagnostic", params, &second); err != nil || second.Kind != "unchanged" {
		t.Fatal(second, err)
	}
}

// TestCodeLens shows pending proposals where the client shows lenses.
func TestCodeLens(t *testing.T) {
	ed := open(t, newTestEngine(), fakeeditor.Options{Files: "-- a.txt --\nx\n  old\n"})
	ed.OpenFile("a.txt")
	var lenses []protocol.CodeLens
	params := &protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: ed.URI("a.txt")}}
	if err := ed.Call("textDocument/codeLens", params, &lenses); err != nil {
		t.Fatal(err)
	}
	if len(lenses) != 1 || lenses[0].Command.Title != "Apply" || ed.At("a.txt", lenses[0].Range) != "old" {
		t.Errorf("got %+v", lenses)
	}
	own := open(t, newTestEngine(), fakeeditor.Options{Files: "-- a.txt --\nx\n  old\n", InitializationOptions: `{"interactive":true}`})
	if bytes.Contains(own.Initialized(), []byte("codeLensProvider")) {
		t.Error("lenses are offered to a client that draws pending proposals itself")
	}
}

// TestConfiguration merges what the client gives in its two places, and shows
// what is wrong with it.
func TestConfiguration(t *testing.T) {
	profile := fakeeditor.VSCode
	profile.Configuration = `{"rules":["builtin"],"model":{"name":null}}`
	e := newTestEngine()
	ed := open(t, e, fakeeditor.Options{
		Profile:               profile,
		InitializationOptions: `{"kaiak":{"rules":["x"],"engine":"recipe","model":{"name":"m"}},"interactive":true}`,
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := e.client()
	if err := c.until(ctx, func() bool { return len(c.settings) == 2 }); err != nil {
		t.Fatal(err)
	}
	if want := `{"engine":"recipe","model":{"name":"m"},"rules":["x"]}`; c.settings[0] != want {
		t.Errorf("at first %s", c.settings[0])
	}
	// What stands beside "kaiak" is not ours.
	if want := `{"engine":"recipe","model":{"name":"m"},"rules":["builtin"]}`; c.settings[1] != want {
		t.Errorf("then %s", c.settings[1])
	}
	ed.Notify("workspace/didChangeConfiguration", json.RawMessage(`{"settings":null}`))
	if err := c.until(ctx, func() bool { return len(c.settings) == 3 }); err != nil {
		t.Fatal(err)
	}
	ed.Await(fakeeditor.Registered("workspace/didChangeWatchedFiles"))
	if len(c.folders) != 1 || c.folders[0] != ed.Dir {
		t.Errorf("the folders are %q", c.folders)
	}
	if !c.info.Interactive {
		t.Error("the client said that it is interactive")
	}
}

// TestBadConfiguration checks that the user is told, for a client that sends
// its settings instead of being asked.
func TestBadConfiguration(t *testing.T) {
	e := newTestEngine()
	ed := open(t, e, fakeeditor.Options{Profile: fakeeditor.Bare})
	ed.Notify("workspace/didChangeConfiguration", json.RawMessage(`{"settings":{"kaiak":{"bad":1}}}`))
	ed.Await(fakeeditor.HasMessage(`there is no setting "bad"`))
}

// TestWatchedFiles hands on what the client saw on disk.
func TestWatchedFiles(t *testing.T) {
	e := newTestEngine()
	ed := open(t, e, fakeeditor.Options{})
	ed.Notify("workspace/didChangeWatchedFiles", &protocol.DidChangeWatchedFilesParams{
		Changes: []protocol.FileEvent{{URI: ed.URI("report.sarif"), Type: protocol.FileChangeTypeChanged}},
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := e.client()
	if err := c.until(ctx, func() bool { return len(c.watched) == 1 }); err != nil {
		t.Fatal(err)
	}
}

// TestInteractiveIsNotAsked checks that a client that answers interactions
// itself is shown no message.
func TestInteractiveIsNotAsked(t *testing.T) {
	e := newTestEngine()
	e.on("kaiak.fixRule", func(ctx context.Context, front kaiak.Front, _ json.RawMessage) (any, error) {
		_, ok := front.Ask(ctx, "Really?", []string{"Yes"})
		return ok, nil
	})
	ed := open(t, e, fakeeditor.Options{Experimental: `{"kaiak":true}`})
	if result, err := ed.Execute("kaiak.fixRule"); err != nil || string(result) != "false" {
		t.Errorf("got %s, %v", result, err)
	}
}

// TestExperimentalCapability checks that the client is told what kaiak/* there is.
func TestExperimentalCapability(t *testing.T) {
	ed := open(t, newTestEngine(), fakeeditor.Options{})
	var result struct {
		Capabilities struct {
			Experimental struct {
				Kaiak struct {
					ProtocolVersion int `json:"protocol_version"`
				}
			}
			ExecuteCommandProvider struct{ Commands []string }
		}
		ServerInfo struct{ Name, Version string }
	}
	if err := json.Unmarshal(ed.Initialized(), &result); err != nil {
		t.Fatal(err)
	}
	if result.Capabilities.Experimental.Kaiak.ProtocolVersion != 1 || result.ServerInfo.Name != "kaiak" || result.ServerInfo.Version != "test" {
		t.Errorf("got %s", ed.Initialized())
	}
}
