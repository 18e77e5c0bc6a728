package batch

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kaiak/kaiak/incidents"
)

// A record is what a run leaves in the state folder until it is finished, so
// that another process can continue it: what it was asked, and the incidents it
// found, which a second look would no longer find all.
type record struct {
	Version   int                  `json:"version"`
	ID        string               `json:"id"`
	Workspace string               `json:"workspace"`
	SessionID string               `json:"session_id"`
	Apply     bool                 `json:"apply"`
	Approve   Policy               `json:"approve"`
	Engines   []string             `json:"engines"`
	Rules     []string             `json:"rules"`
	Context   map[string]any       `json:"migration_context,omitempty"`
	Incidents []incidents.Incident `json:"incidents"`
	Problems  []string             `json:"problems"`
	Notes     []string             `json:"notes"`
	StartedAt time.Time            `json:"started_at"`

	file string
}

const recordVersion = 1

func newRecord(opts *Options) *record {
	id := "batch-" + strings.ToLower(rand.Text()[:16])
	return &record{
		Version: recordVersion, ID: id, Workspace: opts.Workspace, Apply: opts.Apply, Approve: opts.Approve,
		Engines: opts.Engines, Rules: opts.Rules, Context: opts.Context, Problems: []string{}, Notes: []string{},
		StartedAt: time.Now().UTC(), file: filepath.Join(recordDir(opts.StateDir), id+".json"),
	}
}

func recordDir(stateDir string) string { return filepath.Join(stateDir, "batch") }

// save writes the record so that it is there whole after a crash, or not at all.
func (r *record) save() (err error) {
	if err := os.MkdirAll(filepath.Dir(r.file), 0o700); err != nil {
		return err
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	sweep(filepath.Dir(r.file))
	f, err := os.CreateTemp(filepath.Dir(r.file), tempPattern) // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(raw)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), r.file)
}

// tempPattern names a record that is being written.
const tempPattern = ".tmp-*"

// sweep removes what a process left that died while it wrote a record. Writing
// one takes no time, so what is a minute old is nobody's. What cannot be removed
// does no harm.
func sweep(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, tempPattern))
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = os.Remove(name)
		}
	}
}

// remove forgets a run that is finished.
func (r *record) remove() error {
	sweep(filepath.Dir(r.file))
	if err := os.Remove(r.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// findRecord returns the run to continue: the one with the id, or, where id is
// "", the newest one of the workspace.
func findRecord(stateDir, workspace, id string) (*record, error) {
	names, err := filepath.Glob(filepath.Join(recordDir(stateDir), "batch-*.json"))
	if err != nil {
		return nil, err
	}
	var found []*record
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var r record
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("%s is not the record of a batch: %w; remove it to go on", name, err)
		}
		r.file = name
		if r.Workspace == workspace && (id == "" || r.ID == id) {
			found = append(found, &r)
		}
	}
	if len(found) == 0 {
		if id != "" {
			return nil, fmt.Errorf("there is no unfinished batch %s of %s", id, workspace)
		}
		return nil, fmt.Errorf("there is no unfinished batch of %s: nothing to resume", workspace)
	}
	newest := slices.MaxFunc(found, func(a, b *record) int { return a.StartedAt.Compare(b.StartedAt) })
	if newest.Version != recordVersion {
		return nil, fmt.Errorf("batch %s was begun by another version of kaiak (record version %d, this one reads %d); finish it with that one", newest.ID, newest.Version, recordVersion)
	}
	return newest, nil
}
