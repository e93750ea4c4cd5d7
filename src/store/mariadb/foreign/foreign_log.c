/* See foreign_log.h. The lock keeps batches of the same server from being refused. On a cluster it
 * locks nothing elsewhere: there the number of the row decides, and of two transactions with the
 * same number the cluster refuses one (write_texts.h).
 *
 * The notes and their ids are read by one statement, and these rows are deleted by their ids, found
 * through the primary key: a note that is not committed yet is neither read nor waited for. */
#include "store/mariadb/foreign/foreign_log.h"

#include "store/mariadb/foreign/foreign_sql.h"
#include "store/mariadb/log/locks.h"
#include "store/mariadb/log/write_texts.h"
#include "store/mariadb/session/literal.h"
#include "store/mariadb/session/session_state.h"
#include "store/server/foreign_row.h"

enum { ATTEMPTS = 5, DELETED_AT_ONCE = 1000 };

/* The results of the text that begins a transaction. */
enum { OF_AUTOCOMMIT, OF_BEGIN, OF_LOCK, OF_NEWEST, OF_NOTES, OF_ALL };

static const char BEGIN[] = "SET autocommit = 0; START TRANSACTION;" MARIADB_TAKE_LOCK
                            "SELECT number, mark, digest, entries FROM berth_log ORDER BY number"
                            " DESC LIMIT 1;";

struct move {
    struct mariadb_session *session;
    struct mariadb_rows rows[OF_ALL];
    uint64_t deadline_us;
    bool is_beaten; /* another transaction has won, on a cluster one of another node */
};

static void move_end(struct move *m)
{
    for (size_t i = 0; i < OF_ALL; i++)
        mariadb_rows_free(&m->rows[i]);
}

/* The failure of a text of the transaction. */
static enum server_outcome note_failure(struct move *m, enum server_outcome outcome)
{
    enum mariadb_kind kind = mariadb_session_failure(m->session)->kind;
    m->is_beaten = (outcome == SERVER_RETRY && kind == MARIADB_CONFLICT) ||
                   (outcome != SERVER_OK && mariadb_session_is_open(m->session) &&
                    (kind == MARIADB_DUPLICATE || kind == MARIADB_NOT_FOUND));
    return outcome;
}

/* `most` notes are read; 0: none. */
static enum server_outcome move_begin(struct move *m, unsigned most, struct err *err)
{
    struct buf sql = {0};
    buf_append_lit(&sql, BEGIN);
    if (most > 0)
        mariadb_foreign_first(most, &sql);
    const struct mariadb_text text = {.sql = buf_slice(&sql), .what = "locked"};
    enum server_outcome outcome = note_failure(
        m, mariadb_session_execute(m->session, &text, m->rows, OF_ALL, NULL, m->deadline_us, err));
    buf_free(&sql);
    if (outcome != SERVER_OK || mariadb_rows_count(&m->rows[OF_LOCK]) == 1)
        return outcome;
    return server_failure_set(
        SERVER_FAILED, m->session->base.target, "locked",
        SLICE_LIT(MARIADB_LOCKS_TABLE " lacks the row '" MARIADB_LOCK_BATCHES "'"), err);
}

static bool make_row(const struct move *m, const struct foreign_notes *notes,
                     struct foreign_row *made, struct err *err)
{
    const struct mariadb_rows *rows = &m->rows[OF_NEWEST];
    struct log_row row = {.mark = mariadb_rows_bytes(rows, 0, 1),
                          .before = mariadb_rows_bytes(rows, 0, 2),
                          .entries = mariadb_rows_bytes(rows, 0, 3)};
    if (!mariadb_rows_int(rows, 0, 0, &row.number))
        row.number = 0;
    const struct log_newest newest = {.rows = {.at = &row, .count = mariadb_rows_count(rows)},
                                      .is_primary = true};
    return foreign_row_make(made, &newest, notes, m->session->base.target, err);
}

static void foreign_log_append_insert(const struct log_row *row, struct buf *sql)
{
    buf_printf(sql,
               "INSERT INTO berth_log (number, mark, digest, written_at, entries) VALUES (%lld, ",
               (long long)row->number);
    mariadb_literal_binary(sql, row->mark);
    buf_append_lit(sql, ", ");
    mariadb_literal_binary(sql, row->before);
    buf_append_lit(sql, ", UTC_TIMESTAMP(6), ");
    /* nothing, if the notes are of rows that no consumer's row makes visible */
    mariadb_literal_blob(sql, row->entries);
    buf_append_lit(sql, ");");
}

/* Of the notes from `first` on. With a list of ids (IN) the server may read the whole table instead
 * of looking them up, and wait for notes that are not committed yet. */
static void append_delete(const struct mariadb_rows *notes, size_t first, struct buf *sql)
{
    buf_append_lit(sql, "DELETE f FROM (");
    for (size_t i = first; i < mariadb_rows_count(notes) && i < first + DELETED_AT_ONCE; i++)
        buf_printf(sql, i == first ? "SELECT %s AS id" : " UNION ALL SELECT %s",
                   mariadb_rows_bytes(notes, i, 0).data);
    buf_append_lit(sql, ") v STRAIGHT_JOIN berth_foreign f FORCE INDEX (PRIMARY) ON f.id = v.id;");
}

