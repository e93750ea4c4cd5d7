/* One large block of memory mapped directly from the system. Freeing it returns all of it to the
 * system at once: none of it stays with the allocator, and no allocator lock is taken. Pages that
 * were never written use no memory. One owner. */
#ifndef BERTH_BASE_PAGES_H
#define BERTH_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/check.h"

struct pages {
    char *data; /* page-aligned; NULL: no memory */
    size_t len; /* for the owner's use */
    size_t cap;
};

/* Makes the block at least that large; its bytes are kept, but its address may change. False: the
 * system has no memory, and nothing has changed. */
bool pages_reserve(struct pages *pages, size_t cap) BERTH_MUST_CHECK;

/* Returns the memory to the system; the block is then empty and can be used again. */
void pages_free(struct pages *pages);

#endif
