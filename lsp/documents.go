package lsp

import (
	"sync"

	"go.lsp.dev/uri"

	"github.com/kaiak/kaiak/workspace"
)

// A document is an open document at one version. It is immutable.
type document struct {
	uri     string // as the client wrote it
	version int32
	text    []byte
}

// mapper returns the positions of the document in the client's units.
func (d *document) mapper(enc workspace.PositionEncoding) *workspace.Mapper {
	return workspace.NewMapper(d.text, enc)
}

// documents are the open documents of one client, by [documentKey]. They are
// kept here to turn the positions of the wire into bytes; what a document means
// is the service's business.
type documents struct {
	mu   sync.RWMutex // guards open
	open map[string]*document
}

func (d *documents) init() { d.open = map[string]*document{} }

// documentKey returns what tells documents apart: the path of a file, however
// its URI is spelt, else the URI.
func documentKey(name string) string {
	u, err := uri.Parse(name)
	if err != nil || u.Scheme() != "file" {
		return name
	}
	return u.FsPath()
}

func (d *documents) put(doc *document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[documentKey(doc.uri)] = doc
}

func (d *documents) remove(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.open, documentKey(name))
}

// get returns the present version of an open document, nil when it is not open.
func (d *documents) get(name string) *document {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.open[documentKey(name)]
}

// all returns the open documents, in no order.
func (d *documents) all() []*document {
	d.mu.RLock()
	defer d.mu.RUnlock()
	list := make([]*document, 0, len(d.open))
	for _, doc := range d.open {
		list = append(list, doc)
	}
	return list
}