/* The whole transaction after its begin; returns which statement is COMMIT, from 1. */
static size_t append_all(const struct move *m, const struct log_row *row, const char *also,
                         struct buf *sql)
{
    size_t statements = 1;
    foreign_log_append_insert(row, sql);
    for (size_t i = 0; i < mariadb_rows_count(&m->rows[OF_NOTES]); i += DELETED_AT_ONCE) {
        append_delete(&m->rows[OF_NOTES], i, sql);
        statements++;
    }
    if (also[0] != '\0') {
        buf_printf(sql, "%s;", also);
        statements++;
    }
    return mariadb_write_texts_commit(true, row, statements, sql);
}

/* Appends the row for these notes (NULL: everything), deletes what was read, executes `also`, and
 * commits. */
static enum server_outcome move_commit(struct move *m, const struct foreign_notes *notes,
                                       const char *also, struct err *err)
{
    struct foreign_row made;
    struct buf sql = {0};
    enum server_outcome outcome = SERVER_FAILED;
    if (make_row(m, notes, &made, err)) {
        size_t commit = append_all(m, &made.row, also, &sql);
        const struct mariadb_text text = {
            .sql = buf_slice(&sql), .commit = commit, .what = "written"};
        outcome = note_failure(
            m, mariadb_session_execute(m->session, &text, NULL, 0, NULL, m->deadline_us, err));
    }
    foreign_row_free(&made);
    buf_free(&sql);
    return outcome;
}

static enum server_outcome move_leave(struct move *m, struct err *err)
{
    return mariadb_session_rollback(m->session, "used", m->deadline_us, err);
}

/* *moved: 0: there was nothing, and nothing is written. */
static enum server_outcome move_once(struct move *m, uint64_t *moved, struct err *err)
{
    struct foreign_notes notes = {0};
    enum server_outcome outcome = move_begin(m, MARIADB_FOREIGN_MOVED_AT_ONCE, err);
    *moved = mariadb_rows_count(&m->rows[OF_NOTES]);
    if (outcome == SERVER_OK) {
        mariadb_foreign_read_first(&m->rows[OF_NOTES], &notes);
        outcome = *moved > 0 ? move_commit(m, &notes, "", err) : move_leave(m, err);
    }
    foreign_notes_free(&notes);
    move_end(m);
    return outcome;
}

/* The lock is not taken in vain. */
static enum server_outcome is_anything_waiting(struct mariadb_session *session, bool *is_there,
                                               uint64_t deadline_us, struct err *err)
{
    const struct mariadb_text text = {.sql = SLICE_LIT("SELECT id FROM berth_foreign LIMIT 1"),
                                      .what = "read"};
    struct mariadb_rows rows = {0};
    enum server_outcome outcome =
        mariadb_session_execute(session, &text, &rows, 1, NULL, deadline_us, err);
    *is_there = mariadb_rows_count(&rows) > 0;
    mariadb_rows_free(&rows);
    return outcome;
}

/* What is tried again has left no transaction behind; the last failure is told. */
static bool tries_again(struct move *m, unsigned *attempts)
{
    struct err ignored = {.arena = m->session->arena};
    return m->is_beaten && ++*attempts < ATTEMPTS && mariadb_session_is_open(m->session) &&
           move_leave(m, &ignored) == SERVER_OK;
}

enum server_outcome mariadb_foreign_log_move(struct mariadb_session *session, uint64_t *moved,
                                             uint64_t deadline_us, struct err *err)
{
    bool goes_on = false;
    unsigned attempts = 0;
    enum server_outcome outcome = is_anything_waiting(session, &goes_on, deadline_us, err);
    while (outcome == SERVER_OK && goes_on) {
        struct move m = {.session = session, .deadline_us = deadline_us};
        struct err failed = {.arena = err->arena};
        uint64_t now;
        outcome = move_once(&m, &now, &failed);
        if (outcome == SERVER_OK) {
            *moved += now;
            goes_on = now == MARIADB_FOREIGN_MOVED_AT_ONCE;
        } else if (tries_again(&m, &attempts)) {
            outcome = SERVER_OK;
        } else if (m.is_beaten && mariadb_session_is_open(session)) {
            outcome = move_leave(&m, err);
            goes_on = false;
        } else {
            err_set_text(err, failed.status, failed.code, failed.message);
        }
    }
    return outcome;
}

enum server_outcome mariadb_foreign_log_everything(struct mariadb_session *session,
                                                   const char *also, uint64_t deadline_us,
                                                   struct err *err)
{
    enum server_outcome outcome;
    unsigned attempts = 0;
    struct move m;
    struct err failed;
    do {
        m = (struct move){.session = session, .deadline_us = deadline_us};
        failed = (struct err){.arena = err->arena};
        outcome = move_begin(&m, 0, &failed);
        if (outcome == SERVER_OK)
            outcome = move_commit(&m, NULL, also, &failed);
        move_end(&m);
    } while (outcome != SERVER_OK && tries_again(&m, &attempts));
    if (outcome != SERVER_OK)
        err_set_text(err, failed.status, failed.code, failed.message);
    return outcome;
}
