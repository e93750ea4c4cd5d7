/* Upstream's migrations, and what its tool refuses. A refusal is one line that says what to do. The
 * caller's transaction keeps a database at one revision or at another; without one, the revision is
 * written last, and a sync that was broken off is repeated from where it began. One thread at a
 * time. */
#include "store/migration.h"

#include <stdio.h>

#include "log/log.h"

static bool execute_all(const struct migration *migration, const char *const *statements,
                        struct err *err)
{
    for (; *statements != NULL; statements++)
        if (!migration->execute(migration->cls, *statements, err))
            return false;
    return true;
}

static bool count_rows(const struct migration *migration, const char *sql, int64_t *rows,
                       struct err *err)
{
    *rows = 0;
    return migration->query_int(migration->cls, sql, rows, err);
}

bool migration_read_revision(const struct migration *migration,
                             char text[static STORE_REVISION_BYTES], struct err *err)
{
    int64_t tables;
    int64_t rows = 0;
    text[0] = '\0';
    if (!count_rows(migration, migration->texts->count_version_tables, &tables, err))
        return false;
    if (tables == 0)
        return true;
    if (!migration->query_text(migration->cls, "SELECT version_num FROM alembic_version", text,
                               &rows, err))
        return false;
    if (rows > 1)
        return err_set(err, 503, NULL, "the database '%.*s' has more than one schema revision",
                       SLICE_ARG(migration->database));
    return true;
}

static bool make_version_table(const struct migration *migration, struct err *err)
{
    int64_t tables;
    return count_rows(migration, migration->texts->count_version_tables, &tables, err) &&
           (tables > 0 || execute_all(migration, migration->texts->create_version_table, err));
}

static bool execute_unless_null(const struct migration *migration, const char *sql, struct err *err)
{
    return sql == NULL || migration->execute(migration->cls, sql, err);
}

static bool write_revision(const struct migration *migration, const char *revision, struct err *err)
{
    const struct migration_texts *texts = migration->texts;
    char sql[96];
    if (revision != NULL)
        snprintf(sql, sizeof(sql), "INSERT INTO alembic_version (version_num) VALUES ('%s')",
                 revision);
    return make_version_table(migration, err) &&
           execute_unless_null(migration, texts->begin_revision, err) &&
           migration->execute(migration->cls, "DELETE FROM alembic_version", err) &&
           execute_unless_null(migration, revision == NULL ? NULL : sql, err) &&
           execute_unless_null(migration, texts->end_revision, err);
}

/* The revision with that text, as a number; -1 for one that is not upstream's. */
static int revision_of(const char *text)
{
    struct slice id = slice_of(text);
    return id.len == SCHEMA_REVISION_LEN ? schema_revision_find(id) : -1;
}

/* The lines and the logger of Alembic, with which the Python service's tool migrates. */
#define MIGRATION_LOGGER "alembic.runtime.migration"

static bool refuse_if_any(const struct migration *migration, const char *sql, const char *line,
                          struct err *err)
{
    int64_t rows;
    if (!count_rows(migration, sql, &rows, err))
        return false;
    if (rows == 0)
        return true;
    return err_set(err, 503, NULL, "the database '%.*s' cannot be upgraded: %s",
                   SLICE_ARG(migration->database), line);
}

static bool upgrade_step(const struct migration *migration, enum schema_revision to,
                         struct err *err)
{
    switch (to) {
    case SCHEMA_ROOTS_REQUIRED:
        return refuse_if_any(
            migration, "SELECT count(*) FROM resource_providers WHERE root_provider_id IS NULL",
            "a resource provider lacks its root provider id; run "
            "\"placement-manage db online_data_migrations\" first",
            err);
    case SCHEMA_CONSUMERS_NEEDED:
        return refuse_if_any(migration,
                             "SELECT count(*) FROM allocations a LEFT JOIN consumers c"
                             " ON a.consumer_id = c.uuid WHERE c.id IS NULL",
                             "an allocation lacks its consumer; run "
                             "\"placement-manage db online_data_migrations\" first",
                             err);
    case SCHEMA_CONSUMER_TYPES:
        return execute_all(migration, migration->texts->add_consumer_types, err);
    case SCHEMA_INDEXES_DROPPED:
        return execute_all(migration, migration->texts->drop_indexes, err);
    case SCHEMA_INITIAL:
    case SCHEMA_REVISION_COUNT:
        break;
    }
    check(false);
}

