/* One large block of memory straight from the system, which gets it back at once and whole: nothing
 * of it stays with the allocator, and no lock of the allocator is taken. Pages that were never
 * written take no memory. One owner. */
#ifndef BERTH_BASE_PAGES_H
#define BERTH_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/check.h"

struct pages {
    char *data; /* aligned to a page; NULL: none */
    size_t len; /* the owner's */
    size_t cap;
};

/* Makes it at least so large; the bytes stay, their address may change. False: the system has no
 * memory, and nothing has changed. */
bool pages_reserve(struct pages *pages, size_t cap) BERTH_MUST_CHECK;

/* Returns the memory; the block is empty and can be used again. */
void pages_free(struct pages *pages);

#endif
