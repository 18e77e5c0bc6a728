package tool

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"github.com/kaiak/kaiak/workspace"
)

// MaxOutput is the size in bytes that no tool result exceeds.
const MaxOutput = 16 << 10

// MaxEntries is how many hits or symbols a result lists.
const MaxEntries = 200

//go:embed *.md
var descriptions embed.FS

// A Result is what a call returned.
type Result struct {
	Text     string // at most MaxOutput bytes; what the model reads
	OK       bool
	Artifact string // id of the full output where Text was cut, else ""
	Denied   bool   // the call asked for something that is not allowed
	Repeated bool   // the same call gave the same output before
}

// A Proposer takes the arguments of propose_edits and returns what the model is
// told, and whether the proposal was accepted.
type Proposer func(ctx context.Context, arguments json.RawMessage) (answer string, accepted bool)

// An Asker puts a question to the user; answered is false when there is nobody
// or no answer.
type Asker func(ctx context.Context, question string, choices []string) (answer string, answered bool)

// Env is what the tools of one conversation work on.
type Env struct {
	Workspace *workspace.Workspace
	// Overlay holds the text of files as the conversation sees them, where that is
	// not what the workspace has. Key: path.
	Overlay map[string]*workspace.File
	Propose Proposer
	Ask     Asker                     // nil: there is nobody to ask
	Redact  func(string) string       // nil: nothing is hidden
	Keep    func(id, fullText string) // nil; else hears of every artifact, to store it
}

// A Box runs the calls of one conversation. It is not safe for concurrent use.
type Box struct {
	env       Env
	artifacts map[string]string // full redacted text by id
	seen      map[string]string // id of the first call that gave an output, by tool and output
}

// NewBox returns a box of every tool.
func NewBox(env Env) *Box {
	if env.Redact == nil {
		env.Redact = func(s string) string { return s }
	}
	return &Box{env: env, artifacts: map[string]string{}, seen: map[string]string{}}
}

// An output is what a tool makes before it is cut.
type output struct {
	text   string
	ok     bool
	denied bool
	whole  bool // text is bounded by the tool itself and is never kept as an artifact
}

// spec is one tool. Tools is the table of them.
type spec struct {
	name   string
	params any // zero value of its parameters, from which the schema is made
	run    func(ctx context.Context, b *Box, args json.RawMessage) output
}

// tools lists every tool in the order in which it is offered, which never
// changes: the endpoint's prefix cache starts with it.
var tools = []spec{
	{"read_file", readParams{}, runner(readFile)},
	{"search", searchParams{}, runner(search)},
	{"outline", outlineParams{}, runner(outline)},
	{"symbol", symbolParams{}, runner(symbol)},
	{"propose_edits", proposeParams{}, propose},
	{"ask_user", askParams{}, runner(askUser)},
	{"retrieve_output", retrieveParams{}, runner(retrieve)},
}

// Names returns the names of all tools.
func Names() []string {
	var out []string
	for _, t := range tools {
		out = append(out, t.name)
	}
	return out
}

// runner decodes a tool's parameters before it runs.
func runner[P any](run func(context.Context, *Box, P) output) func(context.Context, *Box, json.RawMessage) output {
	return func(ctx context.Context, b *Box, args json.RawMessage) output {
		p, err := decode[P](args)
		if err != nil {
			return failure("bad arguments: %v", err)
		}
		return run(ctx, b, p)
	}
}

func failure(format string, args ...any) output { return output{text: fmt.Sprintf(format, args...)} }

// Definitions returns every tool as the endpoint wants it.
func Definitions() []openai.Tool {
	var out []openai.Tool
	for _, t := range tools {
		out = append(out, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.name, Description: Description(t.name), Parameters: schema(t.params),
		}})
	}
	return out
}

// Definitions returns the tools that can work in this conversation: ask_user
// only where there is somebody to ask.
func (b *Box) Definitions() []openai.Tool {
	return slices.DeleteFunc(Definitions(), func(t openai.Tool) bool { return t.Function.Name == "ask_user" && b.env.Ask == nil })
}

// Description returns what the model reads about a tool.
func Description(name string) string {
	text, err := descriptions.ReadFile(name + ".md")
	if err != nil {
		return "" // a test makes sure that every tool has one
	}
	return strings.TrimSpace(string(text))
}

// Run runs one call. callID is how later results refer to it.
func (b *Box) Run(ctx context.Context, callID, name string, args json.RawMessage) Result {
	i := slices.IndexFunc(tools, func(t spec) bool { return t.name == name })
	if i < 0 {
		return Result{Text: fmt.Sprintf("There is no tool %q. The tools are: %s.", name, strings.Join(Names(), ", "))}
	}
	out := tools[i].run(ctx, b, args)
	text := b.env.Redact(out.text)
	r := Result{OK: out.ok, Denied: out.denied}
	if !out.whole {
		key := name + "\x00" + hash(text)
		if first, ok := b.seen[key]; ok && len(text) > 200 {
			r.Text, r.Repeated = fmt.Sprintf("(the same output as that of call %s above; nothing has changed)", first), true
			return r
		}
		b.seen[key] = callID
	}
	r.Text, r.Artifact = b.bound(text, out.whole)
	return r
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// bound cuts a text to MaxOutput bytes: the head and the tail stay, by lines
// where lines are short, and the whole is kept.
func (b *Box) bound(text string, whole bool) (cut, artifact string) {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) <= MaxOutput {
		return text, ""
	}
	note := "\n… %d bytes are left out …\n"
	if !whole {
		artifact = "out_" + hash(text)[:12]
		b.artifacts[artifact] = text
		note = "\n… %d bytes are left out; retrieve_output with artifact_id " + artifact + " has the whole …\n"
	}
	const head, tail = MaxOutput * 3 / 4, MaxOutput/4 - 200
	first, last := cutAfter(text[:head]), cutBefore(text[len(text)-tail:])
	return first + fmt.Sprintf(note, len(text)-len(first)-len(last)) + last, artifact
}

// cutAfter drops an unfinished last line, or an unfinished character of a line
// that is longer than the piece.
func cutAfter(s string) string {
	if i := strings.LastIndexByte(s, '\n'); i > len(s)/2 {
		return s[:i]
	}
	return strings.ToValidUTF8(s, "")
}

func cutBefore(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < len(s)/2 {
		return s[i+1:]
	}
	return strings.ToValidUTF8(s, "")
}

// Artifact returns the full output with the given id, "" when there is none.
func (b *Box) Artifact(id string) string { return b.artifacts[id] }

// file returns a file as the conversation sees it.
func (b *Box) file(path string) (*workspace.File, error) {
	rel, err := b.env.Workspace.Rel(path)
	if err != nil {
		return nil, err
	}
	if f := b.env.Overlay[rel]; f != nil {
		return f, nil
	}
	return b.env.Workspace.ReadText(rel)
}

// refuse makes an output of a path that cannot be read.
func refuse(err error) output {
	return output{text: "cannot read it: " + err.Error(), denied: denied(err)}
}
