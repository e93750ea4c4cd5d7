/* The statements of every transaction that writes to the log. Any thread. */
#ifndef BERTH_STORE_POSTGRES_LOG_WRITE_TEXTS_H
#define BERTH_STORE_POSTGRES_LOG_WRITE_TEXTS_H

#include "store/postgres/session/statement.h"
#include "store/server/log_rows.h"

extern const char PG_BEGIN_WRITE[];

/* Takes the lock of batches until the end of the transaction. */
extern const char PG_TAKE_LOCK[];

/* Writes a row of the log. */
extern const char PG_LOG_INSERT[];
enum { PG_LOG_INSERT_PARAMETERS = 6 };
/* `before`: the state whose row must be there. */
void pg_log_insert_parameters(const struct log_row *row, const struct log_state *before,
                              struct pg_parameter parameters[static PG_LOG_INSERT_PARAMETERS]);

#endif
