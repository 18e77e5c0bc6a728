package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
)

// A server is a running language server, seen as any editor sees it.
type server struct {
	cmd     *exec.Cmd
	in      io.Closer
	rpc     *jrpc2.Client
	publish chan publication
	whole   bool // takes a changed document as a whole, not by ranges
}

type publication struct {
	URI         string            `json:"uri"`
	Version     *int32            `json:"version"`
	Diagnostics []json.RawMessage `json:"diagnostics"`
}

// start spawns a language server in a project and returns it once it has
// answered initialize, with the time that took.
func start(ctx context.Context, e *env, p program, project string) (*server, time.Duration, error) {
	args := []string{"serve", "--stdio"}
	if p.name != "kaiak" {
		args = []string{"lsp"}
	}
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = project
	cmd.Env = append(os.Environ(), "KAIAK_STATE_DIR="+filepath.Join(e.work, "state"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	s := &server{cmd: cmd, in: in, publish: make(chan publication, 64)}
	s.rpc = jrpc2.NewClient(channel.LSP(out, in), &jrpc2.ClientOptions{
		OnNotify: func(r *jrpc2.Request) {
			var pub publication
			if r.Method() == "textDocument/publishDiagnostics" && r.UnmarshalParams(&pub) == nil {
				s.publish <- pub
			}
		},
		// A server may register capabilities or ask for configuration.
		OnCallback: func(context.Context, *jrpc2.Request) (any, error) { return nil, nil },
	})
	params := map[string]any{
		"processId":        os.Getpid(),
		"rootUri":          fileURI(project),
		"workspaceFolders": []any{map[string]any{"uri": fileURI(project), "name": "bench"}},
		"capabilities": map[string]any{"textDocument": map[string]any{
			"publishDiagnostics": map[string]any{"versionSupport": true},
		}},
	}
	if p.name == "kaiak" {
		params["initializationOptions"] = map[string]any{"rules": []string{"rules"}}
	}
	answer, err := s.rpc.Call(ctx, "initialize", params)
	took := time.Since(begin)
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: initialize: %w", p.name, err), s.stop(ctx))
	}
	if s.whole, err = wholeSync(answer); err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", p.name, err), s.stop(ctx))
	}
	return s, took, s.rpc.Notify(ctx, "initialized", map[string]any{})
}

// wholeSync reads from the answer of initialize whether the server wants whole
// documents; the kind stands alone or in an object.
func wholeSync(answer *jrpc2.Response) (bool, error) {
	var result struct {
		Capabilities struct {
			Sync json.RawMessage `json:"textDocumentSync"`
		} `json:"capabilities"`
	}
	if err := answer.UnmarshalResult(&result); err != nil {
		return false, err
	}
	var object struct {
		Change int `json:"change"`
	}
	if err := json.Unmarshal(result.Capabilities.Sync, &object); err != nil {
		if err := json.Unmarshal(result.Capabilities.Sync, &object.Change); err != nil {
			return false, fmt.Errorf("textDocumentSync is %s", result.Capabilities.Sync)
		}
	}
	return object.Change == 1, nil
}

// endTime is how long a server may take to end after exit.
const endTime = 5 * time.Second

// stop ends the server in the protocol's way.
func (s *server) stop(ctx context.Context) error {
	_, err := s.rpc.Call(ctx, "shutdown", nil)
	if err == nil {
		err = s.rpc.Notify(ctx, "exit", nil)
	}
	s.in.Close()
	// A server that does not end by itself is ended; its exit code is not what
	// is measured.
	patience := time.AfterFunc(endTime, func() { _ = s.cmd.Process.Kill() })
	if err != nil {
		_ = s.cmd.Process.Kill()
	}
	_ = s.cmd.Wait()
	patience.Stop()
	_ = s.rpc.Close() // the process has ended already
	return nil
}

