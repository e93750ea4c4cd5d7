/* See foreign_ids.h. */
#include "store/mariadb/foreign/foreign_ids.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/check.h"

/* Fewer are shorter one by one. */
enum { RUN_LEAST = 4, PIECE_BYTES_MOST = 64 };

static void append_piece(struct mariadb_foreign_ids *ids, int64_t first, int64_t last, int64_t step)
{
    if (ids->text.len + PIECE_BYTES_MOST > MARIADB_FOREIGN_IDS_BYTES_MOST)
        return;
    if (ids->text.len > 0)
        buf_append_char(&ids->text, ',');
    buf_append_int(&ids->text, first);
    if (first != last)
        buf_printf(&ids->text, "-%lld/%lld", (long long)last, (long long)step);
}

/* All ids of the run but its last `kept` ones. */
static void append_run(struct mariadb_foreign_ids *ids, unsigned kept)
{
    if (ids->run >= RUN_LEAST) {
        append_piece(ids, ids->first, ids->last, ids->step);
        return;
    }
    for (unsigned i = 0; i + kept < ids->run; i++) {
        int64_t id = ids->first + (int64_t)i * ids->step;
        append_piece(ids, id, id, 0);
    }
}

static void begin_run(struct mariadb_foreign_ids *ids, int64_t id)
{
    ids->first = ids->last = id;
    ids->step = 0;
    ids->run = 1;
}

/* The last id of a run that is too short may begin a longer one. */
void mariadb_foreign_ids_add(struct mariadb_foreign_ids *ids, int64_t id)
{
    check(ids->run == 0 || id > ids->last);
    if (ids->run > 1 && id - ids->last != ids->step) {
        bool is_written = ids->run >= RUN_LEAST;
        int64_t last = ids->last;
        append_run(ids, 1);
        begin_run(ids, is_written ? id : last);
        if (is_written)
            return;
    }
    if (ids->run == 0) {
        begin_run(ids, id);
        return;
    }
    ids->step = id - ids->last;
    ids->last = id;
    ids->run++;
}

char *mariadb_foreign_ids_end(struct mariadb_foreign_ids *ids)
{
    append_run(ids, 0);
    char *text = slice_dup(buf_slice(&ids->text));
    buf_free(&ids->text);
    *ids = (struct mariadb_foreign_ids){0};
    return text;
}

/* ---- conditions ---- */

struct piece {
    int64_t first, last, step;
};

/* A positive number, behind which `text` then is. */
static bool foreign_ids_take_number(const char **text, int64_t *number)
{
    char *end;
    if (**text < '1' || **text > '9')
        return false;
    *number = strtoll(*text, &end, 10);
    *text = end;
    return true;
}

/* False: there is none, which at the end of the text is right. */
static bool take_piece(const char **text, struct piece *piece)
{
    if (!foreign_ids_take_number(text, &piece->first))
        return false;
    piece->last = piece->first;
    piece->step = 0;
    if (**text == '-') {
        ++*text;
        if (!foreign_ids_take_number(text, &piece->last) || **text != '/')
            return false;
        ++*text;
        if (!foreign_ids_take_number(text, &piece->step) || piece->last < piece->first)
            return false;
    }
    if (**text == ',')
        ++*text;
    return true;
}

static bool is_view(const char *text)
{
    struct piece piece;
    while (*text != '\0')
        if (!take_piece(&text, &piece))
            return false;
    return true;
}

static void append_singles(const char *text, struct buf *sql)
{
    struct piece piece;
    const char *before = " AND id NOT IN (";
    while (take_piece(&text, &piece)) {
        if (piece.first != piece.last)
            continue;
        buf_printf(sql, "%s%lld", before, (long long)piece.first);
        before = ",";
    }
    if (*before == ',')
        buf_append_char(sql, ')');
}

static void append_ranges(const char *text, struct buf *sql)
{
    struct piece piece;
    while (take_piece(&text, &piece))
        if (piece.first != piece.last)
            buf_printf(sql, " AND NOT (id BETWEEN %lld AND %lld AND (id - %lld) %% %lld = 0)",
                       (long long)piece.first, (long long)piece.last, (long long)piece.first,
                       (long long)piece.step);
}

void mariadb_foreign_ids_condition(const char *text, struct buf *sql)
{
    buf_append_lit(sql, "TRUE");
    if (text == NULL || !is_view(text))
        return;
    append_singles(text, sql);
    append_ranges(text, sql);
}
