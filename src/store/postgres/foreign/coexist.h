/* The functions of store/coexist.h on a PostgreSQL server. */
#ifndef BERTH_STORE_POSTGRES_FOREIGN_COEXIST_H
#define BERTH_STORE_POSTGRES_FOREIGN_COEXIST_H

#include "store/coexist.h"

bool pg_coexist_enable(struct slice connection, struct err *err) BERTH_MUST_CHECK;
bool pg_coexist_disable(struct slice connection, struct err *err) BERTH_MUST_CHECK;
bool pg_coexist_read_status(struct slice connection, struct coexist_status *status,
                            struct err *err) BERTH_MUST_CHECK;

#endif
