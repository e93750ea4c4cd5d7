/* How far the ids of upstream's tables have been used up.
 *
 * They are 32 bits wide. After the last one, an INSERT that needs a new one fails with 167 or 1467
 * (or 1062, if the last one is taken). berth's own tables have ids of 64 bits. */
#ifndef BERTH_STORE_MARIADB_REPORT_ID_FIGURES_H
#define BERTH_STORE_MARIADB_REPORT_ID_FIGURES_H

#include "store/mariadb/session/session.h"
#include "store/report.h"

enum { MARIADB_ID_TABLES = 10 };

/* Fills in a figure for each table that has ids, in alphabetical order: the largest id that a row
 * has, or that was handed out. All tables must be there. */
enum server_outcome mariadb_id_figures_read(struct mariadb_session *session,
                                            struct store_ids figures[static MARIADB_ID_TABLES],
                                            uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

#endif
