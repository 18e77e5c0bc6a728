package loop

import (
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/llm/cassette"
	"github.com/kaiak/kaiak/internal/modelserver"
)

// manyFiles is a project of n files with an incident each.
func manyFiles(n int) string {
	var b strings.Builder
	b.WriteString(project[:strings.Index(project, "-- a.go --")])
	for i := range n {
		fmt.Fprintf(&b, "-- p%02d/x.go --\npackage p\n\nfunc f() int {\n\treturn oldAPI(%d)\n}\n\nfunc newAPI(n int) int { return n }\n", i, i)
	}
	return b.String()
}

var targetPath = regexp.MustCompile(`# The file (\S+) `)
var oldCall = regexp.MustCompile(`oldAPI\((\d+)\)`)

// diligent is a model that looks at the outline, makes a mistake in every third
// file, and then fixes it.
func diligent(r modelserver.Received) reply {
	text := r.Text()
	path, n := targetPath.FindStringSubmatch(text)[1], oldCall.FindStringSubmatch(text)[1]
	turn := strings.Count(string(r.Body), `"role":"assistant"`)
	switch {
	case turn == 0:
		return reply{Text: "Looking.", ToolCalls: []call{{Name: "outline", Arguments: map[string]any{"path": path}}}}
	case turn == 1 && len(n)%3 == 1:
		return reply{ToolCalls: []call{edits(path, shaOf(r), "oldAPI("+n+")", "newAPI("+n)}}
	}
	return reply{ToolCalls: []call{edits(path, shaOf(r), "oldAPI("+n+")", "newAPI("+n+")")}}
}

// The same recording gives byte-identical proposals on any number of processors.
func TestReplayIsDeterministic(t *testing.T) {
	dir := t.TempDir()
	model := func(mode cassette.Mode, url string) Model {
		c, err := cassette.Open(mode, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		cl, err := llm.New(llm.Profile{BaseURL: url, Model: "m", Proxy: "none", Concurrency: 8}, llm.Options{Transport: c.Wrap})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	files := manyFiles(24)
	server := modelserver.New(t, modelserver.Script{Unordered: true, Steps: []step{{Times: -1, Respond: diligent}}})
	run := func(m Model) string {
		r := newRig(t, files, nil, func(o *Options) { o.Model = m })
		r.fix()
		if len(r.listener.candidates) != 24 {
			t.Fatalf("%d candidates, leftovers %+v", len(r.listener.candidates), r.listener.leftovers)
		}
		js, err := json.Marshal(r.listener.candidates)
		if err != nil {
			t.Fatal(err)
		}
		return string(js)
	}
	live := model(cassette.Record, server.URL)
	want := run(live)
	live.(*llm.Client).Close() // every recording is written
	asked := len(server.Received())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 3, 4, 8, 16} {
		runtime.GOMAXPROCS(procs)
		if got := run(model(cassette.Replay, "http://127.0.0.1:1/v1")); got != want {
			t.Errorf("GOMAXPROCS=%d gives other proposals", procs)
		}
	}
	if n := len(server.Received()); n != asked {
		t.Errorf("replay asked the endpoint %d times", n-asked)
	}

	// Another task has no recording, and nothing goes out.
	r := newRig(t, strings.ReplaceAll(files, "return oldAPI(3)", "return oldAPI(3) + 1"), nil, func(o *Options) { o.Model = model(cassette.Replay, "http://127.0.0.1:1/v1") })
	r.fix()
	if len(r.listener.candidates) != 23 || len(r.listener.leftovers) != 1 || !strings.Contains(r.listener.leftovers[0].Reason, "nearest recording") {
		t.Errorf("%d candidates, leftovers %+v", len(r.listener.candidates), r.listener.leftovers)
	}
}
