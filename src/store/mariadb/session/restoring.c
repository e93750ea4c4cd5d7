/* See restoring.h. A dump is executed statement by statement, each of which can be seen at once,
 * because those that create tables commit. mysqldump's has, for each table in the order of the
 * alphabet, a DROP, a CREATE with the primary key, and the rows; phpMyAdmin's has the keys after
 * all rows.
 *
 * So what is missing of an empty database is seen, and what is not of one that is overwritten:
 * there a table that has not been reached yet has its old rows. Only while a table to which others
 * refer is empty is that seen. A snapshot refuses tables that were created after its begin (1412),
 * so what one snapshot has read was there as a whole. One thread at a time. */
#include "store/mariadb/session/restoring.h"

#include "store/mariadb/session/ask.h"
#include "store/mariadb/session/session_state.h"
#include "store/rows.h"
#include "store/server/failure.h"

static const char TABLES[] =
    "SELECT TABLE_NAME, MAX(COLUMN_KEY = 'PRI') FROM information_schema.COLUMNS"
    " WHERE TABLE_SCHEMA = DATABASE() GROUP BY TABLE_NAME";

/* So many may have lost all their consumers in another way (store/missing_consumers.h). */
#define SOME_ALLOCATIONS "5"

/* Each refers to the other. */
static const char WITHOUT[] =
    "SELECT CASE"
    " WHEN NOT EXISTS (SELECT 1 FROM resource_providers) AND (EXISTS (SELECT 1 FROM inventories)"
    " OR EXISTS (SELECT 1 FROM allocations)) THEN 'resource_providers'"
    " WHEN NOT EXISTS (SELECT 1 FROM resource_classes) AND EXISTS (SELECT 1 FROM inventories)"
    " THEN 'resource_classes'"
    " WHEN NOT EXISTS (SELECT 1 FROM traits) AND EXISTS (SELECT 1 FROM resource_provider_traits)"
    " THEN 'traits'"
    " WHEN NOT EXISTS (SELECT 1 FROM consumers) AND (SELECT COUNT(*) FROM"
    " (SELECT 1 FROM allocations LIMIT " SOME_ALLOCATIONS ") a) = " SOME_ALLOCATIONS
    " THEN 'consumers'"
    " WHEN NOT EXISTS (SELECT 1 FROM projects) AND EXISTS (SELECT 1 FROM consumers) THEN 'projects'"
    " WHEN NOT EXISTS (SELECT 1 FROM users) AND EXISTS (SELECT 1 FROM consumers) THEN 'users' END";

static enum server_outcome retry(const struct mariadb_session *session, struct slice table,
                                 const char *what, struct err *err)
{
    return server_failure_set(SERVER_RETRY, session->base.target, NULL,
                              arena_printf(err->arena, "the table %.*s %s; is it being restored?",
                                           SLICE_ARG(table), what),
                              err);
}

/* The row of a table; SIZE_MAX: it is not there. */
static size_t find_table(const struct mariadb_rows *rows, const char *name)
{
    for (size_t i = 0; i < mariadb_rows_count(rows); i++)
        if (slice_equal(mariadb_rows_bytes(rows, i, 0), slice_of(name)))
            return i;
    return SIZE_MAX;
}

/* *are_there: all tables. A table of records is berth's to create. */
static enum server_outcome check_listed(const struct mariadb_session *session,
                                        const struct mariadb_rows *rows, bool *are_there,
                                        struct err *err)
{
    const char *missing = NULL;
    const char *there = NULL;
    for (unsigned table = 0; table < ROWS_PARENTS; table++) {
        const char *name = rows_name((enum rows_table)table);
        size_t row = find_table(rows, name);
        if (row == SIZE_MAX && table < ROWS_RECORDS)
            missing = name;
        else if (row != SIZE_MAX && table < ROWS_RECORDS)
            there = name;
        if (row != SIZE_MAX && mariadb_answer_int(rows, row, 1) == 0)
            return retry(session, slice_of(name), "has no primary key", err);
    }
    *are_there = missing == NULL;
    if (missing != NULL && there != NULL)
        return retry(session, slice_of(missing), "is missing", err);
    return SERVER_OK;
}

static enum server_outcome check_tables(struct mariadb_session *session, bool *are_there,
                                        uint64_t deadline_us, struct err *err)
{
    struct mariadb_rows rows = {0};
    enum server_outcome outcome = mariadb_ask(session, SLICE_LIT(TABLES), &rows, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = check_listed(session, &rows, are_there, err);
    mariadb_rows_free(&rows);
    return outcome;
}

static enum server_outcome check_rows(struct mariadb_session *session, uint64_t deadline_us,
                                      struct err *err)
{
    struct mariadb_rows rows = {0};
    enum server_outcome outcome = mariadb_ask(session, SLICE_LIT(WITHOUT), &rows, deadline_us, err);
    struct slice table = outcome == SERVER_OK ? mariadb_rows_bytes(&rows, 0, 0) : (struct slice){0};
    if (table.data != NULL)
        outcome = retry(session, table, "is empty, and others refer to it", err);
    mariadb_rows_free(&rows);
    return outcome;
}

enum server_outcome mariadb_restoring_check(struct server_session *base, uint64_t deadline_us,
                                            struct err *err)
{
    struct mariadb_session *session = mariadb_session_of(base);
    bool are_there = false;
    enum server_outcome outcome = check_tables(session, &are_there, deadline_us, err);
    return outcome == SERVER_OK && are_there ? check_rows(session, deadline_us, err) : outcome;
}
