package lsp

import (
	"encoding/json"
	"slices"

	"go.lsp.dev/protocol"

	"github.com/kaiak/kaiak/workspace"
)

// capabilities is what a client can do, as it said in its initialize request.
// It is settled once and never changes.
type capabilities struct {
	name, version string
	encoding      workspace.PositionEncoding

	applyEdit       bool // workspace/applyEdit
	documentChanges bool // versioned edits; else the plain "changes"
	annotations     bool // changeAnnotations in a WorkspaceEdit
	progress        bool // window/workDoneProgress/create
	configuration   bool // workspace/configuration
	watchFiles      bool // didChangeWatchedFiles can be registered
	watchSettings   bool // didChangeConfiguration can be registered

	literals    bool // CodeAction values; else only commands
	resolveEdit bool // the edit of a code action may come by codeAction/resolve
	preferred   bool
	disabled    bool

	pull        bool // diagnostics are pulled: it can, and can be told to pull again
	diagData    bool
	diagHref    bool
	diagVersion bool
	diagTags    []protocol.DiagnosticTag

	lens        bool // shows code lenses, and no pending proposals by itself
	lensRefresh bool

	interactive bool // answers kaiak/interaction itself; else it is asked by message
}

// is reads an optional flag.
func is(flag *bool) bool { return flag != nil && *flag }

// negotiate reads what a client declared.
func negotiate(p *protocol.InitializeParams) capabilities {
	c := capabilities{
		name:        p.ClientInfo.Name,
		encoding:    workspace.UTF16,
		interactive: speaksKaiak(p),
	}
	c.version, _ = p.ClientInfo.Version.Get()
	if g := p.Capabilities.General; g != nil {
		c.encoding = chooseEncoding(g.PositionEncodings)
	}
	if w := p.Capabilities.Window; w != nil {
		c.progress = is(w.WorkDoneProgress)
	}
	if w := p.Capabilities.Workspace; w != nil {
		c.workspace(w)
	}
	if t := p.Capabilities.TextDocument; t != nil {
		c.textDocument(t)
		refresh := p.Capabilities.Workspace != nil && p.Capabilities.Workspace.Diagnostics != nil &&
			is(p.Capabilities.Workspace.Diagnostics.RefreshSupport)
		// A client that pulls but cannot be told that there is news would not
		// see incidents that arrive while nobody types: it gets them pushed.
		c.pull = t.Diagnostic != nil && refresh
		// A client that speaks kaiak/* draws pending proposals itself.
		c.lens = t.CodeLens != nil && !c.interactive
	}
	return c
}

func (c *capabilities) workspace(w *protocol.WorkspaceClientCapabilities) {
	c.applyEdit = is(w.ApplyEdit)
	c.configuration = is(w.Configuration)
	if e := w.WorkspaceEdit; e != nil {
		c.documentChanges = is(e.DocumentChanges)
		c.annotations = e.ChangeAnnotationSupport != nil
	}
	if f := w.DidChangeWatchedFiles; f != nil {
		c.watchFiles = is(f.DynamicRegistration)
	}
	if d := w.DidChangeConfiguration; d != nil {
		c.watchSettings = is(d.DynamicRegistration)
	}
	if l := w.CodeLens; l != nil {
		c.lensRefresh = is(l.RefreshSupport)
	}
}

func (c *capabilities) textDocument(t *protocol.TextDocumentClientCapabilities) {
	if a := t.CodeAction; a != nil {
		c.literals = len(a.CodeActionLiteralSupport.CodeActionKind.ValueSet) > 0
		c.preferred = is(a.IsPreferredSupport)
		c.disabled = is(a.DisabledSupport)
		c.resolveEdit = is(a.DataSupport) && slices.Contains(a.ResolveSupport.Properties, "edit")
	}
	declared := protocol.DiagnosticsCapabilities{}
	if p := t.PublishDiagnostics; p != nil {
		declared = p.DiagnosticsCapabilities
		c.diagVersion = is(p.VersionSupport)
	}
	c.diagData = is(declared.DataSupport)
	c.diagHref = is(declared.CodeDescriptionSupport)
	c.diagTags = slices.Clone(declared.TagSupport.ValueSet)
}

// chooseEncoding takes UTF-8 where it is offered, because offsets are bytes
// here, then the client's own order; UTF-16 is the default that all speak.
func chooseEncoding(offered []protocol.PositionEncodingKind) workspace.PositionEncoding {
	if slices.Contains(offered, protocol.PositionEncodingKind(workspace.UTF8)) {
		return workspace.UTF8
	}
	for _, o := range offered {
		switch enc := workspace.PositionEncoding(o); enc {
		case workspace.UTF16, workspace.UTF32:
			return enc
		}
	}
	return workspace.UTF16
}

// speaksKaiak reports whether a client declared that it shows kaiak/stream
// notifications and answers interactions itself: by a truthy
// capabilities.experimental.kaiak, or by "interactive": true in its
// initializationOptions.
func speaksKaiak(p *protocol.InitializeParams) bool {
	var experimental struct {
		Kaiak json.RawMessage `json:"kaiak"`
	}
	if json.Unmarshal(p.Capabilities.Experimental, &experimental) == nil {
		switch string(experimental.Kaiak) {
		case "", "null", "false":
		default:
			return true
		}
	}
	var options struct {
		Interactive bool `json:"interactive"`
	}
	return json.Unmarshal(p.InitializationOptions, &options) == nil && options.Interactive
}
