/* Asks a PostgreSQL server for the newest row of the log, on a thread and a session of its own: the
 * answer never waits for the writer, and queries that arrive together share one statement. */
#ifndef BERTH_STORE_SERVER_HEAD_H
#define BERTH_STORE_SERVER_HEAD_H

#include "store/server/question.h"
#include "store/server/session.h"
#include "store/store.h"

struct server_head;

/* The caller provides the URL, the lineage and the counts, which outlive it. Before a query, a
 * session that is recycle_us old (0: any age) is replaced. NULL: no thread can be started. */
struct server_head *server_head_create(const struct server_address *address,
                                       struct server_lineage *lineage,
                                       struct server_connection_counts *counts, uint64_t timeout_us,
                                       uint64_t recycle_us);

/* Queries are not waited for any longer, and not known. Any thread. */
void server_head_stop(struct server_head *head);

/* No query is unanswered. NULL is allowed. */
void server_head_destroy(struct server_head *head);

/* See store_query_head(). Any thread. */
void server_head_query(struct server_head *head,
                       void (*answered)(void *cls, const struct store_head *head), void *cls);

/* What memory has now, which the next query asks about. Any thread. */
void server_head_prepare(struct server_head *head, struct question *question);

/* The answer of that server to a query, and what is in it. Takes its rows, and perhaps leaves
 * others that the caller frees. Any thread. */
void server_head_note_answer(struct server_head *head, const struct question *question,
                             const struct log_state *state, const struct store_stamp *stamp,
                             const struct server_id *server, struct log_newest *newest);

/* The answer to a query that has found a new state. All zero: none. */
struct head_news {
    struct log_newest newest;
    struct store_stamp head; /* as the query was answered */
    struct server_id server; /* that has answered */
};

/* Moves the answer with which that state was found to the caller, who frees its rows. False: it is
 * no longer there, or the state is not the next one after that which memory had then. The writer
 * thread. */
bool server_head_take_news(struct server_head *head, const struct store_stamp *stamp,
                           struct head_news *news) BERTH_MUST_CHECK;

/* Memory is to have that state of the database, of which it has learnt from the server, and the
 * rows of berth_foreign before the view (NULL: as before). `is_continued`: it follows from the
 * state before; otherwise states noted before may be of another history. False: another server has
 * taken the place of this one since, and perhaps does not have the state, so memory must not
 * have it. The writer. */
bool server_head_note(struct server_head *head, const struct log_state *state,
                      const struct foreign_view *view, const struct server_id *server,
                      bool is_continued) BERTH_MUST_CHECK;

/* Memory has the rows before that view as well, because there were no more. The writer. */
void server_head_note_view(struct server_head *head, const struct foreign_view *view);

/* Whether triggers note what programs without a log write, so that each query looks whether they
 * have noted something new. Any thread. */
void server_head_set_coexists(struct server_head *head, bool coexists);
bool server_head_coexists(struct server_head *head);
/* The same, with a copy of the view that memory has, which the caller frees; false: all that is
 * copied is how often new rows have been taken in. Any thread. */
bool server_head_view(struct server_head *head, struct foreign_view *view);

/* The database has answered with a row of that number, which memory does not have yet. Any thread.
 */
void server_head_note_seen(struct server_head *head, int64_t number);

/* The highest number in an answer so far; 0: none. Any thread. */
int64_t server_head_highest(struct server_head *head);

/* A snapshot has that newest number, and was begun when `before` was the highest. The writer. */
void server_head_note_snapshot(struct server_head *head, int64_t before, int64_t number);

/* How often a snapshot has shown that rows which the database had shown before are gone. If that
 * has happened since a batch was sent, or was found to be there, the batch may be among them,
 * although the answer that tells of it is read only now: whoever published it would show reads what
 * was lost before they came. Any thread. */
uint64_t server_head_losses(struct server_head *head);

/* The number of the state noted last; 0: none. Any thread. */
int64_t server_head_newest(struct server_head *head);

/* The number in the last answer of the database; 0: none. Any thread. */
int64_t server_head_seen(struct server_head *head);

/* See store_server(). The thread asks for these facts between queries. Any thread. */
struct store_server server_head_server(struct server_head *head);

/* See store_covers(). Any thread. */
bool server_head_covers(struct server_head *head, const struct store_stamp *have,
                        const struct store_stamp *newest);

#endif
