/* What is unsafe in a server's settings, in the schema, in a user's rights, or going on there. */
#ifndef BERTH_STORE_MARIADB_REPORT_DANGERS_H
#define BERTH_STORE_MARIADB_REPORT_DANGERS_H

#include "store/mariadb/session/session.h"
#include "store/report.h"

/* The functions read inside a transaction and add warnings to the report, whose server is filled.
 */
struct mariadb_dangers {
    struct mariadb_session *session;
    struct arena *arena;
    struct store_report *report;
    uint64_t deadline_us;
};

/* Settings, the cluster, the clock, and old transactions. */
enum server_outcome mariadb_dangers_of_server(const struct mariadb_dangers *dangers,
                                              struct err *err) BERTH_MUST_CHECK;

/* The schema and the rights. *can_read: all of berth's tables are there and can be read. */
enum server_outcome mariadb_dangers_of_tables(const struct mariadb_dangers *dangers, bool *can_read,
                                              struct err *err) BERTH_MUST_CHECK;

#endif
