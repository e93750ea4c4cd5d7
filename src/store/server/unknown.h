/* Finds out what became of a batch whose COMMIT was not answered, on a thread and a connection of
 * its own, because that may take seconds. One batch at a time. The writer only. */
#ifndef BERTH_STORE_SERVER_UNKNOWN_H
#define BERTH_STORE_SERVER_UNKNOWN_H

#include "store/server/store_internal.h"

/* NULL with err if the system has no descriptor left. The store outlives it. */
struct server_unknown *server_unknown_create(struct server_store *store, struct err *err);
/* Gives up what is unknown. NULL is allowed. */
void server_unknown_destroy(struct server_unknown *unknown);

enum { UNKNOWN_RESOLVE_S = 10 }; /* for so long, in all, what became of a batch is found out */

/* `row`: the batch's, written on top of the state `before`. Both are copied. It ends at that time
 * and after the time for one answer of the server. */
void server_unknown_begin(struct server_unknown *unknown, const struct log_row *row,
                          const struct log_state *before, uint64_t deadline_us);

/* STORE_OK: the batch is committed. STORE_TAKEN: it is not, and never will be. STORE_UNKNOWN: the
 * database has not told in time, or it was given up. STORE_PENDING at that time. Any other result
 * is returned once. */
enum store_result server_unknown_wait(struct server_unknown *unknown,
                                      uint64_t until_us) BERTH_MUST_CHECK;

/* The session with which the last result was found. Not while another one is pending. */
const struct server_session *server_unknown_session(const struct server_unknown *unknown);

/* How many losses (head.h) there were when that session looked for the batch. The same. */
uint64_t server_unknown_losses(const struct server_unknown *unknown);

/* It is to end as soon as possible. */
void server_unknown_give_up(struct server_unknown *unknown);

#endif
