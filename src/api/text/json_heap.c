/* jansson's allocator, for the whole process: while a thread parses into a heap, memory comes from
 * there, otherwise from malloc. The address shows which: malloc's addresses are multiples of 16, a
 * heap's are 8 more than a multiple of 16. (jansson requires an alignment of at most 8.) Freeing
 * memory of a heap does nothing.
 *
 * If memory runs out, the allocator jumps out of jansson: jansson's scanner does not check whether
 * its text could grow, and would then read and write beyond the end of a string, or abort in a
 * number. The jump leaks nothing: everything that jansson has allocated is in the heap.
 *
 * A heap belongs to one thread at a time. */
#include "api/text/json_heap.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/pages.h"

enum {
    FROM_ARENA_FIRST_BYTES = 2 * 1024,
    FROM_ARENA_MOST_BYTES = 32 * 1024,
    BLOCK_LEAST_BYTES = 256 * 1024,
    BLOCK_MOST_BYTES = 4 * 1024 * 1024,
};

/* At the beginning of its own pages. */
struct json_block {
    struct pages pages;
    struct json_block *next;
};

struct json_heap {
    struct arena *arena;
    bool is_large;
    char *at; /* 8 more than a multiple of 16 */
    char *end;
    size_t from_arena;
    size_t block_bytes;
    struct json_pace pace;
    enum memory_verdict failure;
    bool is_stopped; /* by the pace */
    jmp_buf failed;  /* jumps out of the parser */
    struct json_blocks blocks;
};

static _Thread_local struct json_heap *parsing_into;

/* Sets the free room of the heap, from which memory is allocated. */
static void heap_use(struct json_heap *heap, char *from, char *end)
{
    uintptr_t at = ((uintptr_t)from + 7) / 16 * 16 + 8;
    heap->at = from + (at - (uintptr_t)from);
    heap->end = end;
}

static bool heap_fail(struct json_heap *heap, enum memory_verdict failure)
{
    if (heap->failure == MEMORY_GRANTED)
        heap->failure = failure;
    return false;
}

static bool heap_add_block(struct json_heap *heap, size_t needed)
{
    size_t bytes = heap->block_bytes / 4;
    if (bytes < BLOCK_LEAST_BYTES)
        bytes = BLOCK_LEAST_BYTES;
    if (bytes > BLOCK_MOST_BYTES)
        bytes = BLOCK_MOST_BYTES;
    if (bytes < needed + sizeof(struct json_block) + 16)
        bytes = needed + sizeof(struct json_block) + 16;
    enum memory_verdict verdict = memory_take(&heap->blocks.share, bytes);
    if (verdict != MEMORY_GRANTED)
        return heap_fail(heap, verdict);
    struct pages pages = {0};
    if (!pages_reserve(&pages, bytes))
        return heap_fail(heap, MEMORY_TAKEN);
    struct json_block *block = (struct json_block *)(void *)pages.data;
    *block = (struct json_block){.pages = pages, .next = heap->blocks.first};
    heap->blocks.first = block;
    heap->block_bytes += bytes;
    heap_use(heap, pages.data + sizeof(*block), pages.data + bytes);
    return true;
}

static bool heap_grow(struct json_heap *heap, size_t needed)
{
    size_t bytes = heap->from_arena == 0 ? FROM_ARENA_FIRST_BYTES : heap->from_arena;
    if (heap->is_large || needed + 16 > bytes || heap->from_arena + bytes > FROM_ARENA_MOST_BYTES)
        return heap_add_block(heap, needed);
    char *from = arena_alloc(heap->arena, bytes);
    heap->from_arena += bytes;
    heap_use(heap, from, from + bytes);
    return true;
}

static void *heap_alloc(size_t size)
{
    struct json_heap *heap = parsing_into;
    if (heap == NULL)
        return malloc(size);
    check(size <= SIZE_MAX / 4); /* for each byte of the text, only some bytes are allocated */
    size_t needed = (size + 15) / 16 * 16;
    if ((size_t)(heap->end - heap->at) < needed && !heap_grow(heap, needed))
        longjmp(heap->failed, 1);
    void *piece = heap->at;
    heap->at += needed;
    return piece;
}

