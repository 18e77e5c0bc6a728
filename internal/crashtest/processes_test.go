package crashtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/kaiak/kaiak/batch"
	"github.com/kaiak/kaiak/lsp/client"
)

// Two servers, as of an editor and of another one, share a workspace: one
// writes at a time, the other waits a moment and is then told who does; when
// the one who writes dies, its turn is over.
func TestTwoServers(t *testing.T) {
	l := newLab(t)
	a, b := l.connect(), l.connect()
	as, bs := a.session(), b.session()
	final := l.project.final

	// The first one's turn lasts until its editor has applied the edit.
	held := jsFile(0)
	a.open(held, l.project.base[held])
	approval := a.start(a.propose(as, held))
	asked := a.question(held)

	other := b.propose(bs, jsFile(1))
	begun := time.Now()
	_, err := b.apply(other)
	t.Logf("the second writer was refused after %v", time.Since(begun))
	var busy *client.Error
	if !errors.As(err, &busy) || busy.Code != -32005 || busy.Kind != "WORKSPACE_BUSY" || !busy.Retryable {
		t.Fatalf("while another process writes: %v", err)
	}
	var data struct{ Owner string }
	check(t, json.Unmarshal(busy.Data, &data))
	if !strings.Contains(data.Owner, fmt.Sprintf("process %d ", a.cmd.Process.Pid)) {
		t.Errorf("the owner is called %q; it is process %d", data.Owner, a.cmd.Process.Pid)
	}

	// The second waits while the first finishes.
	second := b.start(other)
	a.change(held, 2, final[held])
	asked.answer <- true
	check(t, a.result(approval))
	if err := b.result(second); err != nil {
		t.Errorf("after the other one's turn: %v", err)
	}

	// The first dies in its turn, with its edit in the editor's document.
	held = jsFile(2)
	a.open(held, l.project.base[held])
	a.start(a.propose(as, held)) // nobody answers it
	a.question(held)
	third := b.propose(bs, jsFile(3))
	a.kill()
	if _, err := b.apply(third); err != nil {
		t.Errorf("after the death of the one who wrote: %v", err)
	}
	wrongIn(t, "after the death", l.project.allOrNothing(l.tree(), false))

	// Its editor comes back with the edit, unsaved: it is taken back there, and
	// the proposal is as good as before.
	c := l.connect()
	call[any](c, "kaiak/session/resume", m{"session_id": as})
	c.open(held, final[held])
	asked = c.question(held)
	c.change(held, 2, l.project.base[held])
	asked.answer <- true
	var pending []view
	for _, v := range c.proposals(m{"session_id": as}) {
		if v.Paths[0] == held {
			pending = append(pending, v)
		}
	}
	if len(pending) != 1 || pending[0].Status != "pending" {
		t.Fatalf("the proposal of the one who died is %+v", pending)
	}
	approval = c.start(pending[0].ID)
	asked = c.question(held)
	c.change(held, 3, final[held])
	asked.answer <- true
	if err := c.result(approval); err != nil {
		t.Errorf("its proposal, approved again: %v", err)
	}
	for i, done := range []bool{false, true, false, true} { // the others are in documents that were not saved
		path := jsFile(i)
		if want := map[bool]string{true: final[path], false: l.project.base[path]}[done]; l.tree()[path] != want {
			t.Errorf("on disk %s is %q", path, l.tree()[path])
		}
	}
}

// Two batches run on one workspace at once: every incident is fixed by one of
// them, and nothing is lost or done twice.
func TestTwoBatches(t *testing.T) {
	rounds := 2
	if full {
		rounds = 40
	}
	var count tally
	for range rounds {
		l := newLab(t)
		reports := [2]string{l.report, l.report + "2"}
		done := make(chan string, 2)
		for _, report := range reports {
			argv := l.first()
			argv[len(argv)-1] = report
			go func() { // ends with the process, which is short
				cmd := exec.Command(argv[0], argv[1:]...)
				out, err := cmd.CombinedOutput()
				if code := cmd.ProcessState.ExitCode(); code > batch.ExitLeft {
					done <- fmt.Sprintf("exit %d: %v\n%s", code, err, out)
				}
				done <- ""
			}()
		}
		for range reports {
			if said := <-done; said != "" {
				t.Error(said)
			}
		}
		wrongIn(t, "two batches at once", l.project.allOrNothing(l.tree(), false))
		if maps.Equal(l.tree(), l.project.final) {
			count.add("times all was done")
		} else {
			count.add("times something was left for a next run")
		}
		wrongIn(t, "a last run", l.settle())
		wrongIn(t, "at the end", l.finished())
	}
	t.Logf("two batches at once: %v", &count)
}

// The client of a server goes away, in one way or another, with a question
// open, proposals pending and others being applied: the server ends within two
// seconds, and all is there when it is started again.
func TestClientDies(t *testing.T) {
	for _, way := range []string{"stdin ends", "the parent dies"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t)
			parent := exec.Command("cat")
			hold, err := parent.StdinPipe()
			check(t, err)
			defer func() { _ = hold.Close() }()
			check(t, parent.Start())
			p := l.connect("--clientProcessId", fmt.Sprint(parent.Process.Pid))
			session := p.session()
			request := p.generate(session, "ask", p.scan(session, jsFile(0)))
			question := p.await("a question", func(e event) bool { return e.RequestID == request && e.InteractionID != "" }).InteractionID
			pending := p.propose(session, jsFile(1))
			for i := 2; i < 8; i++ {
				p.start(p.propose(session, jsFile(i))) // it may be too late for the answer
			}

			begun := time.Now()
			if way == "stdin ends" {
				check(t, p.in.Close())
			} else {
				_ = parent.Process.Kill()
			}
			p.gone()
			took := time.Since(begun)
			t.Logf("it ended after %v", took)
			if took > 2*time.Second {
				t.Errorf("it took %v to end", took)
			}
			_ = parent.Process.Kill() // if it is not dead already
			_ = parent.Wait()

			p = l.connect()
			call[any](p, "kaiak/session/resume", m{"session_id": session})
			wrongIn(t, "after the restart", l.project.allOrNothing(l.tree(), false))
			open := call[struct {
				Interactions []struct {
					ID string `json:"interaction_id"`
				}
			}](p, "kaiak/interaction/list", m{"session_id": session}).Interactions
			if len(open) != 1 || open[0].ID != question {
				t.Fatalf("after the restart the open questions are %+v, want %s", open, question)
			}
			tree := l.tree()
			for _, v := range p.proposals(m{"session_id": session}) {
				want := "pending"
				if tree[v.Paths[0]] == l.project.final[v.Paths[0]] {
					want = "applied"
				}
				if v.Status != want {
					t.Errorf("the proposal of %s is %s, want %s", v.Paths[0], v.Status, want)
				}
			}
			call[any](p, "kaiak/interaction/respond", m{"interaction_id": question, "response_type": "approval", "response_data": m{"approved": true}})
			p.completed(request)
			if _, err := p.apply(pending); err != nil {
				t.Errorf("a proposal that was pending: %v", err)
			}
			for _, path := range []string{jsFile(0), jsFile(1)} {
				if l.tree()[path] != l.project.final[path] {
					t.Errorf("%s is %q", path, l.tree()[path])
				}
			}
			p.kill()
			wrongIn(t, "at the end", l.onceEach())
		})
	}
}
