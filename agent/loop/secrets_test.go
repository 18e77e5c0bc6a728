package loop

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kaiak/kaiak/agent/llm"
	"github.com/kaiak/kaiak/agent/llm/cassette"
	"github.com/kaiak/kaiak/agent/redact"
	"github.com/kaiak/kaiak/internal/modelserver"
	"github.com/kaiak/kaiak/internal/secretsample"
)

// Every kind of secret, in the file that is fixed, in one that is read, in the
// message of the rule and in an error of the endpoint: none of them comes to the
// model, into the stream, the audit log, a recording, a reason or a proposal.
func TestNoKindOfSecretReachesAnySink(t *testing.T) {
	kinds := secretsample.ByKind(rand.New(rand.NewPCG(4, 2)))
	if len(kinds) < 60 {
		t.Fatalf("%d kinds", len(kinds))
	}
	for _, d := range redact.Detectors {
		t.Run(d.Kind, func(t *testing.T) {
			sample := kinds[d.Kind][0]
			files := strings.Replace(project, "\treturn x\n", "\t/* "+sample.Text+" */\n\treturn x\n", 1) +
				"-- other.go --\npackage m\n\n/* NOTE " + sample.Text + " */\n"
			echo := strings.Split(sample.Text, "\n")[0]
			steps := []step{
				{Reply: reply{Text: "Seen " + echo + " ", ToolCalls: []call{
					{Name: "read_file", Arguments: map[string]any{"path": "other.go"}},
					{Name: "search", Arguments: map[string]any{"query": "NOTE"}},
				}}},
				proposes("x := oldAPI(1)", "x := newAPI(1)"),
				{Reply: reply{Status: 400, Frames: []modelserver.Frame{{Raw: `{"error":{"message":` + string(mustJSON("you sent "+sample.Text)) + `}}`}}}},
			}
			tape := t.TempDir()
			rules := redact.New(redact.Options{})
			c, err := cassette.Open(cassette.Record, tape, rules.Text)
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, files, steps)
			client, err := llm.New(llm.Profile{BaseURL: r.server.URL, Model: "m", Proxy: "none"}, llm.Options{Transport: c.Wrap, Scrub: rules.Text})
			if err != nil {
				t.Fatal(err)
			}
			r.engine.opts.Model = client
			r.fix()
			client.Close()

			sinks := map[string]string{"stream": strings.Join(r.listener.events, "\n"), "leftovers": fmt.Sprint(r.listener.leftovers), "proposals": string(mustJSON(r.listener.candidates))}
			for _, req := range r.server.Received() {
				// What the model itself made up comes back to it, and to it only.
				text := req.Text()
				sinks["request"] += strings.ReplaceAll(text, "Seen "+echo, "")
			}
			for _, e := range r.listener.records {
				sinks["audit"] += e.Text
			}
			recordings, _ := filepath.Glob(filepath.Join(tape, "*"))
			for _, name := range recordings {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				sinks["recording"] += string(text)
			}
			for _, name := range []string{"request", "stream", "audit", "recording", "leftovers"} {
				if sinks[name] == "" {
					t.Errorf("nothing came to the %s, so that it shows nothing", name)
				}
			}
			for name, text := range sinks {
				for _, part := range strings.Split(sample.Secret, "\n") { // of a key, no line
					if len(part) >= 12 && !strings.HasPrefix(part, "-----") && !strings.HasPrefix(part, "PuTTY") && strings.Contains(text, part) {
						t.Errorf("the %s has the secret", name)
					}
				}
			}
		})
	}
}
