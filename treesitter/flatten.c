#include "flatten.h"

#include <string.h>

// The chunk in which an incremental parse reads its text. What the parser asks
// for is counted in chunks, so a small one makes the count precise, and a large
// one saves calls.
enum { chunk = 32 };

typedef struct {
  const char *text;
  uint32_t length;
  uint64_t read;
} source;

static const char *read_source(void *payload, uint32_t offset, TSPoint position, uint32_t *bytes_read) {
  source *s = payload;
  (void)position;
  if (offset >= s->length) {
    *bytes_read = 0;
    return "";
  }
  uint32_t n = s->length - offset;
  if (n > chunk) n = chunk;
  s->read += n;
  *bytes_read = n;
  return s->text + offset;
}

TSTree *kaiak_parse(TSParser *parser, const TSTree *old, const char *text, uint32_t length, uint64_t *bytes_read) {
  if (!old) {
    *bytes_read = length;
    return ts_parser_parse_string(parser, NULL, text, length);
  }
  source s = {text, length, 0};
  TSInput input = {&s, read_source, TSInputEncodingUTF8};
  TSTree *tree = ts_parser_parse(parser, old, input);
  *bytes_read = s.read;
  return tree;
}

uint32_t kaiak_node_count(const TSTree *tree) {
  return ts_node_descendant_count(ts_tree_root_node(tree));
}

// identity returns a value that two nodes share when they are the same subtree
// of the parser: tree-sitter puts what it reuses into the new tree as it is. A
// node's id points to the parent's slot for it, and the slot holds the pointer
// to the subtree (or a small leaf itself). This is the one thing here that its
// public header does not promise; TestEditedTreeEqualsFreshTree guards it.
static uint64_t identity(TSNode node) {
  uint64_t slot;
  memcpy(&slot, node.id, sizeof slot);
  return slot;
}

// copy_below copies the nodes below old[from] to below out[to]: the same nodes,
// further up or down the text.
static void copy_below(kaiak_record *out, uint64_t *ids, uint32_t to, const kaiak_flat *old, uint32_t from) {
  uint32_t n = (uint32_t)old->nodes[from].last - from;
  uint32_t bytes = out[to].start - old->nodes[from].start;
  int32_t places = (int32_t)(to - from);
  for (uint32_t i = 1; i < n; i++) {
    kaiak_record r = old->nodes[from + i];
    r.start += bytes;
    r.end += bytes;
    r.parent += places;
    r.last += places;
    out[to + i] = r;
  }
  memcpy(&ids[to + 1], &old->ids[from + 1], (n - 1) * sizeof *ids);
  out[to].last = (int32_t)(to + n);
}

uint32_t kaiak_flatten(const TSTree *tree, kaiak_record *out, uint64_t *ids, uint32_t capacity, const kaiak_flat *old) {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  int32_t parent = -1;
  uint32_t n = 0;
  // Where in old the next node is, if it is there: both are in pre-order, and
  // behind the last edit they differ by a constant.
  uint32_t hint = 0;
  while (n < capacity) {
    TSNode node = ts_tree_cursor_current_node(&cursor);
    kaiak_record *r = &out[n];
    r->start = ts_node_start_byte(node);
    r->end = ts_node_end_byte(node);
    r->parent = parent;
    r->symbol = ts_node_symbol(node);
    r->field = ts_tree_cursor_current_field_id(&cursor);
    uint8_t flags = 0;
    if (ts_node_is_named(node)) flags |= kaiak_named;
    if (ts_node_is_missing(node)) flags |= kaiak_is_missing;
    if (r->symbol == (TSSymbol)-1) flags |= kaiak_is_error;
    if (ts_node_is_extra(node)) flags |= kaiak_extra;
    if (ts_node_has_error(node)) flags |= kaiak_has_error;
    r->flags = flags;
    bool below = true;
    if (ids) {
      ids[n] = identity(node);
      if (old) {
        uint32_t behind = n + old->count - capacity;
        uint32_t found = hint < old->count && old->ids[hint] == ids[n] ? hint
                       : behind < old->count && old->ids[behind] == ids[n] ? behind
                       : old->count;
        if (found < old->count && n + ((uint32_t)old->nodes[found].last - found) <= capacity) {
          copy_below(out, ids, n, old, found);
          hint = (uint32_t)old->nodes[found].last;
          n = (uint32_t)r->last;
          below = false;
        } else {
          hint++;
        }
      }
    }
    if (below) {
      if (ts_tree_cursor_goto_first_child(&cursor)) {
        parent = (int32_t)n++;
        continue;
      }
      n++;
      r->last = (int32_t)n;
    }
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (parent < 0) goto done;
      ts_tree_cursor_goto_parent(&cursor);
      out[parent].last = (int32_t)n;
      parent = out[parent].parent;
    }
  }
done:
  ts_tree_cursor_delete(&cursor);
  return n;
}
