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

// A publisher keeps a client's diagnostics of open documents up to date. Work
// that a newer version makes useless is cancelled at once; nothing waits for
// the user to pause. A client that pulls asks for itself, and is told when
// there is news.
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

// changed says that a document has a new version.
func (p *publisher) changed(name string) {
	if !p.server.caps.pull {
		p.push(name)
	}
}

// news says that the service knows something new about a document that may not
// have changed at all.
func (p *publisher) news(name string) {
	if p.server.caps.pull {
		p.server.pulls.ask()
	} else if p.server.docs.get(name) != nil {
		p.push(name)
	}
}

// closed takes back what was published about a document.
func (p *publisher) closed(name string) {
	key := documentKey(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.running[key]; old != nil {
		old.cancel()
		delete(p.running, key)
	}
	if p.published[key] {
		p.send(key, &document{uri: name}, noDiagnostics)
	}
}

// noDiagnostics is the empty list, which JSON must write as [].
var noDiagnostics = []protocol.Diagnostic{}

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
	if doc == nil || found.Version != doc.version {
		return // the change that made it so has announced itself
	}
	list := s.lspDiagnostics(doc, found)

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[key] != job || ctx.Err() != nil {
		return // a newer version is in work
	}
	delete(p.running, key)
	p.send(key, doc, list)
}

// send publishes a list; mu must be held, so that the order on the wire is that
// of the versions. A document without a version is closed.
func (p *publisher) send(key string, doc *document, list []protocol.Diagnostic) {
	params := &protocol.PublishDiagnosticsParams{URI: uri.URI(doc.uri), Diagnostics: list}
	if p.server.caps.diagVersion && doc.version != 0 {
		params.Version = protocol.NewOptional(doc.version)
	}
	p.published[key] = len(list) > 0
	p.server.conn.notify("diagnostics "+key, "textDocument/publishDiagnostics", params)
}

// documentDiagnostic answers a pull. It waits for the version that the client
// sees; the client cancels it when that is no longer of use.
func (s *server) documentDiagnostic(ctx context.Context, p *protocol.DocumentDiagnosticParams) (protocol.DocumentDiagnosticReport, error) {
	name := string(p.TextDocument.URI)
	for {
		doc := s.docs.get(name)
		if doc == nil { // nothing is known about what is not open
			return fullReport(kaiak.Incidents{}, noDiagnostics), nil
		}
		found, err := s.client.Incidents(ctx, doc.uri)
		if err != nil {
			return nil, err
		}
		if found.Version != doc.version {
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			continue // it changed between the two
		}
		if p.PreviousResultID != nil && found.ResultID != "" && *p.PreviousResultID == found.ResultID {
			return &protocol.RelatedUnchangedDocumentDiagnosticReport{
				UnchangedDocumentDiagnosticReport: protocol.UnchangedDocumentDiagnosticReport{
					Kind: "unchanged", ResultID: found.ResultID,
				},
			}, nil
		}
		return fullReport(found, s.lspDiagnostics(doc, found)), nil
	}
}

func fullReport(found kaiak.Incidents, list []protocol.Diagnostic) *protocol.RelatedFullDocumentDiagnosticReport {
	report := protocol.FullDocumentDiagnosticReport{Kind: "full", Items: list}
	if found.ResultID != "" {
		report.ResultID = &found.ResultID
	}
	return &protocol.RelatedFullDocumentDiagnosticReport{FullDocumentDiagnosticReport: report}
}

// lspDiagnostics writes the incidents of a document, which are in UTF-16, as
// diagnostics in the client's units.
func (s *server) lspDiagnostics(doc *document, found kaiak.Incidents) []protocol.Diagnostic {
	list := make([]protocol.Diagnostic, 0, len(found.List))
	from, to := doc.mapper(workspace.UTF16), doc.mapper(s.caps.encoding)
	for _, in := range found.List {
		d := incidents.ToDiagnostic(in)
		list = append(list, s.lspDiagnostic(d, lspRange(to, from.Offset(d.Range.Start), from.Offset(d.Range.End))))
	}
	return list
}

func (s *server) lspDiagnostic(d incidents.Diagnostic, r protocol.Range) protocol.Diagnostic {
	out := protocol.Diagnostic{
		Range:    r,
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
	convert := func(p protocol.Position) incidents.Position { return to.Position(from.Offset(position(p))) }
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
