package kaiak

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/kaiak/kaiak/incidents"
	"github.com/kaiak/kaiak/rules"
	"github.com/kaiak/kaiak/treesitter"
	"github.com/kaiak/kaiak/workspace"
)

// A document is one that a client has open: in a workspace folder, where it is
// parsed and checked, or outside of all, where it only has its text.
type document struct {
	client *Client
	uri    string // as the client names it
	space  *space // nil: outside of every folder
	rel    string

	mu      sync.Mutex // guards what follows
	file    *workspace.File
	lang    *treesitter.Language
	parsed  *treesitter.Document          // nil until the first parse
	pending []treesitter.Edit             // edits that parsed has not seen yet
	check   *check                        // of the newest version that was asked for
	carried []*carried                    // edits that quick fixes gave away, the newest last
	given   map[string]incidents.Incident // by id: what other servers reported when actions were last asked for
	closed  bool
}

// A check is the incidents of one version of a document, computed once for all
// who ask. A newer version supersedes it.
type check struct {
	file    *workspace.File
	set     *rules.Set
	cancel  context.CancelFunc
	done    chan struct{} // closed when list and err are there
	matches []rules.Match
	list    []incidents.Incident // with the ids of the index
	err     error
}

// errSuperseded is the cause of a check that a newer version ended.
var errSuperseded = errors.New("the document has changed")

// folderOf returns the workspace folder that a document is in, the innermost
// one, and its path there.
func (c *Client) folderOf(uri string) (*space, string) {
	var best *space
	rel := ""
	for _, sp := range c.folderSpaces() {
		r, err := sp.ws.Rel(uri)
		if err == nil && (best == nil || len(r) < len(rel)) {
			best, rel = sp, r
		}
	}
	return best, rel
}

func (c *Client) document(uri string) (*document, error) {
	c.mu.Lock()
	d := c.docs[uri]
	c.mu.Unlock()
	if d == nil {
		return nil, Errorf(InvalidParams, "the document %s is not open", uri).With("uri", uri)
	}
	return d, nil
}

// DidOpen says that a document is open in the client: from now on its buffer
// is the truth. uri is a file URI or an absolute path. Documents outside of
// every folder, and other schemes, are accepted and have no incidents.
func (c *Client) DidOpen(uri, languageID string, version int32, text string) error {
	c.mu.Lock()
	old := c.docs[uri]
	delete(c.docs, uri)
	c.mu.Unlock()
	if old != nil {
		old.close() // opened twice, or in another folder now
	}
	d := &document{client: c, uri: uri}
	d.space, d.rel = c.folderOf(uri)
	if d.space == nil {
		d.file = &workspace.File{Path: uri, Text: []byte(text), SHA256: workspace.SHA256([]byte(text)), Open: true, Version: version, LanguageID: languageID}
	} else {
		file, err := d.space.ws.OpenBuffer(d.rel, version, []byte(text), languageID)
		if err != nil {
			return err
		}
		d.file = file
		if d.lang = treesitter.ForPath(d.rel); d.lang == nil {
			d.lang = treesitter.Lookup(languageID)
		}
		d.space.mu.Lock()
		d.space.owners[d.rel] = c
		d.space.mu.Unlock()
	}
	c.mu.Lock()
	c.docs[uri] = d
	c.mu.Unlock()
	if d.space != nil {
		d.space.opened(d.rel)
	}
	return nil
}