static bool create_schema(const struct migration *migration, struct err *err)
{
    int64_t tables;
    if (!count_rows(migration, migration->texts->count_upstream_tables, &tables, err))
        return false;
    if (tables > 0)
        return err_set(
            err, 503, NULL,
            "the database '%.*s' has tables but no schema revision: stamp it with its revision",
            SLICE_ARG(migration->database));
    /* The version table comes first, as in upstream's tool. */
    if (!make_version_table(migration, err))
        return false;
    log_write(LOG_LEVEL_INFO, MIGRATION_LOGGER, LOG_NO_CONTEXT, "Creating the schema at %s",
              schema_revision_ids[SCHEMA_NEWEST]);
    return execute_all(migration, migration->texts->create_newest, err) &&
           write_revision(migration, schema_revision_ids[SCHEMA_NEWEST], err);
}

static bool refuse_unfinished(const struct migration *migration, struct err *err)
{
    return err_set(err, 503, NULL,
                   "the database '%.*s' has an unfinished copy: run \"placement-manage db copy\" "
                   "again",
                   SLICE_ARG(migration->database));
}

static bool refuse_unknown(const struct migration *migration, const char *revision, struct err *err)
{
    if (schema_is_unfinished_copy(revision))
        return refuse_unfinished(migration, err);
    return err_set(err, 503, NULL,
                   "the database '%.*s' is at schema revision %s, which this version does not know",
                   SLICE_ARG(migration->database), revision);
}

bool migration_sync(const struct migration *migration, struct err *err)
{
    char text[STORE_REVISION_BYTES];
    if (!migration_read_revision(migration, text, err))
        return false;
    if (text[0] == '\0')
        return create_schema(migration, err);
    int revision = revision_of(text);
    if (revision < 0)
        return refuse_unknown(migration, text, err);
    if (revision == SCHEMA_NEWEST)
        return true;
    for (int to = revision + 1; to <= SCHEMA_NEWEST; to++) {
        log_write(LOG_LEVEL_INFO, MIGRATION_LOGGER, LOG_NO_CONTEXT, "Running upgrade %s -> %s",
                  schema_revision_ids[to - 1], schema_revision_ids[to]);
        if (!upgrade_step(migration, (enum schema_revision)to, err))
            return false;
    }
    return write_revision(migration, schema_revision_ids[SCHEMA_NEWEST], err);
}

bool migration_check_served(const struct migration *migration,
                            char text[static STORE_REVISION_BYTES], struct err *err)
{
    if (!migration_read_revision(migration, text, err))
        return false;
    if (text[0] == '\0')
        return err_set(
            err, 503, NULL,
            "the database '%.*s' has no schema: run \"placement-manage db sync\", or set "
            "[placement_database] sync_on_startup",
            SLICE_ARG(migration->database));
    int revision = revision_of(text);
    if (revision < 0)
        return refuse_unknown(migration, text, err);
    if (revision < SCHEMA_OLDEST_SERVED)
        return err_set(err, 503, NULL,
                       "the database '%.*s' is at the old schema revision %s: run "
                       "\"placement-manage db sync\", or set [placement_database] sync_on_startup",
                       SLICE_ARG(migration->database), text);
    return true;
}

/* A stamp also replaces several revisions. */
static bool count_marks(const struct migration *migration, int64_t *marks, struct err *err)
{
    int64_t tables;
    *marks = 0;
    return count_rows(migration, migration->texts->count_version_tables, &tables, err) &&
           (tables == 0 || count_rows(migration,
                                      "SELECT count(*) FROM alembic_version WHERE version_num LIKE"
                                      " '" SCHEMA_UNFINISHED_COPY "%'",
                                      marks, err));
}

bool migration_stamp(const struct migration *migration, struct slice revision, struct err *err)
{
    int64_t marks;
    if (!count_marks(migration, &marks, err))
        return false;
    if (marks > 0)
        return refuse_unfinished(migration, err);
    if (slice_equal(revision, SLICE_LIT("base")))
        return write_revision(migration, NULL, err);
    int to = schema_revision_find(revision);
    if (to < 0)
        return err_set(err, 503, NULL, "there is no schema revision '%.*s'", SLICE_ARG(revision));
    int64_t tables;
    if (!count_rows(migration, migration->texts->count_upstream_tables, &tables, err))
        return false;
    if (tables > 0 && to < SCHEMA_INDEXES_DROPPED &&
        !execute_all(migration, migration->texts->restore_indexes, err))
        return false;
    return write_revision(migration, schema_revision_ids[to], err);
}
