/* Copies an embedded database to one on a server.
 *
 * The source is locked until the end, so that nothing is written to it meanwhile. The target gets
 * its schema if it has none, and must otherwise be empty. Everything is copied with its ids,
 * generations and times; berth's log is not, because the target has its own. Then every row is read
 * back and compared. A copy that fails, at whatever point, leaves a target that no instance
 * serves. */
#ifndef BERTH_STORE_COPY_H
#define BERTH_STORE_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

struct copy_watch {
    /* Called often. `rows` of the table have been through the step `what`; `all` is their number,
     * or 0 if it is not known yet. */
    void (*go_on)(void *cls, const char *what, const char *table, int64_t rows, int64_t all);
    /* A line for the operator: a difference that was found, or what is done about the target. */
    void (*notice)(void *cls, struct slice line);
    void *cls;
};

struct copy_result {
    int64_t rows;        /* copied */
    int64_t differences; /* rows that differ after the copy; > 0 only with a failure */
};

/* Both are SQLAlchemy URLs. On failure, err has one clear line. The calling thread only. */
bool copy_make(struct slice source, struct slice target, const struct copy_watch *watch,
               struct copy_result *result, struct err *err) BERTH_MUST_CHECK;

#endif
