package diagnose

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/kaiak/kaiak/agent"
	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/workspace"
)

// DefaultTimeout is how long one run of a command may take.
const DefaultTimeout = 2 * time.Minute

// maxOutput is how many bytes of a command's output are read.
const maxOutput = 16 << 20

// A Command is a source of diagnostics. It is safe for concurrent use; its runs
// come one at a time, because tools of this kind use the whole machine.
type Command struct {
	argv    []string
	timeout time.Duration
	environ []string

	mu     sync.Mutex // held while the command runs; guards what follows
	key    string     // of the workspace's state that base was found in
	base   []incidents.Incident
	cached bool
}

var _ agent.Diagnostics = (*Command)(nil)

// New returns a source that runs argv, which is a program and its arguments. Its
// output may be SARIF, the JSON of golangci-lint or ESLint, or lines such as
// "path/file.go:12:3: message (RULE)". timeout 0 means DefaultTimeout; environ is
// os.Environ's list, of which only what tools need is passed on.
func New(argv []string, timeout time.Duration, environ []string) (*Command, error) {
	if len(argv) == 0 || strings.TrimSpace(argv[0]) == "" {
		return nil, errors.New("the diagnostics command is empty; give a list such as [golangci-lint, run, --output.sarif.path=stdout]")
	}
	if strings.ContainsAny(argv[0], "/\\") && !filepath.IsAbs(argv[0]) {
		return nil, fmt.Errorf("the diagnostics command %q must be a program's name or an absolute path: a relative one would be looked up in the project", argv[0])
	}
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	return &Command{argv: argv, timeout: timeout, environ: needed(environ)}, nil
}

// passed are the variables that tools need to find their programs and caches.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "COMSPEC", "PATHEXT", "USERPROFILE", "LOCALAPPDATA", "APPDATA",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "GOROOT", "GOPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOTOOLCHAIN", "JAVA_HOME", "M2_HOME", "GRADLE_USER_HOME",
	"DOTNET_ROOT", "NODE_PATH", "VIRTUAL_ENV", "CARGO_HOME", "RUSTUP_HOME",
}

func needed(environ []string) []string {
	var out []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		if strings.HasPrefix(upper, "LC_") {
			out = append(out, pair)
			continue
		}
		for _, p := range passed {
			if upper == p {
				out = append(out, pair)
			}
		}
	}
	return out
}

// Diagnose implements [agent.Diagnostics]: it runs the command on a copy of the
// workspace as it is and as it would be. The first of the two is kept as long as
// the workspace does not change.
func (c *Command) Diagnose(ctx context.Context, ws *workspace.Workspace, changes []workspace.Change) (before, after []incidents.Incident, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	dir, err := os.MkdirTemp("", "kaiak-diagnose-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	key, err := copyTree(ctx, ws, dir)
	if err != nil {
		return nil, nil, fmt.Errorf("a copy for the diagnostics command: %w", err)
	}
	if !c.cached || c.key != key {
		if c.base, err = c.run(ctx, dir); err != nil {
			return nil, nil, err
		}
		c.key, c.cached = key, true
	}
	if err := apply(ws, dir, changes); err != nil {
		return nil, nil, err
	}
	after, err = c.run(ctx, dir)
	return c.base, after, err
}

// copyTree copies what the user sees of the workspace. What version control
// ignores (dependencies, build output) is linked: tools need it, and copying it
// would take minutes. The key tells one state of the files from another.
func copyTree(ctx context.Context, ws *workspace.Workspace, dir string) (key string, err error) {
	h := sha256.New()
	seen := map[string]bool{}
	err = ws.Walk(ctx, workspace.WalkOptions{}, func(e workspace.Entry) error {
		if e.Skipped != nil {
			return nil
		}
		f, err := ws.Read(e.Path)
		if err != nil {
			return nil // gone, or not to be read: the command does without
		}
		fmt.Fprintf(h, "%s\x00%s\x00", f.Path, f.SHA256)
		for p := filepath.ToSlash(filepath.Dir(f.Path)); ; p = filepath.ToSlash(filepath.Dir(p)) {
			seen[p] = true
			if p == "." {
				break
			}
		}
		return write(dir, f.Path, f.Text, f.Mode)
	})
	if err != nil {
		return "", err
	}
	for folder := range seen {
		if err := linkIgnored(ws, dir, folder); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// linkIgnored links the ignored folders that lie directly in a folder.
func linkIgnored(ws *workspace.Workspace, dir, folder string) error {
	entries, err := os.ReadDir(filepath.Join(ws.RealDir(), filepath.FromSlash(folder)))
	if err != nil {
		return nil // an open buffer in a folder that is not on disk yet
	}
	for _, e := range entries {
		rel := e.Name()
		if folder != "." {
			rel = folder + "/" + e.Name()
		}
		if !e.IsDir() || ws.Classify(rel).Class == workspace.Denied {
			continue
		}
		if ignored, err := ws.Ignored(rel); err != nil || !ignored {
			continue
		}
		target := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.Symlink(filepath.Join(ws.RealDir(), filepath.FromSlash(rel)), target); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

func write(dir, path string, text []byte, mode os.FileMode) error {
	name := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, text, mode|0o600)
}

// apply makes the changes in the copy. Their paths have been through the
// workspace's confinement; here they are asked for again.
func apply(ws *workspace.Workspace, dir string, changes []workspace.Change) error {
	for _, ch := range changes {
		path, err := ws.Rel(ch.Path)
		if err != nil {
			return err
		}
		name := filepath.Join(dir, filepath.FromSlash(path))
		switch ch.Kind {
		case workspace.DeleteFile:
			if err := os.Remove(name); err != nil {
				return err
			}
		case workspace.CreateFile, workspace.EditFile:
			if err := write(dir, path, ch.Text, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs the command and reads what it reports. Tools end with all kinds of
// codes when they found something, so that only one that cannot be run, or says
// nothing that can be read and fails, is an error.
func (c *Command) run(ctx context.Context, dir string) ([]incidents.Incident, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir, cmd.Env = dir, append([]string{"PWD=" + dir}, c.environ...)
	var out, errs capped
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 2 * time.Second
	killGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the diagnostics command %s did not end within %v: %w", c.argv[0], c.timeout, ctx.Err())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("the diagnostics command %s cannot be run: %w", c.argv[0], err)
	}
	real, evalErr := filepath.EvalSymlinks(dir)
	if evalErr != nil {
		real = dir
	}
	if rep, readErr := incidents.Read(c.argv[0], out.Bytes(), incidents.Options{Root: real, Prefixes: []incidents.Prefix{{From: dir, To: ""}}}); readErr == nil {
		return rep.Incidents, nil
	}
	list := readLines(append(append(bytes.Clone(out.Bytes()), '\n'), errs.Bytes()...), []string{dir, real}, filepath.Base(c.argv[0]))
	if len(list) == 0 && exit != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
		return nil, fmt.Errorf("the diagnostics command %s ended with code %d and reported nothing that can be read: %s", c.argv[0], exit.ExitCode(), first)
	}
	return list, nil
}

// capped keeps the beginning of what is written to it.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	if room := maxOutput - c.Len(); room > 0 {
		c.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
