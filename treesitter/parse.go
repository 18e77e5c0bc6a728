package treesitter

// #include <stdlib.h>
// #include "flatten.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	_ "github.com/smacker/go-tree-sitter" // compiles the C runtime; see runtime.h
)

// MaxSize is the largest text in bytes that can be parsed: offsets and node
// numbers are 32 bits wide.
const MaxSize = math.MaxInt32

// ErrTooLarge is the cause when a text is larger than [MaxSize].
var ErrTooLarge = errors.New("text is too large to parse")

// Parse parses src as lang. It always returns a tree: what the grammar does not
// understand is in ERROR and missing nodes ([Errors]). It fails with
// [ErrTooLarge], or with ctx's error when ctx ends first.
//
// src must not be modified as long as the tree is used. Parse may be called
// from any number of goroutines.
func Parse(ctx context.Context, lang *Language, src []byte) (*Tree, error) {
	ctree, _, err := parse(ctx, lang, nil, src)
	if err != nil {
		return nil, err
	}
	defer C.ts_tree_delete(ctree)
	return flatten(lang, ctree, src), nil
}

// parse returns the C tree of src, which the caller deletes, and how many bytes
// the parser read. old may be nil; else it has been edited to fit src.
func parse(ctx context.Context, lang *Language, old *C.TSTree, src []byte) (*C.TSTree, uint64, error) {
	if len(src) > MaxSize {
		return nil, 0, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(src), MaxSize)
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, context.Cause(ctx)
	}
	p := acquire()
	defer release(p)
	if !C.ts_parser_set_language(p.c, lang.tables().c) {
		return nil, 0, fmt.Errorf("grammar of %s does not fit the tree-sitter runtime", lang.Name)
	}
	defer p.watch(ctx)()
	// The parser only reads text during the call, and needs a pointer even
	// where there is no text.
	text := src
	if len(text) == 0 {
		text = []byte{0}
	}
	var read C.uint64_t
	tree := C.kaiak_parse(p.c, old, (*C.char)(unsafe.Pointer(&text[0])), C.uint32_t(len(src)), &read)
	if tree == nil {
		C.ts_parser_reset(p.c)
		if err := context.Cause(ctx); err != nil {
			return nil, 0, err
		}
		return nil, 0, fmt.Errorf("tree-sitter gave up on a text of %d bytes in %s", len(src), lang.Name)
	}
	return tree, uint64(read), nil
}

// flatten copies a C tree into Go memory: see [Tree].
func flatten(lang *Language, ctree *C.TSTree, src []byte) *Tree {
	nodes := make([]record, C.kaiak_node_count(ctree))
	n := C.kaiak_flatten(ctree, (*C.kaiak_record)(unsafe.Pointer(&nodes[0])), nil, C.uint32_t(len(nodes)), nil)
	return &Tree{lang: lang, src: src, nodes: nodes[:n]}
}

// The array is negative, and does not compile, when C and Go disagree on a record.
var _ [unsafe.Sizeof(record{}) - unsafe.Sizeof(C.kaiak_record{})]struct{}
var _ [unsafe.Sizeof(C.kaiak_record{}) - unsafe.Sizeof(record{})]struct{}

// A parser is a C parser, used by one goroutine at a time.
type parser struct {
	c    *C.TSParser
	stop *C.size_t // in C memory: the parser polls it and gives up when it is not 0
}

// idle holds parsers for reuse. A channel, not a sync.Pool: what a pool drops
// is memory of C that nobody would free.
var idle = make(chan *parser, 2*runtime.NumCPU())

func acquire() *parser {
	select {
	case p := <-idle:
		return p
	default:
	}
	p := &parser{c: C.ts_parser_new(), stop: (*C.size_t)(C.calloc(1, C.sizeof_size_t))}
	C.ts_parser_set_cancellation_flag(p.c, p.stop)
	return p
}

func release(p *parser) {
	select {
	case idle <- p:
	default:
		C.ts_parser_delete(p.c)
		C.free(unsafe.Pointer(p.stop))
	}
}

// watch makes the parser give up when ctx ends. The function that it returns
// ends the watch: after it the parser may be used for another text.
func (p *parser) watch(ctx context.Context) (end func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	flag := (*uintptr)(unsafe.Pointer(p.stop))
	var running sync.WaitGroup
	running.Add(1)
	cancel := context.AfterFunc(ctx, func() {
		defer running.Done()
		atomic.StoreUintptr(flag, 1)
	})
	return func() {
		if !cancel() {
			running.Wait() // it has started: let it finish before the flag is cleared
		}
		atomic.StoreUintptr(flag, 0)
	}
}
