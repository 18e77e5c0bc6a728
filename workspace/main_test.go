package workspace

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/kaiak/kaiak/store"
)

// The variables that make this test binary a process of its own to be killed.
const (
	helperJob   = "KAIAK_TEST_HELPER" // apply, undo or lock
	helperDir   = "KAIAK_TEST_HELPER_DIR"
	helperState = "KAIAK_TEST_HELPER_STATE"
)

// helperEnv is the environment in which the test binary does a job.
func helperEnv(job, dir, state string) []string {
	return append(os.Environ(), helperJob+"="+job, helperDir+"="+dir, helperState+"="+state, "GOMAXPROCS=1")
}

func init() {
	if os.Getenv(helperJob) != "" {
		// Every system call of the helper comes from its first thread, so that
		// counting them there counts all.
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if job := os.Getenv(helperJob); job != "" {
		if err := helper(job, os.Getenv(helperDir), os.Getenv(helperState)); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helper does its job with the scenario's set.
func helper(job, dir, state string) error {
	s, err := store.Open(state)
	if err != nil {
		return err
	}
	w, err := Open(dir, Options{Store: s})
	if err != nil {
		return err
	}
	ctx := context.Background()
	switch job {
	case "lock":
		if _, err := w.lock(ctx, time.Second, "the helper's set"); err != nil {
			return err
		}
		fmt.Println("locked")
		_, err = io.Copy(io.Discard, os.Stdin) // until it is killed
	case "undo":
		_, err = w.Undo(ctx, "s", "u", UndoOptions{})
	default:
		set, _ := faultSet(&helperTB{}, w, "s")
		_, err = w.Apply(ctx, set, ApplyOptions{})
	}
	return err
}

// helperTB lets the helper use the tests' own helpers.
type helperTB struct{ testing.TB }

func (*helperTB) Helper() {}

func (*helperTB) Fatal(args ...any) {
	fmt.Println(args...)
	os.Exit(4)
}
