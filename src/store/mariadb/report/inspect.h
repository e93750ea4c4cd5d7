/* Makes a report (store/report.h) on the database of a session. */
#ifndef BERTH_STORE_MARIADB_REPORT_INSPECT_H
#define BERTH_STORE_MARIADB_REPORT_INSPECT_H

#include "store/mariadb/session/session.h"
#include "store/report.h"

/* On a connected session without a transaction. It only reads, and needs no rights: what an
 * ordinary user may not see is left out. `own` is the name of the instance; NULL: none. SERVER_OK:
 * the report is filled. After a failure the session may be in a transaction. */
enum server_outcome mariadb_inspect(struct server_session *session, const char *own,
                                    struct arena *arena, struct store_report *report,
                                    uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

/* The same on a connection of its own. False: err is set. */
bool mariadb_inspect_connection(struct slice connection, struct arena *arena,
                                struct store_report *report, struct err *err) BERTH_MUST_CHECK;

#endif
