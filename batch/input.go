package batch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/kaiak/kaiak/incidents"
)

// maxFile is the largest file of the workspace that a text is read of, in
// bytes. It is the contract's limit: the server fixes no larger one.
const maxFile = 1 << 20

// readInputs reads the analysis files. A record that cannot be read is a
// problem of the report; a file that cannot be is an error.
func (b *run) readInputs(names []string) ([]incidents.Incident, error) {
	root, err := os.OpenRoot(b.opts.Workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []incidents.Incident
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rep, err := incidents.Read(filepath.Base(name), data, incidents.Options{
			Root:     b.opts.Workspace,
			Prefixes: b.opts.Prefixes,
			Text: func(path string) ([]byte, bool) {
				info, err := root.Stat(filepath.FromSlash(path))
				if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
					return nil, false
				}
				text, err := root.ReadFile(filepath.FromSlash(path))
				return text, err == nil
			},
		})
		if err != nil {
			return nil, err
		}
		for _, p := range rep.Problems {
			b.record.Problems = append(b.record.Problems, p.String())
		}
		if rep.Hidden > 0 {
			b.record.Notes = append(b.record.Notes, fmt.Sprintf("%s: %s suppressed or passed", filepath.Base(name), plural(rep.Hidden, "result")))
		}
		out = append(out, rep.Incidents...)
	}
	return out, nil
}

// order sorts incidents by place and drops repetitions: the same incident in
// two inputs is one.
func order(list []incidents.Incident) []incidents.Incident {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b incidents.Incident) int {
		return cmp.Or(cmp.Compare(a.FilePath, b.FilePath), cmp.Compare(a.LineNumber, b.LineNumber), cmp.Compare(a.RuleID, b.RuleID))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(in incidents.Incident) bool {
		dup := seen[in.ID]
		seen[in.ID] = true
		return dup
	})
}

// The contract's limits of one request; room is left for the frame around them.
const (
	chunkIncidents = 1000
	chunkBytes     = 9 << 20
)

// chunks cuts an ordered list into requests of at most limit incidents and
// maxBytes of JSON. The incidents of a file stay together where they fit, so
// that one proposal changes the file.
func chunks(list []incidents.Incident, limit, maxBytes int) ([][]incidents.Incident, error) {
	var out [][]incidents.Incident
	for start := 0; start < len(list); {
		end, size := start, 0
		for end < len(list) && end-start < limit {
			raw, err := json.Marshal(&list[end])
			if err != nil {
				return nil, err
			}
			if size += len(raw) + 1; size > maxBytes && end > start {
				break
			}
			end++
		}
		if end < len(list) {
			cut := end
			for cut > start && list[cut-1].FilePath == list[end].FilePath {
				cut--
			}
			if cut > start {
				end = cut
			}
		}
		out = append(out, list[start:end])
		start = end
	}
	return out, nil
}
