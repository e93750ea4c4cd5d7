/* See log_sql.h. */
#include "store/postgres/log/log_sql.h"

#include <stdlib.h>

static void free_result(void *answer)
{
    struct pg_rows rows = {.result = answer};
    pg_rows_free(&rows);
}

void pg_log_rows(struct pg_rows *result, struct log_rows *rows)
{
    size_t count = pg_rows_count(result);
    *rows = (struct log_rows){.at = calloc(count + 1, sizeof(*rows->at)),
                              .count = count,
                              .answer = result->result,
                              .free_answer = free_result};
    check(rows->at != NULL);
    for (size_t i = 0; i < count; i++) {
        struct log_row *row = &rows->at[i];
        if (!pg_rows_int(result, i, 0, &row->number))
            row->number = 0;
        row->mark = pg_rows_bytes(result, i, 1);
        row->before = pg_rows_bytes(result, i, 2);
        row->entries = pg_rows_bytes(result, i, 3);
    }
    *result = (struct pg_rows){0};
}

void pg_log_newest(struct pg_rows *result, struct log_newest *newest)
{
    enum { STANDBY_COLUMN = LOG_NEWEST_COLUMNS - 1 };
    enum { EPOCH_COLUMN = LOG_NEWEST_UNLESS_KNOWN_COLUMNS - 1 };
    int64_t is_standby = 1;
    *newest = (struct log_newest){0};
    if (!pg_rows_int(result, 0, EPOCH_COLUMN, &newest->epoch))
        newest->epoch = 0;
    bool is_empty = pg_rows_bytes(result, 0, 0).data == NULL;
    newest->is_primary = pg_rows_count(result) == 1 &&
                         pg_rows_int(result, 0, STANDBY_COLUMN, &is_standby) && is_standby == 0;
    newest->is_known = !is_empty && pg_rows_bytes(result, 0, 3).data == NULL;
    pg_log_rows(result, &newest->rows);
    if (is_empty)
        newest->rows.count = 0;
}

/* The text ends with the value, behind which may be anything. */
static int64_t log_sql_number(struct slice text)
{
    bool is_negative = text.len > 0 && text.data[0] == '-';
    int64_t number = 0;
    for (size_t i = is_negative; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        number = number * 10 + (text.data[i] - '0');
    return is_negative ? -number : number;
}

void pg_epoch_rows(struct slice text, struct epoch_rows *rows)
{
    *rows = (struct epoch_rows){0};
    while (text.len > 0) {
        struct slice row = slice_cut(&text, ',');
        struct slice epoch = slice_cut(&row, ':');
        struct slice number = slice_cut(&row, ':');
        epoch_rows_append(rows, &(struct epoch_row){log_sql_number(epoch), log_sql_number(number),
                                                    log_sql_number(row)});
    }
}
