/* Finds out what became of a batch whose COMMIT was not answered, on a thread and a connection of
 * its own, because that may take seconds. One batch at a time. The writer only. */
#ifndef BERTH_STORE_POSTGRES_UNKNOWN_H
#define BERTH_STORE_POSTGRES_UNKNOWN_H

#include "store/postgres/store_internal.h"

/* NULL with err if the system has no descriptor left. The store outlives it. */
struct postgres_unknown *postgres_unknown_create(struct postgres_store *store, struct err *err);
/* Gives up what is unknown. NULL is allowed. */
void postgres_unknown_destroy(struct postgres_unknown *unknown);

/* `row`: the batch's, written on top of the state `before`. Both are copied. */
void postgres_unknown_begin(struct postgres_unknown *unknown, const struct log_row *row,
                            const struct log_state *before);

/* STORE_OK: the batch is committed. STORE_TAKEN: it is not, and never will be. STORE_UNKNOWN: the
 * database has not told in time, or it was given up. STORE_PENDING at that time. Any other result
 * is returned once. */
enum store_result postgres_unknown_wait(struct postgres_unknown *unknown,
                                        uint64_t until_us) BERTH_MUST_CHECK;

/* The session with which the last result was found. Not while another one is pending. */
const struct pg_session *postgres_unknown_session(const struct postgres_unknown *unknown);

/* It is to end as soon as possible. */
void postgres_unknown_give_up(struct postgres_unknown *unknown);

#endif
