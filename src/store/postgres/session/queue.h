/* The answers that a server owes to a session. */
#ifndef BERTH_STORE_POSTGRES_SESSION_QUEUE_H
#define BERTH_STORE_POSTGRES_SESSION_QUEUE_H

#include "store/postgres/session/session_state.h"

void pg_queue_append(struct pg_queue *queue, struct pg_entry entry);

/* Whether an answer that has not been read prepares the statement with this hash. */
bool pg_queue_prepares(const struct pg_queue *queue, uint64_t hash);

#endif
