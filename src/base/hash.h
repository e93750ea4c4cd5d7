/* A keyed 64-bit hash of texts (SipHash-1-3), so that clients cannot choose names that collide. */
#ifndef BERTH_BASE_HASH_H
#define BERTH_BASE_HASH_H

#include <stdint.h>

#include "base/slice.h"

/* The key is generated once in a process, at the first call. Any thread. */
uint64_t hash_text(struct slice text);

#endif
