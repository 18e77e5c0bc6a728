package kaiak

import (
	"fmt"
	"os"
	"time"
)

// A processID names a process so that another one can tell whether it lives:
// numbers are used again, so the time of its start is part of it.
type processID struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
}

// processStarted is when this process began, as near as it can tell.
var processStarted = time.Now().UTC().Truncate(time.Second)

func thisProcess() processID {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return processID{os.Getpid(), host, processStarted}
}

func (p processID) String() string { return fmt.Sprintf("process %d on %s", p.PID, p.Host) }

// alive reports whether the process may still run. A process of another machine
// is taken to.
func (p processID) alive() bool {
	me := thisProcess()
	switch {
	case p.Host != me.Host:
		return p.Host != ""
	case p.PID == me.PID:
		return p.Started.Equal(me.Started)
	}
	return processExists(p.PID)
}
