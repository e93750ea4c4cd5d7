/* Compares the information schema with a description of the tables, and makes statements from the
 * difference: a user without the right to create tables can serve a database in which none is
 * missing, and no statement waits for a metadata lock, or stops a Galera cluster, as even CREATE
 * TABLE IF NOT EXISTS would.
 *
 * Identifiers are compared here and not by the server, whose products have other collations for
 * them. Unique texts are binary, because the collations that do not ignore trailing spaces have
 * different names. JSON is text: MySQL's type would reorder it. One thread at a time. */
#include "store/mariadb/schema/own_tables.h"

#include <stdarg.h>

#include "base/buf.h"
#include "store/mariadb/log/locks.h"
#include "store/record_tables.h"

enum { KEY_NAME_MOST = 64 };

struct mariadb_own_column {
    const char *name;
    const char *type; /* with NOT NULL, unless an older berth may have created the table without
                         the column */
    bool is_unique;
};

struct mariadb_own_table {
    const char *name;
    const struct mariadb_own_column *columns; /* the first is the primary key */
    size_t count;
};

#define AUTOMATIC "BIGINT NOT NULL AUTO_INCREMENT"
#define INSTANT   "DATETIME(6) NOT NULL"

/* One row per batch, only ever inserted: row n + 1 contains the digest of row n. */
static const struct mariadb_own_column log_columns[] = {
    {"number", "BIGINT NOT NULL", false},
    {"mark", "VARBINARY(16) NOT NULL", false},   /* finds a batch whose COMMIT was not answered */
    {"digest", "VARBINARY(16) NOT NULL", false}, /* of the row before */
    {"written_at", INSTANT, false},
    {"entries", "LONGBLOB NOT NULL", false}, /* the entities that the batch changed (store/log.h) */
};

/* Each time the log was found to be other than remembered. */
static const struct mariadb_own_column epoch_columns[] = {
    {"epoch", "BIGINT NOT NULL", false},
    {"number", "BIGINT NOT NULL", false}, /* of the log's row with which it begins */
    {"began_at", INSTANT, false},
    {"reason", "VARCHAR(1000) NOT NULL", false},
};

/* The instances, each of which writes its row once a minute. */
static const struct mariadb_own_column instance_columns[] = {
    {"instance", "VARCHAR(36) NOT NULL", false}, /* a uuid, new at each start */
    {"host", "TEXT NOT NULL", false},
    {"pid", "INTEGER NOT NULL", false},
    {"version", "TEXT NOT NULL", false},
    {"node", "VARCHAR(255) NOT NULL DEFAULT ''", false}, /* of Galera, through which it writes */
    {"first_seen", INSTANT, false},
    {"last_seen", INSTANT, false},
    {"followed", "BIGINT NOT NULL", false}, /* the number of the log's row that it has followed */
};

/* What optional triggers on upstream's tables insert. */
static const struct mariadb_own_column foreign_columns[] = {
    {"id", AUTOMATIC, false},
    {"entity", "VARCHAR(20) NOT NULL", false},
    {"entity_id", "BIGINT NOT NULL", false}, /* 0: it is only known by the uuid */
    {"consumer_uuid", "VARCHAR(255) NOT NULL", false},
};

/* A row that one transaction at a time holds: a lock that ends with it, also on each Galera
 * node. */
static const struct mariadb_own_column lock_columns[] = {
    {"name", "VARCHAR(20) NOT NULL", false},
};

#define FIXED(name, columns)                                                                       \
    {                                                                                              \
        (name), (columns), sizeof(columns) / sizeof((columns)[0])                                  \
    }
static const struct mariadb_own_table fixed_own_tables[] = {
    FIXED("berth_log", log_columns),
    FIXED("berth_epochs", epoch_columns),
    FIXED("berth_instances", instance_columns),
    FIXED("berth_foreign", foreign_columns),
    FIXED(MARIADB_LOCKS_TABLE, lock_columns),
};
enum { FIXED_OWN_TABLES = sizeof(fixed_own_tables) / sizeof(fixed_own_tables[0]) };

static const char *type_of_own_field(const struct record_field *field)
{
    static const char *const types[] = {
        [RECORD_TEXT] = "LONGTEXT", [RECORD_BOOL] = "TINYINT",   [RECORD_TIME] = "DATETIME(6)",
        [RECORD_JSON] = "LONGTEXT", [RECORD_WORDS] = "LONGTEXT", [RECORD_REFERENCE] = "BIGINT",
    };
    check(field->kind < sizeof(types) / sizeof(types[0]));
    if (field->kind == RECORD_TEXT && (field->flags & RECORD_UNIQUE) != 0)
        return "VARBINARY(1020)"; /* 255 characters */
    return types[field->kind];
}

/* `columns` has room for RECORD_FIELDS_MAX + 1. */
static struct mariadb_own_table describe_own(const struct record_table_info *info,
                                             struct mariadb_own_column *columns)
{
    const struct record_shape *shape = info->shape;
    columns[0] = (struct mariadb_own_column){"id", AUTOMATIC, false};
    for (unsigned i = 0; i < shape->stored; i++)
        columns[i + 1] =
            (struct mariadb_own_column){shape->fields[i].name, type_of_own_field(&shape->fields[i]),
                                        (shape->fields[i].flags & RECORD_UNIQUE) != 0};
    return (struct mariadb_own_table){info->name, columns, shape->stored + 1U};
}

/* ---- what the database has ---- */

#define OF_OWN_TABLES "WHERE TABLE_SCHEMA = DATABASE() AND LEFT(TABLE_NAME, 6) = 'berth_'"
static const char OWN_NAMES[] =
    "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS " OF_OWN_TABLES ";"
    "SELECT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS " OF_OWN_TABLES
    " AND NON_UNIQUE = 0";
