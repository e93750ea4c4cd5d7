/* Whether equal texts are the same for the database and for memory. */
#ifndef BERTH_STORE_POSTGRES_REPORT_COLLATION_H
#define BERTH_STORE_POSTGRES_REPORT_COLLATION_H

#include "store/postgres/session/session.h"

/* Refuses a database with a collation for which different texts can be equal, in a column of
 * upstream's tables that has a text. One query. */
bool pg_collation_check(struct pg_session *session, uint64_t deadline_us,
                        struct err *err) BERTH_MUST_CHECK;

#endif
