/* Upstream's migrations: the same steps and refusals on each kind of database. */
#ifndef BERTH_STORE_MIGRATION_H
#define BERTH_STORE_MIGRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/revisions.h"
#include "store/store.h"

/* The statements of one kind of database; lists end with NULL. */
struct migration_texts {
    const char *const *create_version_table; /* alembic_version */
    const char *const *create_newest;        /* an empty database to SCHEMA_NEWEST */
    const char *const *add_consumer_types;   /* to SCHEMA_CONSUMER_TYPES */
    const char *const *drop_indexes;         /* to SCHEMA_INDEXES_DROPPED */
    const char *const *restore_indexes;      /* and back; idempotent */
    const char *count_version_tables;        /* 1 if alembic_version exists */
    const char *count_upstream_tables;       /* 0 if there are no tables of upstream */
    /* Around the writing of a revision, where DDL is not part of a transaction; NULL: the caller's
     * transaction is around everything. */
    const char *begin_revision;
    const char *end_revision;
};

/* An open database in a transaction: in one that writes, except for the functions that only
 * read. Where DDL is not part of a transaction, `execute` takes what has already been done for
 * done, so that everything can be repeated. */
struct migration {
    struct slice database; /* for messages */
    const struct migration_texts *texts;
    bool (*execute)(void *cls, const char *sql, struct err *err);
    /* The first column of the first row; *value is unchanged if there is no row. */
    bool (*query_int)(void *cls, const char *sql, int64_t *value, struct err *err);
    /* The same as text, cut to its size and unchanged if there is no row. *rows: 0, 1 or more. */
    bool (*query_text)(void *cls, const char *sql, char text[static STORE_REVISION_BYTES],
                       int64_t *rows, struct err *err);
    void *cls;
};

/* The stored revision, "" if there is none. */
bool migration_read_revision(const struct migration *migration,
                             char text[static STORE_REVISION_BYTES],
                             struct err *err) BERTH_MUST_CHECK;

/* Whether berth can serve the revision, which is left in `text`. */
bool migration_check_served(const struct migration *migration,
                            char text[static STORE_REVISION_BYTES],
                            struct err *err) BERTH_MUST_CHECK;

/* Creates the schema, or upgrades it to the newest revision. */
bool migration_sync(const struct migration *migration, struct err *err) BERTH_MUST_CHECK;

/* Writes the revision without migrating; see schema_stamp(). */
bool migration_stamp(const struct migration *migration, struct slice revision,
                     struct err *err) BERTH_MUST_CHECK;

#endif
