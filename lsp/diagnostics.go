package lsp

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/kaiak"
	"github.com/kaiak/kaiak/workspace"
)

// A publisher pushes the diagnostics of documents whose incidents may have
// changed. Work that a newer version makes useless is cancelled at once;
// nothing waits for the user to pause.
type publisher struct {
	server *server

	mu        sync.Mutex // guards the fields below
	running   map[string]*publication
	published map[string]bool // documents for which the client holds diagnostics from us
}

type publication struct{ cancel context.CancelFunc }

func (p *publisher) init(s *server) {
	p.server = s
	p.running = map[string]*publication{}
	p.published = map[string]bool{}
}

// changed says that a document of the client is not what it was. A client that
// pulls asks for itself.
func (p *publisher) changed(name string) {
	if !p.server.caps.pull {
		p.push(name)
		return
	}
	p.clear(name) // what was pushed while the document was closed is pulled now
}

// news says that the service knows something new about a document that may not
// have changed at all.
func (p *publisher) news(name string) {
	if p.server.caps.pull && p.server.docs.get(name) != nil {
		p.server.pulls.ask()
		return
	}
	p.push(name)
}

// closed drops what is in work for a document. What is known about the file on
// disk is published again.
func (p *publisher) closed(name string) {
	p.push(name)
}

// push computes and publishes the diagnostics of a document.
func (p *publisher) push(name string) {
	key := documentKey(name)
	ctx, cancel := context.WithCancel(p.server.conn.ctx)
	job := &publication{cancel: cancel}
	p.mu.Lock()
	if old := p.running[key]; old != nil {
		old.cancel()
	}
	p.running[key] = job
	p.mu.Unlock()
	begun := p.server.conn.spawn(func(context.Context) {
		defer cancel()
		p.publish(ctx, name, key, job)
	})
	if !begun {
		cancel()
	}
}

func (p *publisher) publish(ctx context.Context, name, key string, job *publication) {
	s := p.server
	found, err := s.client.Incidents(ctx, name)
	if err != nil {
		if ctx.Err() == nil {
			s.log.Warn("the incidents of a document are not known", "uri", name, "error", err)
		}
		return
	}
	doc := s.docs.get(name)
	list := s.lspDiagnostics(doc, found)

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[key] != job || ctx.Err() != nil {
		return // a newer version is in work
	}
	delete(p.running, key)
	if doc != nil && found.Version != doc.version {
		return // the change that made it so has announced itself
	}
	if doc == nil && len(list) == 0 && !p.published[key] {
		return
	}
	p.send(name, key, doc, list)
}

// send publishes a list; mu must be held, so that the order on the wire is that
// of the versions.
func (p *publisher) send(name, key string, doc *document, list []protocol.Diagnostic) {
	params := &protocol.PublishDiagnosticsParams{URI: uri.URI(name), Diagnostics: list}
	if doc != nil {
		params.URI = uri.URI(doc.uri)
		if p.server.caps.diagVersion {
			params.Version = protocol.NewOptional(doc.version)
		}
	}
	p.published[key] = len(list) > 0
	p.server.conn.notify("diagnostics "+key, "textDocument/publishDiagnostics", params)
}

// clear takes back what was pushed about a document.
func (p *publisher) clear(name string) {
	key := documentKey(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.running[key]; old != nil {
		old.cancel()
		delete(p.running, key)
	}
	if p.published[key] {
		p.send(name, key, p.server.docs.get(name), noDiagnostics)
	}
}

// noDiagnostics is the empty list, which JSON must write as [].
var noDiagnostics = []protocol.Diagnostic{}

// documentDiagnostic answers a pull. It waits for the version that the client
// sees; the client cancels it when that is no longer of use.
func (s *server) documentDiagnostic(ctx context.Context, p *protocol.DocumentDiagnosticParams) (protocol.DocumentDiagnosticReport, error) {
	name := string(p.TextDocument.URI)
	found, err := s.client.Incidents(ctx, name)
	if err != nil {
		return nil, err
	}
	if p.PreviousResultID != nil && found.ResultID != "" && *p.PreviousResultID == found.ResultID {
		return &protocol.RelatedUnchangedDocumentDiagnosticReport{
			UnchangedDocumentDiagnosticReport: protocol.UnchangedDocumentDiagnosticReport{
				Kind: "unchanged", ResultID: found.ResultID,
			},
		}, nil
	}
	report := protocol.FullDocumentDiagnosticReport{
		Kind:  "full",
		Items: s.lspDiagnostics(s.docs.get(name), found),
	}
	if found.ResultID != "" {
		report.ResultID = &found.ResultID
	}
	return &protocol.RelatedFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: report}, nil
}

