/* The memory of one parsed JSON text. For the worst texts, jansson allocates about seventy bytes
 * for each byte, in many small pieces, so a limit on the text limits neither the amount of memory
 * nor the time to free it. Here the values of a document are stored one after the other, in blocks
 * that are charged to a budget, and a document's blocks are freed together. */
#ifndef BERTH_API_TEXT_JSON_HEAP_H
#define BERTH_API_TEXT_JSON_HEAP_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/memory_budget.h"

struct arena;
struct json_heap;

/* Called while a text is parsed, about once per KiB, to decide whether to continue. It may wait,
 * and must not parse anything itself. */
struct json_pace {
    bool (*goes_on)(void *cls, size_t bytes); /* NULL: always continue */
    void *cls;
};

/* Creates an empty heap in the arena, charged to the share, whose `bytes` are 0. The document of a
 * small text begins in the arena and must be dropped before it; with is_large, only the heap itself
 * is in the arena. */
struct json_heap *json_heap_create(struct arena *arena, struct memory_share share, bool is_large);

bool json_heap_is_large(const struct json_heap *heap);

/* Sets the pace for parsing this heap's texts. */
void json_heap_set_pace(struct json_heap *heap, struct json_pace pace);

/* Parses a text into the heap, as json_loadb does. NULL: *error describes the error in the text; or
 * the heap has failed, and *error is empty. The caller drops the document (json_decref) and then
 * clears the heap. heap == NULL: the same as json_loadb. */
json_t *json_heap_parse(struct json_heap *heap, struct slice text, size_t flags,
                        json_error_t *error);

/* Whether there was no memory for the text, or the pace stopped it; if so, sets err: 413 or 503. */
bool json_heap_has_failed(const struct json_heap *heap, struct err *err);

/* Whether the failure is temporary, because other requests have the memory. */
bool json_heap_was_refused(const struct json_heap *heap);

/* Returns all blocks, after the document has been dropped, so that another text can be parsed. NULL
 * is allowed. */
void json_heap_clear(struct json_heap *heap);

/* The number of bytes charged for it. */
size_t json_heap_bytes(const struct json_heap *heap);

/* The blocks of a large heap, which may be freed after its arena. */
struct json_blocks {
    struct json_block *first;
    struct memory_share share;
};

/* Takes the blocks out of the heap, with the document in them. */
struct json_blocks json_heap_detach(struct json_heap *heap);
void json_blocks_free(struct json_blocks *blocks);

#endif
