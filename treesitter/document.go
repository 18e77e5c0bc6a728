package treesitter

// #include "flatten.h"
import "C"

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unicode/utf8"
	"unsafe"
)

// An Edit replaces the bytes [Start, End) of a document with New.
type Edit struct {
	Start, End int
	New        []byte
}

// A Document is a text whose tree follows its edits: what an edit does not
// concern is not parsed again. It keeps memory outside Go's heap until
// [Document.Close]. Its methods may be called from any goroutine; the trees
// that it returns are independent of it.
type Document struct {
	lang *Language

	mu     sync.Mutex // guards what follows
	tree   *C.TSTree  // fits flat; nil after Close
	flat   *Tree
	ids    []uint64 // of flat's nodes: which subtree of C each is, see flatten.c
	reread uint64
}

// ErrClosed is returned for a [Document] after its Close.
var ErrClosed = errors.New("document is closed")

// NewDocument parses text as lang. The document keeps text, which must not be
// modified. Its errors are those of [Parse].
func NewDocument(ctx context.Context, lang *Language, text []byte) (*Document, error) {
	tree, read, err := parse(ctx, lang, nil, text)
	if err != nil {
		return nil, err
	}
	d := &Document{lang: lang}
	d.set(tree, text, read)
	return d, nil
}

// set makes tree, which was parsed from text, the document's tree. What it
// shares with the tree before it is copied from that one's flat form.
func (d *Document) set(tree *C.TSTree, text []byte, read uint64) {
	nodes := make([]record, C.kaiak_node_count(tree))
	ids := make([]uint64, len(nodes))
	var pin runtime.Pinner
	defer pin.Unpin()
	var old *C.kaiak_flat
	if d.flat != nil {
		pin.Pin(&d.flat.nodes[0])
		pin.Pin(&d.ids[0])
		old = &C.kaiak_flat{
			nodes: (*C.kaiak_record)(unsafe.Pointer(&d.flat.nodes[0])),
			ids:   (*C.uint64_t)(unsafe.Pointer(&d.ids[0])),
			count: C.uint32_t(len(d.ids)),
		}
	}
	n := C.kaiak_flatten(tree, (*C.kaiak_record)(unsafe.Pointer(&nodes[0])), (*C.uint64_t)(unsafe.Pointer(&ids[0])), C.uint32_t(len(nodes)), old)
	if d.tree != nil {
		C.ts_tree_delete(d.tree) // not before: a freed subtree's address may come back for another
	}
	d.tree, d.ids, d.reread = tree, ids[:n], read
	d.flat = &Tree{lang: d.lang, src: text, nodes: nodes[:n]}
}

// Tree returns the tree of the current text.
func (d *Document) Tree() (*Tree, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tree == nil {
		return nil, ErrClosed
	}
	return d.flat, nil
}

// Edit applies edits one after the other, each against the text that the one
// before left, parses, and returns the new tree. When it fails (an edit out of
// range, ctx ended, see [Parse]) the document is as it was before the call.
func (d *Document) Edit(ctx context.Context, edits []Edit) (*Tree, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tree == nil {
		return nil, ErrClosed
	}
	return d.edit(ctx, edits)
}

// edit is Edit with d.mu held and the document open.
func (d *Document) edit(ctx context.Context, edits []Edit) (*Tree, error) {
	edited := C.ts_tree_copy(d.tree)
	defer C.ts_tree_delete(edited)
	text := d.flat.src
	for i, e := range edits {
		if e.Start < 0 || e.End < e.Start || e.End > len(text) {
			return nil, fmt.Errorf("edit %d [%d,%d) is out of range of a text of %d bytes", i, e.Start, e.End, len(text))
		}
		next := make([]byte, 0, len(text)-(e.End-e.Start)+len(e.New))
		next = append(append(append(next, text[:e.Start]...), e.New...), text[e.End:]...)
		if len(next) > MaxSize {
			return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(next), MaxSize)
		}
		newEnd := e.Start + len(e.New)
		start := pointAt(text, e.Start, 0, C.TSPoint{})
		change := C.TSInputEdit{
			start_byte: C.uint32_t(e.Start), old_end_byte: C.uint32_t(e.End), new_end_byte: C.uint32_t(newEnd),
			start_point:   start,
			old_end_point: pointAt(text, e.End, e.Start, start),
			new_end_point: pointAt(next, newEnd, e.Start, start),
		}
		C.ts_tree_edit(edited, &change)
		text = next
	}
	tree, read, err := parse(ctx, d.lang, edited, text)
	if err != nil {
		return nil, err
	}
	d.set(tree, text, read)
	return d.flat, nil
}

// Update makes text the document's text, as one [Document.Edit] of the span in
// which it differs from what was there. The document keeps text, which must not
// be modified.
func (d *Document) Update(ctx context.Context, text []byte) (*Tree, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tree == nil {
		return nil, ErrClosed
	}
	return d.edit(ctx, []Edit{difference(d.flat.src, text)})
}

// difference returns the one edit that makes old into text.
func difference(old, text []byte) Edit {
	start := 0
	for start < len(old) && start < len(text) && old[start] == text[start] {
		start++
	}
	endOld, endNew := len(old), len(text)
	for endOld > start && endNew > start && old[endOld-1] == text[endNew-1] {
		endOld--
		endNew--
	}
	// A span that begins or ends inside a character would make the parser see halves of it.
	for start > 0 && start < len(old) && !utf8.RuneStart(old[start]) {
		start--
	}
	for endOld < len(old) && !utf8.RuneStart(old[endOld]) {
		endOld++
		endNew++
	}
	return Edit{Start: start, End: endOld, New: text[start:endNew]}
}

// BytesRead returns how many bytes of the text the parser read for the current
// tree: all of them for a new document, and after an edit those around it.
func (d *Document) BytesRead() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int(d.reread)
}

// Close frees the document. Trees that it returned stay valid.
func (d *Document) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tree != nil {
		C.ts_tree_delete(d.tree)
		d.tree, d.flat, d.ids = nil, nil, nil
	}
}

// pointAt returns the row and the column in bytes of an offset, given those of
// an offset before it.
func pointAt(text []byte, offset, from int, at C.TSPoint) C.TSPoint {
	span := text[from:offset]
	if rows := bytes.Count(span, []byte{'\n'}); rows > 0 {
		at.row += C.uint32_t(rows)
		at.column = C.uint32_t(len(span) - 1 - bytes.LastIndexByte(span, '\n'))
	} else {
		at.column += C.uint32_t(len(span))
	}
	return at
}
