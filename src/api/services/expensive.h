/* Queries that recently took far more time than a worker has. They start on the slow lane, because
 * the work that a worker does before it gives up is discarded. Any thread. */
#ifndef BERTH_API_SERVICES_EXPENSIVE_H
#define BERTH_API_SERVICES_EXPENSIVE_H

#include <stdbool.h>
#include <stdint.h>

struct expensive;

/* The caller frees it with expensive_destroy. */
struct expensive *expensive_create(void);
void expensive_destroy(struct expensive *expensive); /* NULL is allowed */

/* Notes that a query, given as a hash of everything that it depends on, was too expensive; now_us
 * is on the monotonic clock. */
void expensive_note(struct expensive *expensive, uint64_t query_hash, uint64_t now_us);

/* Removes the note, because the query was cheap enough this time. */
void expensive_forget(struct expensive *expensive, uint64_t query_hash);

/* Whether any query was noted in the last seconds: if not, none need be hashed. */
bool expensive_has_any(const struct expensive *expensive, uint64_t now_us);

/* Whether this query was noted, and its note has not been overwritten. */
bool expensive_is(const struct expensive *expensive, uint64_t query_hash, uint64_t now_us);

#endif
