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

// How many incidents a request has. The contract allows 1,000 and 10 MB; room
// is left for the frame around them. Small requests are cheaper: a server has
// to look at the whole of one for each of its proposals, and less is done again
// after a crash.
const (
	chunkTarget = 100
	chunkLimit  = 1000
	chunkBytes  = 9 << 20
)

// chunks cuts an ordered list into requests of about target incidents. The
// incidents of a file stay together, so that one proposal changes the file;
// only one with more than limit incidents or maxBytes of JSON is cut.
func chunks(list []incidents.Incident, target, limit, maxBytes int) ([][]incidents.Incident, error) {
	var out [][]incidents.Incident
	start, bytes := 0, 0 // of the chunk that is being filled
	for at := 0; at < len(list); {
		end, size := at, 0 // of the file at hand, as far as it fits in one request
		for end < len(list) && end-at < limit && list[end].FilePath == list[at].FilePath {
			raw, err := json.Marshal(&list[end])
			if err != nil {
				return nil, err
			}
			if size+len(raw)+1 > maxBytes && end > at {
				break
			}
			size += len(raw) + 1
			end++
		}
		if at > start && (end-start > target || bytes+size > maxBytes) {
			out = append(out, list[start:at])
			start, bytes = at, 0
		}
		at, bytes = end, bytes+size
	}
	if start < len(list) {
		out = append(out, list[start:])
	}
	return out, nil
}
