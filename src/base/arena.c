/* A list of blocks, each twice the size of the previous one up to 1 MiB; a larger allocation gets a
 * block of its own. Invariant: `used <= size` in the newest block, and memory is allocated only
 * from the newest block. */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory_budget.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define ARENA_POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define ARENA_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define ARENA_POISON(p, n)   ((void)(p), (void)(n))
#define ARENA_UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum {
    ARENA_FIRST_BYTES = 8 * 1024,
    ARENA_LARGEST_BYTES = 1024 * 1024,
    ARENA_KEEP_BYTES = 64 * 1024,
    ARENA_FREE_BYTES = 128 * 1024, /* not charged: the size of the first four blocks */
    ARENA_FIRST_ELEMENTS = 16
};

struct arena_block {
    struct arena_block *next;
    size_t size;
    size_t used;
    _Alignas(16) char data[];
};

struct arena {
    struct arena_block *newest;
    size_t footprint;
    struct memory_share *share; /* NULL: nothing is charged */
    size_t charged;             /* the part of the footprint that has been charged */
};

/* Charges or releases the difference between the footprint and what has been charged. */
static void charge_budget(struct arena *arena)
{
    size_t due = arena->share != NULL && arena->footprint > ARENA_FREE_BYTES
                     ? arena->footprint - ARENA_FREE_BYTES
                     : 0;
    if (due > arena->charged)
        memory_charge(arena->share, due - arena->charged);
    else if (due < arena->charged)
        memory_give_back_part(arena->share, arena->charged - due);
    arena->charged = due;
}

static void block_push(struct arena *arena, size_t size)
{
    struct arena_block *block = malloc(sizeof(*block) + size);
    check(block != NULL);
    block->next = arena->newest;
    block->size = size;
    block->used = 0;
    ARENA_POISON(block->data, size);
    arena->newest = block;
    arena->footprint += sizeof(*block) + size;
    charge_budget(arena);
}

static void block_free(struct arena *arena, struct arena_block *block)
{
    arena->footprint -= sizeof(*block) + block->size;
    ARENA_UNPOISON(block->data, block->size);
    free(block);
}

struct arena *arena_create(void)
{
    struct arena *arena = calloc(1, sizeof(*arena));
    check(arena != NULL);
    block_push(arena, ARENA_FIRST_BYTES);
    return arena;
}

void arena_destroy(struct arena *arena)
{
    if (arena == NULL)
        return;
    while (arena->newest != NULL) {
        struct arena_block *block = arena->newest;
        arena->newest = block->next;
        block_free(arena, block);
    }
    charge_budget(arena);
    free(arena);
}

struct arena *arena_create_beside(const struct arena *other)
{
    struct arena *arena = arena_create();
    arena->share = other->share;
    return arena;
}

void arena_charge_to(struct arena *arena, struct memory_share *share)
{
    check(share == NULL || share->bytes >= arena->charged);
    arena->share = share;
}

void arena_reset(struct arena *arena)
{
    struct arena_block *keep = NULL;
    while (arena->newest != NULL) {
        struct arena_block *block = arena->newest;
        arena->newest = block->next;
        if (keep == NULL && block->size <= ARENA_KEEP_BYTES)
            keep = block;
        else
            block_free(arena, block);
    }
    check(keep != NULL); /* the first block is small */
    charge_budget(arena);
    keep->next = NULL;
    keep->used = 0;
    ARENA_POISON(keep->data, keep->size);
    arena->newest = keep;
}

static char *arena_take(struct arena_block *block, size_t size, size_t rounded)
{
    char *at = block->data + block->used;
    block->used += rounded;
    ARENA_UNPOISON(at, size);
    return at;
}

/* A separate function, so that the common path saves no registers. */
static __attribute__((noinline)) char *take_of_new_block(struct arena *arena, size_t size,
                                                         size_t rounded)
{
    size_t last = arena->newest->size;
    size_t next = last * 2 < ARENA_LARGEST_BYTES ? last * 2 : ARENA_LARGEST_BYTES;
    block_push(arena, rounded > next ? rounded : next);
    return arena_take(arena->newest, size, rounded);
}

void *arena_alloc(struct arena *arena, size_t size)
{
    check(size < SIZE_MAX / 4);
    size_t rounded = (size + 15) & ~(size_t)15;
    struct arena_block *block = arena->newest;
    return block->size - block->used < rounded ? take_of_new_block(arena, size, rounded)
                                               : arena_take(block, size, rounded);
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    return memset(arena_alloc(arena, size), 0, size);
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
    check(size == 0 || n <= SIZE_MAX / 4 / size);
    return arena_alloc(arena, n * size);
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = count == 0 ? ARENA_FIRST_ELEMENTS : count * 2;
    void *larger = arena_array(arena, *capacity, size);
    if (count > 0)
        memcpy(larger, array, count * size);
    return larger;
}

struct slice arena_copy(struct arena *arena, struct slice text)
{
    char *copy = arena_alloc(arena, text.len + 1);
    if (text.len > 0)
        memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return (struct slice){copy, text.len};
}

struct slice arena_join(struct arena *arena, const struct slice *parts, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += parts[i].len;
    char *text = arena_alloc(arena, len + 1);
    char *at = text;
    for (size_t i = 0; i < count; i++)
        if (parts[i].len > 0)
            at = mempcpy(at, parts[i].data, parts[i].len);
    *at = '\0';
    return (struct slice){text, len};
}

struct slice arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    check(len >= 0);
    char *text = arena_alloc(arena, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return (struct slice){text, (size_t)len};
}

struct slice arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct slice text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

size_t arena_footprint_bytes(const struct arena *arena)
{
    return arena->footprint;
}
