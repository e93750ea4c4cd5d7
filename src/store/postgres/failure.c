/* The SQLSTATE decides what a failure means (PostgreSQL's appendix A, "Error Codes"), never the
 * message, which is translated. Messages keep the server's first line: details and hints of the
 * server may contain values. Pure; any thread. */
#include "store/postgres/failure.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/utf8.h"

enum { LINE_BYTES_MOST = 300 };

enum pg_outcome pg_failure_classify(const char *sqlstate)
{
    static const struct {
        const char *prefix;
        enum pg_outcome result;
    } known[] = {
        {"22", PG_REFUSED}, {"23", PG_REFUSED}, {"44", PG_REFUSED},
        {"54", PG_REFUSED}, {"08", PG_RETRY},   {"40", PG_RETRY},
        {"53", PG_RETRY},   {"57", PG_RETRY},   {"25006", PG_RETRY},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(sqlstate, known[i].prefix, strlen(known[i].prefix)) == 0)
            return known[i].result;
    return PG_FAILED;
}

struct slice pg_failure_line(struct arena *arena, const char *message)
{
    struct slice rest = slice_of(message);
    struct slice line = slice_cut(&rest, '\n');
    char *out = arena_alloc(arena, line.len + 4);
    size_t len = 0;
    bool is_cut = false;
    for (size_t i = 0; i < line.len && !is_cut;) {
        size_t n = utf8_length(line.data + i, line.len - i);
        is_cut = len + n > LINE_BYTES_MOST;
        if (is_cut)
            break;
        unsigned char c = (unsigned char)line.data[i];
        if (n == 0 || c < ' ' || c == 0x7f)
            out[len++] = n == 0 ? '?' : ' ';
        else
            for (size_t k = 0; k < n; k++)
                out[len++] = line.data[i + k];
        i += n == 0 ? 1 : n;
    }
    if (is_cut) {
        memcpy(out + len, "...", 3);
        len += 3;
    }
    out[len] = '\0';
    return slice_trim((struct slice){out, len});
}

enum pg_outcome pg_failure_set(enum pg_outcome result, struct slice target, const char *what,
                               struct slice reason, struct err *err)
{
    err_set(err, 503, NULL, "the database '%.*s' cannot be %s: %.*s", SLICE_ARG(target),
            what == NULL ? "used" : what, SLICE_ARG(reason));
    return result;
}

static void copy_field(char *out, size_t room, const PGresult *result, int field)
{
    const char *text = PQresultErrorField(result, field);
    snprintf(out, room, "%s", text == NULL ? "" : text);
}

void pg_failure_read(struct pg_failure *failure, const PGresult *result)
{
    *failure = (struct pg_failure){0};
    copy_field(failure->sqlstate, sizeof(failure->sqlstate), result, PG_DIAG_SQLSTATE);
    copy_field(failure->schema, sizeof(failure->schema), result, PG_DIAG_SCHEMA_NAME);
    copy_field(failure->table, sizeof(failure->table), result, PG_DIAG_TABLE_NAME);
    copy_field(failure->column, sizeof(failure->column), result, PG_DIAG_COLUMN_NAME);
    copy_field(failure->constraint, sizeof(failure->constraint), result, PG_DIAG_CONSTRAINT_NAME);
    copy_field(failure->detail, sizeof(failure->detail), result, PG_DIAG_MESSAGE_DETAIL);
}
