/* Consumers by their uuids, and the creation of rows that they lack (store/missing_consumers.h),
 * for the statements of both fakes. One thread. */
#ifndef BERTH_FAKE_POSTGRES_CONSUMERS_H
#define BERTH_FAKE_POSTGRES_CONSUMERS_H

#include "statements.h"

enum { CONSUMERS_ASKED_MOST = 512 };

/* Rows by their names or uuids; NULL: there is none. */
const struct row *consumers_catalog_row(const struct tables *tables, enum table table,
                                        struct slice name);
const struct row *consumers_row(const struct tables *tables, struct slice uuid);

/* Whether allocations have the uuid. */
bool consumers_holds(const struct tables *tables, struct slice uuid);
/* The same, and no consumer has. */
bool consumers_is_missing(const struct tables *tables, struct slice uuid);

/* Calls `add` for each consumer that has one of the uuids; `missing`: for each that is missing,
 * once each, with id 0. */
void consumers_find(struct call *call, const struct value *uuids, size_t count, bool missing,
                    void (*add)(struct call *call, int64_t id, struct slice uuid));

/* The id of a new row. */
typedef int64_t consumers_next_id(struct call *call, enum table table);

/* Inserts a project or user, unless there is one with that external id. */
enum outcome consumers_create_owner(struct call *call, enum table table, int64_t now_us,
                                    struct slice external_id, consumers_next_id *next_id,
                                    size_t *rows);

/* Inserts a row for each of these consumers that is missing. */
enum outcome consumers_create(struct call *call, int64_t now_us, struct slice project,
                              struct slice user, const struct value *uuids, size_t count,
                              consumers_next_id *next_id, size_t *rows);

#endif
