/* How far the ids of upstream's tables have been used up.
 *
 * They are 32 bits wide and come from sequences. At the end, nextval() fails with SQLSTATE 2200H;
 * an id above PG_ID_MOST that a program chooses itself fails with 22003. A block of ids that does
 * not fit before the end fails as a whole, and uses up the rest: sequences do not take part in
 * transactions. berth's own tables have ids of 64 bits. */
#ifndef BERTH_STORE_POSTGRES_REPORT_ID_FIGURES_H
#define BERTH_STORE_POSTGRES_REPORT_ID_FIGURES_H

#include <stdint.h>

#include "base/err.h"
#include "store/postgres/session/session.h"

enum { PG_ID_TABLES = 10, PG_ID_MOST = INT32_MAX };

struct pg_id_figure {
    const char *table;
    bool has_sequence;
    int64_t handed_out; /* the last id from the sequence; 0: none yet, or no sequence */
    int64_t largest;    /* of the rows; 0: none. It is above handed_out where programs choose ids
                           themselves, as for resource classes */
};

/* Fills in a figure for each table that has ids, in alphabetical order. Two index look-ups for
 * each. */
enum server_outcome pg_id_figures_read(struct pg_session *session,
                                       struct pg_id_figure figures[static PG_ID_TABLES],
                                       uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

#endif
