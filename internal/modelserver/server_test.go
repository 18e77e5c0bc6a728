package modelserver

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestScriptedExchange(t *testing.T) {
	script, err := ParseScript([]byte(`
steps:
  - name: first
    expect:
      path: /v1/chat/completions
      body: {model: m, messages: {$len: 1}, messages.-1.content: {$contains: sha}, top_p: {$absent: true}}
      capture: {sha: 'sha=([0-9a-f]+)'}
    reply:
      split: bytes
      tool_calls: [{name: propose_edits, arguments: {base: '${sha}'}}]
  - reply: {status: 429, frames: [{raw: busy}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	s := New(t, script)
	_, body := post(t, s.URL, `{"model":"m","messages":[{"role":"user","content":"the sha=beef of it"}]}`)
	if !strings.Contains(body, `{\"base\":\"beef\"}`) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("reply = %q", body)
	}
	if status, body := post(t, s.URL, `{}`); status != 429 || body != "busy" {
		t.Errorf("reply = %d %q", status, body)
	}
}

func TestUnexpectedRequestAndUnusedStepAreReported(t *testing.T) {
	s, err := Start(Script{Steps: []Step{
		{Expect: Expect{Body: map[string]any{"model": "a"}}, Reply: Reply{Text: "hi"}},
	}}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := post(t, s.URL, `{"model":"b"}`); status != http.StatusNotImplemented {
		t.Errorf("status = %d", status)
	}
	s.Close()
	msg := s.Check().Error()
	for _, want := range []string{"body's model is b, expected a", "step 0 was served 0 times, expected 1"} {
		if !strings.Contains(msg, want) {
			t.Errorf("Check() = %q, want it to say %q", msg, want)
		}
	}
}

func TestParallelSessionsHaveTheirOwnOrder(t *testing.T) {
	s := New(t, Script{SessionHeader: "X-Session", Steps: []Step{
		{Session: "a", Reply: Reply{Frames: []Frame{{Raw: "a1"}}}},
		{Session: "b", Reply: Reply{Frames: []Frame{{Raw: "b1"}}}},
		{Session: "a", Reply: Reply{Frames: []Frame{{Raw: "a2"}}}},
	}})
	for _, c := range [][2]string{{"b", "b1"}, {"a", "a1"}, {"a", "a2"}} {
		req, _ := http.NewRequest("POST", s.URL, nil)
		req.Header.Set("X-Session", c[0])
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(text) != c[1] {
			t.Errorf("session %s got %q, want %q", c[0], text, c[1])
		}
	}
}

func TestStallCutAndReset(t *testing.T) {
	s := New(t, Script{Steps: []Step{
		{Reply: Reply{Frames: []Frame{{Raw: "one "}, {Wait: "gate"}, {Raw: "two"}}}},
		{Reply: Reply{Frames: []Frame{{Raw: "half"}, {Cut: true}}}},
		{Reply: Reply{Frames: []Frame{{Raw: "half"}, {Reset: true}}}},
	}})
	go func() { <-s.Reached("gate"); s.Release("gate") }()
	if _, body := post(t, s.URL, ""); body != "one two" {
		t.Errorf("body = %q", body)
	}
	for range 2 {
		resp, err := http.Post(s.URL, "", nil)
		if err != nil {
			continue // the reset came before the headers
		}
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Error("the body ended cleanly")
		}
		resp.Body.Close()
	}
}

func TestScriptWithUnknownMemberIsRefused(t *testing.T) {
	if _, err := ParseScript([]byte(`steps: [{repl: {}}]`)); err == nil {
		t.Error("no error")
	}
}