// DidChange applies edits one after another, each in bytes against the buffer
// as the edit before it left it.
func (c *Client) DidChange(uri string, version int32, edits []workspace.Edit) error {
	d, err := c.document(uri)
	if err != nil {
		return err
	}
	d.mu.Lock()
	before := d.file
	var file *workspace.File
	if d.space != nil {
		file, err = d.space.ws.ChangeBuffer(d.rel, version, edits)
	} else {
		text := before.Text
		for _, e := range edits {
			if text, err = workspace.ApplyEdits(text, []workspace.Edit{e}); err != nil {
				break
			}
		}
		if err == nil {
			next := *before
			next.Text, next.SHA256, next.Version = text, workspace.SHA256(text), version
			file = &next
		}
	}
	if err != nil {
		d.mu.Unlock()
		return err
	}
	d.file = file
	for _, e := range edits {
		d.pending = append(d.pending, treesitter.Edit{Start: e.Start, End: e.End, New: []byte(e.New)})
	}
	if d.check != nil {
		d.check.cancel() // what it would find is of yesterday
	}
	recognised := d.recognise(file)
	d.mu.Unlock()
	if d.space == nil {
		return nil
	}
	d.rebase(before, file, edits)
	if recognised != nil {
		c.adopt(d, recognised)
	}
	return nil
}

// rebase carries the incidents that are known along with the edits, each of
// which is against what the one before it left.
func (d *document) rebase(before, after *workspace.File, edits []workspace.Edit) {
	if len(edits) == 1 {
		d.space.index.Rebase(d.rel, before.Text, after.Text, edits)
		return
	}
	text := before.Text
	for _, e := range edits {
		next, err := workspace.ApplyEdits(text, []workspace.Edit{e})
		if err != nil {
			return // ChangeBuffer has refused it
		}
		d.space.index.Rebase(d.rel, text, next, []workspace.Edit{e})
		text = next
	}
}

// DidSave says that the client wrote the document to disk; text is its content
// where the client sends it.
func (c *Client) DidSave(uri string, text *string) error {
	d, err := c.document(uri)
	if err != nil {
		return err
	}
	if d.space == nil {
		return nil
	}
	if err := d.space.ws.SaveBuffer(c.service.ctx, d.rel); err != nil {
		return err
	}
	if err := c.service.saved(c.service.ctx, d.space); err != nil {
		return err
	}
	if d.rel == configFile || strings.HasPrefix(d.rel, rulesFolder+"/") {
		d.space.fileEvent(c.service.ctx, d.rel, false)
	}
	return nil
}

// DidClose says that the document is no longer open.
func (c *Client) DidClose(uri string) error {
	d, err := c.document(uri)
	if err != nil {
		return err
	}
	c.mu.Lock()
	delete(c.docs, uri)
	c.mu.Unlock()
	d.close()
	return nil
}

// close ends the document's part in its workspace.
func (d *document) close() {
	d.stop()
	if d.space == nil {
		return
	}
	d.space.mu.Lock()
	mine := d.space.owners[d.rel] == d.client
	if mine {
		delete(d.space.owners, d.rel)
	}
	d.space.mu.Unlock()
	if mine {
		if err := d.space.ws.CloseBuffer(d.rel); err != nil {
			d.client.service.log.Warn("a document was not open in its workspace", "error", err)
		}
	}
}

// stop ends the work on the document and frees its trees.
func (d *document) stop() {
	d.mu.Lock()
	d.closed = true
	running := d.check
	if running != nil {
		running.cancel()
	}
	d.mu.Unlock()
	if running != nil {
		<-running.done
	}
	d.mu.Lock()
	if d.parsed != nil {
		d.parsed.Close()
		d.parsed = nil
	}
	d.mu.Unlock()
}

