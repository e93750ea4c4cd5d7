/* Questions that took far more than a worker has time for, a short while ago. They begin on the
 * slow lane: what a worker does before it gives one up is thrown away. Any thread. */
#ifndef BERTH_API_SERVICES_EXPENSIVE_H
#define BERTH_API_SERVICES_EXPENSIVE_H

#include <stdbool.h>
#include <stdint.h>

struct expensive;

/* The caller ends it with expensive_destroy. */
struct expensive *expensive_create(void);
void expensive_destroy(struct expensive *expensive); /* NULL: nothing */

/* The question, a hash of all that it depends on, has just been too expensive; now_us on the
 * monotonic clock. */
void expensive_note(struct expensive *expensive, uint64_t question, uint64_t now_us);

/* It was cheap enough this time. */
void expensive_forget(struct expensive *expensive, uint64_t question);

/* Whether anything was noted in the last seconds: if not, no question need be hashed. */
bool expensive_has_any(const struct expensive *expensive, uint64_t now_us);

/* Whether this one was, and its note has not been overwritten by another's. */
bool expensive_is(const struct expensive *expensive, uint64_t question, uint64_t now_us);

#endif
