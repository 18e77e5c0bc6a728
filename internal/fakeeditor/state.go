package fakeeditor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.lsp.dev/protocol"
)

// A State is what an editor knows at one moment. Names are those of files in
// the workspace, slash-separated.
type State struct {
	Buffers     map[string]Buffer
	Diagnostics map[string]Diagnostics
	Messages    []string        // window/showMessage
	Questions   []string        // window/showMessageRequest
	Progresses  []ProgressState // in the order in which they began
	Streams     []Stream        // kaiak/stream/*, in their order
	Edits       []EditRequest   // workspace/applyEdit, in their order
	Registered  map[string]int  // dynamic registrations, by method
	Refreshes   map[string]int  // refresh requests, by method
	Configured  int             // workspace/configuration requests
	progress    map[string]int  // token → index of Progresses
}

// A Buffer is an open document.
type Buffer struct {
	Text    string
	Version int32
	Dirty   bool // not saved
}

// Diagnostics are what the editor shows for one document.
type Diagnostics struct {
	Version int32 // of the document they are for
	List    []protocol.Diagnostic
	Count   int // how many times they came
}

// ProgressState is one work-done progress.
type ProgressState struct {
	Title   string
	Token   string
	Percent []uint32
	Message string
	Ended   bool
}

// A Stream is one kaiak/stream/* notification.
type Stream struct {
	Method string
	Params json.RawMessage
}

// An EditRequest is one workspace/applyEdit.
type EditRequest struct {
	Edit    protocol.WorkspaceEdit
	Applied bool // whether the editor really did
}

func (s *State) init() {
	s.Buffers = map[string]Buffer{}
	s.Diagnostics = map[string]Diagnostics{}
	s.Registered = map[string]int{}
	s.Refreshes = map[string]int{}
	s.progress = map[string]int{}
}

// String tells a failed test what there was.
func (s *State) String() string {
	var b strings.Builder
	for _, name := range sorted(s.Buffers) {
		buf := s.Buffers[name]
		fmt.Fprintf(&b, "  buffer %s at version %d: %.200q\n", name, buf.Version, buf.Text)
	}
	for _, name := range sorted(s.Diagnostics) {
		d := s.Diagnostics[name]
		fmt.Fprintf(&b, "  %d diagnostics of %s at version %d\n", len(d.List), name, d.Version)
		for _, one := range d.List {
			fmt.Fprintf(&b, "    %d:%d %v\n", one.Range.Start.Line+1, one.Range.Start.Character, one.Message)
		}
	}
	for _, p := range s.Progresses {
		fmt.Fprintf(&b, "  progress %+v\n", p)
	}
	for _, st := range s.Streams {
		fmt.Fprintf(&b, "  %s %.300s\n", st.Method, st.Params)
	}
	fmt.Fprintf(&b, "  messages %q, questions %q, %d edits, registered %v, refreshes %v, configured %d\n",
		s.Messages, s.Questions, len(s.Edits), s.Registered, s.Refreshes, s.Configured)
	return b.String()
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
