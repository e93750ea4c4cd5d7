/* Memory that lives as long as one request: bump allocation, freed all at once. One thread at a
 * time. */
#ifndef BERTH_BASE_ARENA_H
#define BERTH_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/check.h"
#include "base/slice.h"

struct arena;
struct memory_share;

/* A new, empty arena; the caller owns it. Out of memory ends the process (here and below): whatever
 * a client sizes has been limited before. */
struct arena *arena_create(void);
void arena_destroy(struct arena *arena);

/* One that is charged as the other is, and destroyed before it. */
struct arena *arena_create_beside(const struct arena *other);

/* What it takes beyond its first 128 KiB is charged to the share, until it is given back by a reset
 * or the end; share->over says that this was too much. The share outlives the arena; a copy of
 * it may take its place, if nothing has been charged since. */
void arena_charge_to(struct arena *arena, struct memory_share *share);

/* Forgets everything allocated, and keeps one block for the next user. Under ASan the forgotten
 * memory is poisoned. */
void arena_reset(struct arena *arena);

/* `size` bytes aligned to 16, not zeroed (`arena_alloc`) or zeroed (`arena_zalloc`). size 0 is
 * allowed. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);

/* An array of n elements; n * size may not overflow (checked). */
void *arena_array(struct arena *arena, size_t n, size_t size);

/* Makes room for one element more in an array of `count` elements of `size` bytes, which has room
 * for *capacity. Returns the array: itself, or, when it is full, a copy with twice the room. A NULL
 * array has count and capacity 0. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size);

/* A copy of the text, with a NUL byte behind it that is not counted. */
struct slice arena_copy(struct arena *arena, struct slice text);

/* The texts one behind the other, with a NUL byte behind them that is not counted. */
struct slice arena_join(struct arena *arena, const struct slice *parts, size_t count);

/* printf into the arena; a NUL byte follows that is not counted. "%.*s" stops at a NUL byte: build
 * text that may hold one with struct buf instead. */
struct slice arena_printf(struct arena *arena, const char *format, ...) BERTH_PRINTF(2, 3);
struct slice arena_vprintf(struct arena *arena, const char *format, va_list args);

/* Bytes taken from the system, for limits and metrics. */
size_t arena_footprint_bytes(const struct arena *arena);

#endif
