/* See foreign_row.h. */
#include "store/server/foreign_row.h"

#include <unistd.h>

static void foreign_row_name(struct buf *entries, const struct foreign_notes *notes)
{
    if (notes == NULL || notes->is_everything) {
        log_append_entry(entries, &(struct log_entry){.kind = LOG_EVERYTHING});
        return;
    }
    for (size_t i = 0; i < notes->entries.count; i++)
        log_append_entry(entries, &notes->entries.data[i]);
}

bool foreign_row_make(struct foreign_row *row, const struct log_newest *newest,
                      const struct foreign_notes *notes, struct slice target, struct err *err)
{
    *row = (struct foreign_row){0};
    if (log_newest_state(newest, NULL, &row->before) != LOG_FOUND_STATE ||
        getentropy(row->mark, sizeof(row->mark)) != 0)
        return err_set(err, 503, NULL, "the log of the database '%.*s' cannot be continued",
                       SLICE_ARG(target));
    foreign_row_name(&row->entries, notes);
    row->row = (struct log_row){
        .number = row->before.number + 1,
        .mark = {(const char *)row->mark, sizeof(row->mark)},
        .before = {(const char *)row->before.digest, sizeof(row->before.digest)},
        .entries = buf_slice(&row->entries),
    };
    return true;
}

void foreign_row_free(struct foreign_row *row)
{
    buf_free(&row->entries);
}
