package fakeeditor

import (
	"fmt"
	"strings"
	"time"
)

// A Verdict is what an [Expectation] makes of a state.
type Verdict int

// The verdicts.
const (
	Unmet      Verdict = iota // not yet
	Met                       // it holds
	Unmeetable                // it can no longer hold
)

// An Expectation is a condition on the editor's state.
type Expectation struct {
	Description string
	Check       func(*State) Verdict
}

// Await waits until every expectation holds at the same moment. One that can no
// longer hold fails the test at once.
func (e *Editor) Await(expectations ...Expectation) {
	e.t.Helper()
	all := AllOf(expectations...)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		e.mu.Lock()
		verdict, changed := all.Check(&e.state), e.changed
		e.mu.Unlock()
		switch verdict {
		case Met:
			return
		case Unmeetable:
			e.fatalf("cannot happen any more: %s\n%s", all.Description, e.dump())
		}
		select {
		case <-changed:
		case <-e.conn.Done():
			e.fatalf("the server left while this was awaited: %s\n%s", all.Description, e.dump())
		case <-timer.C:
			e.fatalf("waited %v in vain: %s\n%s", patience, all.Description, e.dump())
		}
	}
}

func (e *Editor) dump() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.String()
}

// Read gives f the present state, which it must not keep.
func (e *Editor) Read(f func(*State)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f(&e.state)
}

// AllOf holds when all of its expectations do.
func AllOf(expectations ...Expectation) Expectation {
	names := make([]string, len(expectations))
	for i, e := range expectations {
		names[i] = e.Description
	}
	return Expectation{strings.Join(names, ", and "), func(s *State) Verdict {
		verdict := Met
		for _, e := range expectations {
			switch e.Check(s) {
			case Unmeetable:
				return Unmeetable
			case Unmet:
				verdict = Unmet
			}
		}
		return verdict
	}}
}

// AnyOf holds when one of its expectations does.
func AnyOf(expectations ...Expectation) Expectation {
	names := make([]string, len(expectations))
	for i, e := range expectations {
		names[i] = e.Description
	}
	return Expectation{strings.Join(names, ", or "), func(s *State) Verdict {
		verdict := Unmeetable
		for _, e := range expectations {
			switch e.Check(s) {
			case Met:
				return Met
			case Unmet:
				verdict = Unmet
			}
		}
		return verdict
	}}
}

// OnceMet waits for the first expectation; the others must hold at that very
// moment.
func OnceMet(first Expectation, then ...Expectation) Expectation {
	rest := AllOf(then...)
	return Expectation{"once " + first.Description + ", " + rest.Description, func(s *State) Verdict {
		switch first.Check(s) {
		case Unmeetable:
			return Unmeetable
		case Unmet:
			return Unmet
		}
		if rest.Check(s) != Met {
			return Unmeetable
		}
		return Met
	}}
}

// condition is an expectation that is met or not met yet.
func condition(description string, ok func(*State) bool) Expectation {
	return Expectation{description, func(s *State) Verdict {
		if ok(s) {
			return Met
		}
		return Unmet
	}}
}

// Condition is an expectation of a test's own.
func Condition(description string, ok func(*State) bool) Expectation {
	return condition(description, ok)
}

// HasDiagnostics expects the present version of a file to have this many
// diagnostics.
func HasDiagnostics(name string, count int) Expectation {
	return condition(fmt.Sprintf("%s has %d diagnostics", name, count), func(s *State) bool {
		d, ok := s.Diagnostics[name]
		return ok && d.Version == s.Buffers[name].Version && len(d.List) == count
	})
}

// HasText expects a buffer to have this text.
func HasText(name, text string) Expectation {
	return condition(fmt.Sprintf("%s reads %.80q", name, text), func(s *State) bool {
		b, ok := s.Buffers[name]
		return ok && b.Text == text
	})
}

// HasMessage expects the user to have been shown a message that contains text.
func HasMessage(text string) Expectation {
	return condition(fmt.Sprintf("a message says %q", text), func(s *State) bool {
		for _, m := range s.Messages {
			if strings.Contains(m, text) {
				return true
			}
		}
		return false
	})
}

// ProgressEnded expects a progress whose title contains text to have ended.
func ProgressEnded(text string) Expectation {
	return condition(fmt.Sprintf("a progress %q has ended", text), func(s *State) bool {
		for _, p := range s.Progresses {
			if strings.Contains(p.Title, text) && p.Ended {
				return true
			}
		}
		return false
	})
}

// ProgressBegun expects a progress whose title contains text to be running.
func ProgressBegun(text string) Expectation {
	return Expectation{fmt.Sprintf("a progress %q is running", text), func(s *State) Verdict {
		for _, p := range s.Progresses {
			if strings.Contains(p.Title, text) {
				if p.Ended {
					return Unmeetable
				}
				return Met
			}
		}
		return Unmet
	}}
}

// Streamed expects a kaiak/stream notification of a method whose params contain text.
func Streamed(method, text string) Expectation {
	return condition(fmt.Sprintf("%s says %q", method, text), func(s *State) bool {
		for _, st := range s.Streams {
			if st.Method == method && strings.Contains(string(st.Params), text) {
				return true
			}
		}
		return false
	})
}

// Registered expects a dynamic registration.
func Registered(method string) Expectation {
	return condition(method+" is registered", func(s *State) bool { return s.Registered[method] > 0 })
}
