// What this package adds to tree-sitter's C API so that one call into C does a
// whole file's work.
#ifndef KAIAK_FLATTEN_H
#define KAIAK_FLATTEN_H

#include "runtime.h"

// kaiak_record is one node of a flat tree; Go's record has the same layout.
typedef struct {
  uint32_t start, end;
  int32_t parent, last;
  uint16_t symbol, field;
  uint8_t flags;
} kaiak_record;

enum {
  kaiak_named = 1,
  kaiak_is_missing = 2,
  kaiak_is_error = 4,
  kaiak_extra = 8,
  kaiak_has_error = 16,
};

// kaiak_parse parses text, reusing old (which may be NULL) where it still
// holds, and reports how many bytes of text the parser asked for. It returns
// NULL when the parser's cancellation flag was set.
TSTree *kaiak_parse(TSParser *parser, const TSTree *old, const char *text, uint32_t length, uint64_t *bytes_read);

// kaiak_node_count returns how many nodes kaiak_flatten will write.
uint32_t kaiak_node_count(const TSTree *tree);

// kaiak_flat is a flat tree that was made before, with the identity of each node.
typedef struct {
  const kaiak_record *nodes;
  const uint64_t *ids;
  uint32_t count;
} kaiak_flat;

// kaiak_flatten writes tree's visible nodes in pre-order to out, which has room
// for capacity of them, and returns how many there are. ids, if not NULL, takes
// each node's identity. With old, the flat form of the tree that tree was
// reparsed from and that still exists, subtrees that both trees share are
// copied from it instead of walked.
uint32_t kaiak_flatten(const TSTree *tree, kaiak_record *out, uint64_t *ids, uint32_t capacity, const kaiak_flat *old);

#endif