// lspDiagnostics writes incidents as diagnostics of doc, nil when it is not
// open. Incidents are in UTF-16; where doc is known, the client's units are used.
func (s *server) lspDiagnostics(doc *document, found kaiak.Incidents) []protocol.Diagnostic {
	list := make([]protocol.Diagnostic, 0, len(found.List))
	convert := func(r incidents.Range) protocol.Range {
		return protocol.Range{Start: lspPosition(workspace.Position(r.Start)), End: lspPosition(clampLine(r.End))}
	}
	if doc != nil {
		from, to := doc.mapper(workspace.UTF16), doc.mapper(s.caps.encoding)
		convert = func(r incidents.Range) protocol.Range {
			return lspRange(to, from.Offset(workspace.Position(r.Start)), from.Offset(workspace.Position(r.End)))
		}
	}
	for _, in := range found.List {
		list = append(list, s.lspDiagnostic(in, convert))
	}
	return list
}

// clampLine keeps an end-of-line column within what LSP's unsigned 31 bits hold.
func clampLine(p workspace.Position) workspace.Position {
	p.Character = min(p.Character, 1<<31-1)
	return p
}

func (s *server) lspDiagnostic(in incidents.Incident, convert func(incidents.Range) protocol.Range) protocol.Diagnostic {
	d := incidents.ToDiagnostic(in)
	out := protocol.Diagnostic{
		Range:    convert(d.Range),
		Severity: protocol.DiagnosticSeverity(d.Severity),
		Source:   protocol.NewOptional("kaiak"),
		Message:  protocol.String(d.Message),
	}
	if d.Code != "" {
		out.Code = protocol.String(d.Code)
	}
	if s.caps.diagData {
		out.Data = protocol.LSPAny(d.Data)
	}
	if href, err := uri.Parse(d.CodeHref); s.caps.diagHref && d.CodeHref != "" && err == nil {
		out.CodeDescription = protocol.CodeDescription{Href: href}
	}
	var tags []protocol.DiagnosticTag
	for _, t := range d.Tags {
		if tag := protocol.DiagnosticTag(t); slices.Contains(s.caps.diagTags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) > 0 {
		out.Tags = protocol.NewDiagnosticTags(tags...)
	}
	return out
}

// errNotUnderstood says that a diagnostic of the client's is of no use.
var errNotUnderstood = errors.New("the diagnostics cannot be read as incidents")

// givenIncidents reads diagnostics of the client, ours or another server's, as
// incidents of doc.
func (s *server) givenIncidents(doc *document, list []protocol.Diagnostic) ([]incidents.Incident, error) {
	from, to := doc.mapper(s.caps.encoding), doc.mapper(workspace.UTF16)
	convert := func(p protocol.Position) incidents.Position {
		return incidents.Position(to.Position(from.Offset(position(p))))
	}
	plain := make([]incidents.Diagnostic, 0, len(list))
	for _, d := range list {
		source, _ := d.Source.Get()
		one := incidents.Diagnostic{
			Range:    incidents.Range{Start: convert(d.Range.Start), End: convert(d.Range.End)},
			Severity: int(d.Severity),
			Code:     plainCode(d.Code),
			CodeHref: string(d.CodeDescription.Href),
			Source:   source,
			Message:  plainMessage(d.Message),
			Data:     bytes.Clone(d.Data),
		}
		for _, tag := range d.Tags.Slice() {
			one.Tags = append(one.Tags, int(tag))
		}
		plain = append(plain, one)
	}
	found, problems := incidents.FromDiagnostics(s.folders.relative(doc.uri), doc.text, plain, nil)
	for i := range found {
		found[i].URI = doc.uri
	}
	for _, p := range problems {
		s.log.Debug("a diagnostic was not understood", "problem", p.String())
	}
	if len(list) > 0 && len(found) == 0 {
		return nil, errNotUnderstood
	}
	return found, nil
}