// Document returns the open document's present content.
func (c *Client) Document(uri string) (*workspace.File, bool) {
	d, err := c.document(uri)
	if err != nil {
		return nil, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file, true
}

// run returns the check of the document's present version, started if nobody
// has yet.
func (d *document) run(ctx context.Context) (*check, *workspace.File, error) {
	set, err := d.space.rules(ctx)
	if err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, nil, Errorf(InvalidParams, "the document %s is not open", d.uri).With("uri", d.uri)
	}
	if d.check != nil && d.check.file == d.file && d.check.set == set {
		return d.check, d.file, nil
	}
	old := d.check
	if old != nil {
		old.cancel()
	}
	k := &check{file: d.file, set: set, done: make(chan struct{})}
	var work context.Context
	work, k.cancel = context.WithCancel(d.client.service.ctx)
	file := d.file
	started := d.client.service.run(func() {
		defer close(k.done)
		defer k.cancel()
		if old != nil {
			<-old.done // one parse of a document at a time
		}
		k.err = errSuperseded
		k.matches, k.err = d.find(work, set, file)
		if k.err == nil {
			k.list = d.space.index.Replace(d.rel, ownSource, d.space.adjust(k.matches))
		}
	})
	if !started {
		k.cancel()
		return nil, nil, Errorf(RequestFailed, "the server is ending")
	}
	d.check = k
	return k, file, nil
}

// find runs the rules over one version. The tree follows the edits: only what
// they concern is parsed again.
func (d *document) find(ctx context.Context, set *rules.Set, file *workspace.File) ([]rules.Match, error) {
	if !set.Applies(d.rel) {
		return nil, nil
	}
	tree, err := d.tree(ctx, file)
	if err != nil {
		return nil, err
	}
	return set.Check(ctx, file, tree)
}

// tree returns the tree of a version, or nil where there is no grammar.
func (d *document) tree(ctx context.Context, file *workspace.File) (*treesitter.Tree, error) {
	d.mu.Lock()
	parsed, lang := d.parsed, d.lang
	if d.file != file {
		d.mu.Unlock()
		return nil, errSuperseded
	}
	edits := d.pending
	d.pending = nil
	d.mu.Unlock()
	if lang == nil {
		return nil, nil
	}
	if parsed == nil {
		doc, err := treesitter.NewDocument(ctx, lang, file.Text)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.closed {
			doc.Close()
			return nil, errSuperseded
		}
		d.parsed = doc
		return doc.Tree()
	}
	if len(edits) == 0 {
		return parsed.Tree()
	}
	tree, err := parsed.Edit(ctx, edits)
	if err != nil {
		// The document is as it was: the edits have to be seen another time.
		d.mu.Lock()
		d.pending = append(edits, d.pending...)
		d.mu.Unlock()
	}
	return tree, err
}

// Incidents returns the incidents of an open document: what the rules find in
// its present version and what others reported about it. It waits for the
// parse of that version; ctx ends the wait. A version that is superseded while
// it waits is not waited for: the answer is always of the present one.
func (c *Client) Incidents(ctx context.Context, uri string) (Incidents, error) {
	d, err := c.document(uri)
	if err != nil {
		return Incidents{}, err
	}
	if d.space == nil {
		file, _ := c.Document(uri)
		return Incidents{Version: file.Version, ResultID: "outside", List: []incidents.Incident{}}, nil
	}
	for {
		k, file, err := d.run(ctx)
		if err != nil {
			return Incidents{}, err
		}
		select {
		case <-k.done:
		case <-ctx.Done():
			return Incidents{}, ctx.Err()
		}
		d.mu.Lock()
		current := d.file == k.file
		if k.err != nil && d.check == k {
			d.check = nil
		}
		d.mu.Unlock()
		if !current || errors.Is(k.err, errSuperseded) || errors.Is(k.err, context.Canceled) && c.service.ctx.Err() == nil {
			if ctx.Err() != nil {
				return Incidents{}, ctx.Err()
			}
			continue
		}
		if k.err != nil {
			return Incidents{}, k.err
		}
		list := d.space.index.File(d.rel)
		return Incidents{Version: file.Version, ResultID: resultID(list), List: list}, nil
	}
}

// resultID is equal for equal lists.
func resultID(list []incidents.Incident) string {
	var b strings.Builder
	for _, in := range list {
		fmt.Fprintf(&b, "%s %v %s %s\n", in.ID, in.Span, in.Severity, in.Message)
	}
	return workspace.SHA256([]byte(b.String()))[:16]
}
