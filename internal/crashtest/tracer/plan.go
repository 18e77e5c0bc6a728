package tracer

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// An Action is what happens at the n-th call.
type Action string

// The actions. Each happens before the call has had any effect.
const (
	Count Action = ""     // nothing: calls are counted
	Kill  Action = "kill" // the process gets SIGKILL
	Fail  Action = "fail" // the call fails with Plan.Errno
)

// A Plan says what to count, and what to do at which call.
type Plan struct {
	Under  []string // absolute folders without symbolic links; calls on other files, pipes and sockets do not count
	Action Action
	At     int    // from 1
	Errno  int    // of Fail
	Always bool   // Fail: from the n-th on every call fails that needs space on the disk; removing needs none
	Report string // file that the tracer writes when everything has ended
}

// A Call is one counted system call.
type Call struct {
	Name    string `json:"name"`
	Path    string `json:"path"`              // of the file; of a rename, the old one
	Process int    `json:"process"`           // in the order in which they were started, from 1; the command is 1
	Hit     bool   `json:"hit,omitempty"`     // the plan's action happened here
	Program string `json:"program,omitempty"` // where Hit: its first two arguments
}

// A Report is what the tracer saw.
type Report struct {
	Calls  []Call `json:"calls"`
	Status int    `json:"status"` // the command's exit code; 128 and the signal where it was killed
}

// Hit returns the call at which the plan's action happened first.
func (r *Report) Hit() (Call, bool) {
	for _, c := range r.Calls {
		if c.Hit {
			return c, true
		}
	}
	return Call{}, false
}

// The variables that make a process the tracer, and the one that is traced
// before it has become the command.
const (
	planEnv     = "KAIAK_TRACER_PLAN"
	filteredEnv = "KAIAK_TRACER_FILTERED"
)

// Command returns a command that runs argv under the plan. It ends when the
// last process of argv has, with argv's exit code.
func (p Plan) Command(argv ...string) (*exec.Cmd, error) {
	for _, dir := range append([]string{p.Report}, p.Under...) {
		if !filepath.IsAbs(dir) {
			return nil, fmt.Errorf("%q is not an absolute path", dir)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, argv...)
	cmd.Env = append(os.Environ(), planEnv+"="+string(text))
	return cmd, nil
}

// ReadReport reads the report of a plan whose command has ended.
func (p Plan) ReadReport() (*Report, error) {
	text, err := os.ReadFile(p.Report)
	if err != nil {
		return nil, err
	}
	var r Report
	return &r, json.Unmarshal(text, &r)
}

// Main makes this process the tracer when it was started as one, and does not
// return then.
func Main() {
	if os.Getenv(filteredEnv) != "" {
		fmt.Fprintln(os.Stderr, "tracer:", execFiltered(os.Args[1:]))
		os.Exit(125)
	}
	text, ok := os.LookupEnv(planEnv)
	if !ok {
		return
	}
	var p Plan
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = os.Unsetenv(planEnv) // or its children would be tracers, too
	}
	var r *Report
	if err == nil {
		r, err = run(p, os.Args[1:])
	}
	if err == nil {
		if text, err = marshal(r); err == nil {
			err = os.WriteFile(p.Report, []byte(text), 0o600)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tracer:", err)
		os.Exit(125)
	}
	os.Exit(r.Status)
}

func marshal(r *Report) (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}
