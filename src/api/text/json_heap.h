/* The memory of one parsed JSON text. jansson takes some seventy bytes for each byte of the worst
 * texts, a piece at a time, so that neither its amount nor the time to free it is bounded by a
 * limit on the text. Here a document's values stand one behind the other, in blocks that are
 * charged to a budget, and the blocks of a document go at once. */
#ifndef BERTH_API_TEXT_JSON_HEAP_H
#define BERTH_API_TEXT_JSON_HEAP_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/memory_budget.h"

struct arena;
struct json_heap;

/* Asked while a text is parsed, after each KiB or so: whether to go on. It may wait, and parses
 * nothing itself. */
struct json_pace {
    bool (*goes_on)(void *cls, size_t bytes); /* NULL: it always does */
    void *cls;
};

/* An empty heap in the arena, charged to the share, whose `bytes` are 0. The document of a small
 * text begins in the arena and is dropped before it; one that is_large has nothing there but the
 * heap itself. */
struct json_heap *json_heap_create(struct arena *arena, struct memory_share share, bool is_large);

bool json_heap_is_large(const struct json_heap *heap);

/* What asks while this heap's texts are parsed. */
void json_heap_set_pace(struct json_heap *heap, struct json_pace pace);

/* Parses a text as json_loadb does, into the heap; NULL: *error says what is wrong with the text,
 * or the heap has failed, and *error says nothing. The document is dropped by the caller
 * (json_decref), then the heap is cleared. heap == NULL: plain json_loadb. */
json_t *json_heap_parse(struct json_heap *heap, struct slice text, size_t flags,
                        json_error_t *error);

/* Whether there was no memory for the text, or it was not to go on, and then sets err: 413 or 503.
 */
bool json_heap_has_failed(const struct json_heap *heap, struct err *err);

/* Whether that was for now only: others have the memory. */
bool json_heap_was_refused(const struct json_heap *heap);

/* The document is gone: returns all blocks, so that another text can be parsed. NULL is allowed. */
void json_heap_clear(struct json_heap *heap);

/* What is charged for it. */
size_t json_heap_bytes(const struct json_heap *heap);

/* The blocks of a large heap, which are freed when its arena may be gone already. */
struct json_blocks {
    struct json_block *first;
    struct memory_share share;
};

/* Takes the blocks out of the heap, with the document that is in them. */
struct json_blocks json_heap_detach(struct json_heap *heap);
void json_blocks_free(struct json_blocks *blocks);

#endif
