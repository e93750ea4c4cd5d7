/* What a server says about itself, as far as any user may read it. */
#ifndef BERTH_STORE_POSTGRES_REPORT_FACTS_H
#define BERTH_STORE_POSTGRES_REPORT_FACTS_H

#include "store/postgres/session/session.h"
#include "store/store.h"

/* Asks the server of the session, which is open. False: it has not answered, and `facts` is as
 * before. Fills everything but seen_us. */
bool pg_facts_read(struct pg_session *session, struct store_server *facts, uint64_t deadline_us,
                   struct err *err) BERTH_MUST_CHECK;

#endif