func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// benchStart measures spawn to the answer of initialize, and the resident set
// of the server that then waits.
func benchStart(ctx context.Context, e *env) (table, error) {
	t := table{columns: []string{"program", "spawn → initialize", "resident memory, idle"}}
	project, _, err := writeRules(e.work, workload{"edit", "go", patterns[:1]})
	if err != nil {
		return t, err
	}
	took := map[string][]time.Duration{}
	rss := map[string][]int64{}
	for round := range 3*e.runs + 1 {
		for _, p := range e.programs() {
			s, d, err := start(ctx, e, p, project)
			if err != nil {
				return t, err
			}
			// Idle is when it has answered another request after initialized.
			_, _ = s.rpc.Call(ctx, "textDocument/hover", map[string]any{
				"textDocument": map[string]any{"uri": fileURI(filepath.Join(project, "none.go"))},
				"position":     map[string]any{"line": 0, "character": 0},
			})
			size, err := residentSet(s.cmd.Process.Pid)
			if err := errors.Join(err, s.stop(ctx)); err != nil {
				return t, err
			}
			if round > 0 {
				took[p.name] = append(took[p.name], d)
				rss[p.name] = append(rss[p.name], size)
			}
		}
	}
	for _, p := range e.programs() {
		t.rows = append(t.rows, []string{p.name, milliseconds(median(took[p.name], cmp.Compare)), megabytes(median(rss[p.name], cmp.Compare))})
	}
	return t, nil
}

// longFile is a Go file of about the given number of lines, one match in 20.
func longFile(lines int) string {
	var b strings.Builder
	b.WriteString("package long\n\nimport \"errors\"\n\n")
	for i := 0; i < lines/10; i++ {
		fmt.Fprintf(&b, "func f%d(a, b int) (int, error) {\n\tif a > b {\n\t\ta, b = b, a\n\t}\n\tfor i := a; i < b; i++ {\n\t\ta += i\n\t}\n", i)
		if i%2 == 0 {
			fmt.Fprintf(&b, "\treturn 0, errors.New(\"f%d\")\n", i)
		} else {
			b.WriteString("\treturn a, nil\n")
		}
		b.WriteString("}\n\n")
	}
	return b.String()
}

// benchEdit types one character at a time into the middle of a long file and
// waits for the diagnostics of that version. A server that takes ranges gets
// the character, one that takes whole documents the document.
func benchEdit(ctx context.Context, e *env) (table, error) {
	t := table{columns: []string{"program", "didChange → publishDiagnostics", "sent", "diagnostics"}}
	project, _, err := writeRules(e.work, workload{"edit", "go", patterns[:1]})
	if err != nil {
		return t, err
	}
	text := longFile(10_000)
	uri := fileURI(filepath.Join(project, "long.go"))
	lines := strings.SplitAfter(text, "\n")
	middle := len(lines) / 20 * 10 // an empty line between two functions
	for _, p := range e.programs() {
		s, _, err := start(ctx, e, p, project)
		if err != nil {
			return t, err
		}
		var took []time.Duration
		count := 0
		err = func() error {
			doc := map[string]any{"uri": uri, "languageId": "go", "version": 1, "text": text}
			if err := s.rpc.Notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": doc}); err != nil {
				return err
			}
			if _, err := s.await(ctx, uri, 1); err != nil {
				return err
			}
			for i := range 10 * e.runs {
				version := int32(i + 2)
				change := map[string]any{"text": "\n", "range": map[string]any{
					"start": map[string]any{"line": middle + 3, "character": 0},
					"end":   map[string]any{"line": middle + 3, "character": 0},
				}}
				if s.whole {
					head, rest := strings.Join(lines[:middle+3], ""), strings.Join(lines[middle+3:], "")
					change = map[string]any{"text": head + strings.Repeat("\n", i+1) + rest}
				}
				begin := time.Now()
				err := s.rpc.Notify(ctx, "textDocument/didChange", map[string]any{
					"textDocument":   map[string]any{"uri": uri, "version": version},
					"contentChanges": []any{change},
				})
				if err != nil {
					return err
				}
				pub, err := s.await(ctx, uri, version)
				if err != nil {
					return err
				}
				took = append(took, time.Since(begin))
				count = len(pub.Diagnostics)
			}
			return nil
		}()
		if err := errors.Join(err, s.stop(ctx)); err != nil {
			return t, fmt.Errorf("%s: %w", p.name, err)
		}
		sent := "the change"
		if s.whole {
			sent = "the document"
		}
		t.rows = append(t.rows, []string{p.name, milliseconds(median(took, cmp.Compare)), sent, fmt.Sprint(count)})
	}
	return t, nil
}

// await waits for the publication of one version of a document; a server that
// does not tell versions is taken at its next publication.
func (s *server) await(ctx context.Context, uri string, version int32) (publication, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		select {
		case pub := <-s.publish:
			if pub.URI == uri && (pub.Version == nil || *pub.Version >= version) {
				return pub, nil
			}
		case <-ctx.Done():
			return publication{}, fmt.Errorf("no diagnostics of version %d: %w", version, ctx.Err())
		}
	}
}
