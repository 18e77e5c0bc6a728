#include "flatten.h"

// The chunk in which an incremental parse reads its text. What the parser asks
// for is counted in chunks, so a small one makes the count precise, and a large
// one saves calls.
enum { chunk = 256 };

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

uint32_t kaiak_flatten(const TSTree *tree, kaiak_record *out, uint32_t capacity) {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  int32_t parent = -1;
  uint32_t n = 0;
  for (;;) {
    if (n >= capacity) break;
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
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      parent = (int32_t)n++;
      continue;
    }
    n++;
    r->last = (int32_t)n;
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