enum { OWN_COLUMNS, OWN_KEYS, OWN_RESULTS };

/* The table's column or key of that name; without data: any. */
static bool has_own_name(const struct mariadb_rows *names, const char *table, struct slice name)
{
    for (size_t i = 0; i < mariadb_rows_count(names); i++)
        if (slice_equal_nocase(mariadb_rows_bytes(names, i, 0), slice_of(table)) &&
            (name.data == NULL || slice_equal_nocase(mariadb_rows_bytes(names, i, 1), name)))
            return true;
    return false;
}

static const struct slice ANY_NAME = {NULL, 0};

/* ---- statements ---- */

struct own_comparison {
    struct mariadb_rows names[OWN_RESULTS];
    struct arena *arena;
    struct mariadb_own_statements *statements;
};

static void append_own_statement(struct own_comparison *c, const char *format, ...)
    BERTH_PRINTF(2, 3);

static void append_own_statement(struct own_comparison *c, const char *format, ...)
{
    struct mariadb_own_statements *all = c->statements;
    va_list args;
    all->sql = arena_grow(c->arena, all->sql, all->count, &all->capacity, sizeof(*all->sql));
    va_start(args, format);
    all->sql[all->count++] = arena_vprintf(c->arena, format, args).data;
    va_end(args);
}

static struct slice own_key_name(struct own_comparison *c, const struct mariadb_own_table *table,
                                 const struct mariadb_own_column *column)
{
    struct slice name = arena_printf(c->arena, "%s_%s", table->name, column->name);
    check(name.len <= KEY_NAME_MOST);
    return name;
}

static void create_own(struct own_comparison *c, const struct mariadb_own_table *table)
{
    struct buf sql = {0};
    buf_printf(&sql, "CREATE TABLE %s (", table->name);
    for (size_t i = 0; i < table->count; i++)
        buf_printf(&sql, "`%s` %s, ", table->columns[i].name, table->columns[i].type);
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].is_unique)
            buf_printf(&sql, "UNIQUE KEY %s (`%s`), ",
                       own_key_name(c, table, &table->columns[i]).data, table->columns[i].name);
    buf_printf(&sql,
               "PRIMARY KEY (`%s`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
               table->columns[0].name);
    append_own_statement(c, "%.*s", SLICE_ARG(buf_slice(&sql)));
    buf_free(&sql);
}

static void complete_own(struct own_comparison *c, const struct mariadb_own_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct mariadb_own_column *column = &table->columns[i];
        if (!has_own_name(&c->names[OWN_COLUMNS], table->name, slice_of(column->name)))
            append_own_statement(c, "ALTER TABLE %s ADD COLUMN `%s` %s", table->name, column->name,
                                 column->type);
        if (!column->is_unique)
            continue;
        struct slice name = own_key_name(c, table, column);
        if (!has_own_name(&c->names[OWN_KEYS], table->name, name))
            append_own_statement(c, "ALTER TABLE %s ADD UNIQUE KEY %s (`%s`)", table->name,
                                 name.data, column->name);
    }
}

static void compare_own(struct own_comparison *c, const struct mariadb_own_table *table)
{
    if (has_own_name(&c->names[OWN_COLUMNS], table->name, ANY_NAME))
        complete_own(c, table);
    else
        create_own(c, table);
}

static void compare_all_own(struct own_comparison *c)
{
    for (size_t i = 0; i < FIXED_OWN_TABLES; i++)
        compare_own(c, &fixed_own_tables[i]);
    for (size_t i = 0; i < RECORD_TABLE_COUNT; i++) {
        struct mariadb_own_column columns[RECORD_FIELDS_MAX + 1];
        struct mariadb_own_table table = describe_own(&record_tables[i], columns);
        compare_own(c, &table);
    }
}

/* A table that is created gets its row with it. */
static enum server_outcome compare_lock_rows(struct own_comparison *c,
                                             struct mariadb_session *session, uint64_t deadline_us,
                                             struct err *err)
{
    struct mariadb_text text = {.sql = SLICE_LIT("SELECT name FROM " MARIADB_LOCKS_TABLE
                                                 " WHERE name = '" MARIADB_LOCK_BATCHES "'"),
                                .statements = 1,
                                .what = "read"};
    struct mariadb_rows rows = {0};
    enum server_outcome outcome = SERVER_OK;
    if (has_own_name(&c->names[OWN_COLUMNS], MARIADB_LOCKS_TABLE, ANY_NAME))
        outcome = mariadb_session_execute(session, &text, &rows, 1, NULL, deadline_us, err);
    if (outcome == SERVER_OK && mariadb_rows_count(&rows) == 0)
        append_own_statement(c, "%s",
                             "INSERT INTO " MARIADB_LOCKS_TABLE
                             " (name) VALUES ('" MARIADB_LOCK_BATCHES "')");
    mariadb_rows_free(&rows);
    return outcome;
}

enum server_outcome mariadb_own_tables_compare(struct mariadb_session *session, struct arena *arena,
                                               struct mariadb_own_statements *statements,
                                               uint64_t deadline_us, struct err *err)
{
    struct mariadb_text text = {
        .sql = SLICE_LIT(OWN_NAMES), .statements = OWN_RESULTS, .what = "read"};
    struct own_comparison c = {.arena = arena, .statements = statements};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, c.names, OWN_RESULTS, NULL, deadline_us, err);
    if (outcome == SERVER_OK) {
        compare_all_own(&c);
        outcome = compare_lock_rows(&c, session, deadline_us, err);
    }
    for (size_t i = 0; i < OWN_RESULTS; i++)
        mariadb_rows_free(&c.names[i]);
    return outcome;
}
