/* Memory that lives as long as one request: bump allocation, freed all at once. Used by one thread
 * at a time. */
#ifndef BERTH_BASE_ARENA_H
#define BERTH_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/check.h"
#include "base/slice.h"

struct arena;
struct memory_share;

/* Creates an empty arena, which the caller owns. Running out of memory ends the process (here and
 * below), because every size that a client chooses has been limited before. */
struct arena *arena_create(void);
void arena_destroy(struct arena *arena);

/* Creates an arena that is charged to the same holder as `other` and must be destroyed before
 * it. */
struct arena *arena_create_beside(const struct arena *other);

/* Charges everything beyond the arena's first 128 KiB to the share until the arena is reset or
 * destroyed; share->over is set when this exceeds the budget. The share must outlive the arena. It
 * may be replaced by a copy if nothing has been charged since the copy was made. */
void arena_charge_to(struct arena *arena, struct memory_share *share);

/* Discards everything allocated and keeps one block for the next user. Under ASan the discarded
 * memory is poisoned. */
void arena_reset(struct arena *arena);

/* Allocate `size` bytes aligned to 16; arena_zalloc zeroes them, arena_alloc does not. A size of 0
 * is allowed. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);

/* Allocates an array of n elements. It is a programmer error if n * size overflows. */
void *arena_array(struct arena *arena, size_t n, size_t size);

/* Makes room for one more element in an array of `count` elements of `size` bytes that has room for
 * *capacity. Returns the array itself or, if it is full, a copy with twice the room. A NULL array
 * has count and capacity 0. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t *capacity, size_t size);

/* Copies the text and appends a NUL byte that is not counted. */
struct slice arena_copy(struct arena *arena, struct slice text);

/* Concatenates the texts and appends a NUL byte that is not counted. */
struct slice arena_join(struct arena *arena, const struct slice *parts, size_t count);

/* Formats into the arena and appends a NUL byte that is not counted. "%.*s" stops at a NUL byte:
 * build text that may contain one with struct buf instead. */
struct slice arena_printf(struct arena *arena, const char *format, ...) BERTH_PRINTF(2, 3);
struct slice arena_vprintf(struct arena *arena, const char *format, va_list args);

/* The number of bytes taken from the system, for limits and metrics. */
size_t arena_footprint_bytes(const struct arena *arena);

#endif