static void heap_release(void *piece)
{
    if (((uintptr_t)piece & 8) == 0)
        free(piece);
}

/* Before any thread is started, because jansson reads it without a lock. */
__attribute__((constructor)) static void install(void)
{
    json_set_alloc_funcs(heap_alloc, heap_release);
    json_object_seed(0);
}

struct json_heap *json_heap_create(struct arena *arena, struct memory_share share, bool is_large)
{
    struct json_heap *heap = arena_zalloc(arena, sizeof(*heap));
    heap->arena = arena;
    heap->is_large = is_large;
    heap->blocks.share = share;
    return heap;
}

bool json_heap_is_large(const struct json_heap *heap)
{
    return heap->is_large;
}

void json_heap_set_pace(struct json_heap *heap, struct json_pace pace)
{
    heap->pace = pace;
}

struct paced_text {
    struct json_heap *heap;
    struct slice left;
};

static size_t give(void *buffer, size_t size, void *cls)
{
    struct paced_text *text = cls;
    struct json_heap *heap = text->heap;
    size_t bytes = size < text->left.len ? size : text->left.len;
    if (bytes == 0)
        return 0;
    if (!heap->pace.goes_on(heap->pace.cls, bytes)) {
        heap->is_stopped = true;
        longjmp(heap->failed, 1);
    }
    memcpy(buffer, text->left.data, bytes);
    text->left.data += bytes;
    text->left.len -= bytes;
    return bytes;
}

static json_t *parse(struct json_heap *heap, struct slice text, size_t flags, json_error_t *error)
{
    struct paced_text paced = {heap, text};
    if (heap != NULL && setjmp(heap->failed) != 0) {
        *error = (json_error_t){.line = -1, .column = -1};
        return NULL;
    }
    if (heap != NULL && heap->pace.goes_on != NULL)
        return json_load_callback(give, &paced, flags, error);
    return json_loadb(text.data == NULL ? "" : text.data, text.len, flags, error);
}

json_t *json_heap_parse(struct json_heap *heap, struct slice text, size_t flags,
                        json_error_t *error)
{
    check(parsing_into == NULL);
    parsing_into = heap;
    if (heap != NULL)
        heap->failure = MEMORY_GRANTED, heap->is_stopped = false;
    json_t *document = parse(heap, text, flags, error);
    parsing_into = NULL;
    return document;
}

bool json_heap_has_failed(const struct json_heap *heap, struct err *err)
{
    if (heap == NULL || (heap->failure == MEMORY_GRANTED && !heap->is_stopped))
        return false;
    if (heap->is_stopped)
        err_set(err, 503, NULL, "The request body was not read to its end.");
    else if (heap->failure == MEMORY_TOO_MUCH)
        err_set(err, 413, NULL, "The request body has more values than this service takes.");
    else
        err_set(err, 503, NULL, "Too many large requests are being served. Try again later.");
    return true;
}

bool json_heap_was_refused(const struct json_heap *heap)
{
    return heap->failure == MEMORY_TAKEN;
}

size_t json_heap_bytes(const struct json_heap *heap)
{
    return heap->block_bytes;
}

struct json_blocks json_heap_detach(struct json_heap *heap)
{
    struct json_blocks blocks = heap->blocks;
    memory_detach(&blocks.share);
    heap->blocks.first = NULL;
    heap->blocks.share.bytes = 0;
    heap->at = heap->end = NULL;
    heap->block_bytes = 0;
    return blocks;
}

void json_blocks_free(struct json_blocks *blocks)
{
    while (blocks->first != NULL) {
        struct pages pages = blocks->first->pages;
        blocks->first = blocks->first->next;
        pages_free(&pages);
    }
    memory_give_back(&blocks->share);
}

void json_heap_clear(struct json_heap *heap)
{
    if (heap == NULL)
        return;
    struct json_blocks blocks = json_heap_detach(heap);
    json_blocks_free(&blocks);
}
