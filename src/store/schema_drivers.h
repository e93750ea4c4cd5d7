/* What each kind of database implements for schema.h, repair.h, coexist.h and report.h. */
#ifndef BERTH_STORE_SCHEMA_DRIVERS_H
#define BERTH_STORE_SCHEMA_DRIVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

struct arena;
struct coexist_status;
struct copy_source_driver;
struct copy_target_driver;
struct repair_owner;
struct store_report;

/* The functions are those of schema.h and repair.h without their prefixes, those of coexist.h, and
 * the last one. */
struct schema_driver {
    bool (*matches)(struct slice connection); /* whether the URL is meant for this database; NULL:
                                                 if no other driver's is */
    bool (*sync)(struct slice connection, struct err *err);
    bool (*version)(struct slice connection, char revision[static 33], struct err *err);
    bool (*stamp)(struct slice connection, struct slice revision, struct err *err);
    bool (*find_missing_roots)(struct slice connection, bool *found, struct err *err);
    bool (*count_missing_consumers)(struct slice connection, int64_t *count, struct err *err);
    bool (*set_roots)(struct slice connection, int64_t most, int64_t *done, struct err *err);
    bool (*create_consumers)(struct slice connection, const struct repair_owner *owner,
                             int64_t most, int64_t *done, struct err *err);
    bool (*coexist_enable)(struct slice connection, struct err *err);
    bool (*coexist_disable)(struct slice connection, struct err *err);
    bool (*coexist_read_status)(struct slice connection, struct coexist_status *status,
                                struct err *err);
    bool (*report)(struct slice connection, struct arena *arena, struct store_report *report,
                   struct err *err); /* report_make() of report.h; NULL: there is no server */
    const struct copy_source_driver *copy_source; /* copy_driver.h; NULL: it cannot be copied */
    const struct copy_target_driver *copy_target; /* the same; NULL: it cannot be copied to */
};

/* The driver for a URL. For one that no driver matches, it is SQLite's, whose functions say what is
 * wrong with it. */
const struct schema_driver *schema_driver_of(struct slice connection);

#endif
