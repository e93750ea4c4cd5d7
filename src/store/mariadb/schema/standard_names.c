/* As the Python service inserts them: a standard class has its position as its id, and a trait gets
 * the next one. The server takes the id 0 for "the next one", unless the SQL mode says otherwise.
 *
 * Which names are missing is decided here: a statement that compared a column with a list of texts
 * in the server would need the same collation on both sides. Names are compared as the servers'
 * usual collations do. One thread at a time. */
#include "store/mariadb/schema/standard_names.h"

#include "base/buf.h"
#include "base/clock.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/tool_session.h"
#include "store/standard.h"

enum { NAMES_OF_CLASSES, NAMES_OF_TRAITS, NAMES_RESULTS };

static bool has_standard_name(const struct mariadb_rows *names, const char *name)
{
    for (size_t i = 0; i < mariadb_rows_count(names); i++)
        if (slice_equal_nocase(mariadb_rows_bytes(names, i, 0), slice_of(name)))
            return true;
    return false;
}

/* The names consist of capitals, digits and underscores. */
static void append_name_list(struct buf *sql, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        buf_printf(sql, "%s'%s'", i == 0 ? "" : ",", names[i]);
}

static enum server_outcome read_standard_names(struct mariadb_session *session,
                                               struct mariadb_rows rows[static NAMES_RESULTS],
                                               uint64_t deadline_us, struct err *err)
{
    struct buf sql = {0};
    buf_append_lit(&sql, "SELECT name FROM resource_classes WHERE name IN (");
    append_name_list(&sql, standard_class_names, standard_class_names_count);
    buf_append_lit(&sql, "); SELECT name FROM traits WHERE name IN (");
    append_name_list(&sql, standard_trait_names, standard_trait_names_count);
    buf_append_char(&sql, ')');
    struct mariadb_text text = {
        .sql = buf_slice(&sql), .statements = NAMES_RESULTS, .what = "read"};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, rows, NAMES_RESULTS, NULL, deadline_us, err);
    buf_free(&sql);
    return outcome;
}

static bool append_missing_classes(struct buf *sql, const struct mariadb_rows *names,
                                   int64_t now_us)
{
    bool any = false;
    for (int i = 0; i < standard_class_names_count; i++) {
        if (has_standard_name(names, standard_class_names[i]))
            continue;
        buf_append_slice(
            sql, any ? SLICE_LIT(",(")
                     : SLICE_LIT("INSERT INTO resource_classes (created_at, id, name) VALUES ("));
        mariadb_literal_second(sql, now_us);
        buf_printf(sql, ",%d,'%s')", i, standard_class_names[i]);
        any = true;
    }
    return any;
}

static bool append_missing_traits(struct buf *sql, const struct mariadb_rows *names, int64_t now_us)
{
    bool any = false;
    for (int i = 0; i < standard_trait_names_count; i++) {
        if (has_standard_name(names, standard_trait_names[i]))
            continue;
        buf_append_slice(sql, any ? SLICE_LIT(",(")
                                  : SLICE_LIT("INSERT INTO traits (created_at, name) VALUES ("));
        mariadb_literal_second(sql, now_us);
        buf_printf(sql, ",'%s')", standard_trait_names[i]);
        any = true;
    }
    return any;
}

/* The text without COMMIT; empty: nothing is missing. */
static void append_missing(struct buf *sql, const struct mariadb_rows rows[static NAMES_RESULTS])
{
    int64_t now_us = clock_wall_us();
    buf_append_lit(sql, "SET SESSION sql_mode='" MARIADB_SQL_MODE ",NO_AUTO_VALUE_ON_ZERO';"
                        "START TRANSACTION;");
    bool classes = append_missing_classes(sql, &rows[NAMES_OF_CLASSES], now_us);
    if (classes)
        buf_append_char(sql, ';');
    if (!append_missing_traits(sql, &rows[NAMES_OF_TRAITS], now_us) && !classes)
        buf_free(sql);
}

static enum server_outcome insert_standard_names(struct mariadb_session *session,
                                                 const struct buf *sql, uint64_t deadline_us,
                                                 struct err *err)
{
    static const char GIVEN[] = "given its standard classes and traits";
    struct mariadb_text text = {.sql = buf_slice(sql), .what = GIVEN};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, NULL, 0, NULL, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome = mariadb_tool_commit(session, GIVEN, deadline_us, err);
    if (outcome == SERVER_OK)
        outcome =
            mariadb_session_run(session, MARIADB_STANDARD_NAMES_UNDO, GIVEN, deadline_us, err);
    return outcome;
}

enum server_outcome mariadb_standard_names_insert(struct mariadb_session *session,
                                                  uint64_t deadline_us, struct err *err)
{
    struct mariadb_rows rows[NAMES_RESULTS] = {0};
    struct buf sql = {0};
    enum server_outcome outcome = read_standard_names(session, rows, deadline_us, err);
    if (outcome == SERVER_OK) {
        append_missing(&sql, rows);
        if (sql.len > 0)
            outcome = insert_standard_names(session, &sql, deadline_us, err);
    }
    buf_free(&sql);
    for (size_t i = 0; i < NAMES_RESULTS; i++)
        mariadb_rows_free(&rows[i]);
    return outcome;
}
