/* The row of the log into which notes of other programs' writes are moved. Pure; any thread. */
#ifndef BERTH_STORE_SERVER_FOREIGN_ROW_H
#define BERTH_STORE_SERVER_FOREIGN_ROW_H

#include "base/buf.h"
#include "base/err.h"
#include "store/server/foreign_view.h"
#include "store/server/log_rows.h"

struct foreign_row {
    struct log_row row; /* refers to the rest */
    struct log_state before;
    unsigned char mark[LOG_MARK_LEN];
    struct buf entries;
};

/* Makes the row after the newest one, which a transaction with the lock of batches has read.
 * `notes` is what it names; NULL: everybody who follows it compares all rows. False: the log has
 * another program's row (503, with the database's name). The caller frees the row, whatever comes
 * of it. */
bool foreign_row_make(struct foreign_row *row, const struct log_newest *newest,
                      const struct foreign_notes *notes, struct slice target,
                      struct err *err) BERTH_MUST_CHECK;

void foreign_row_free(struct foreign_row *row);

#endif
