/* The query for the newest state of a database: what it asks, and what its answer says. The thread
 * of its session. */
#ifndef BERTH_STORE_SERVER_QUESTION_H
#define BERTH_STORE_SERVER_QUESTION_H

#include "store/server/foreign_view.h"
#include "store/server/log_rows.h"
#include "store/store.h"

/* What memory had when the query was sent. Initialise it with zeroes. */
struct question {
    struct log_state known; /* its newest state; all zero: none */
    int64_t seen;  /* the highest number in an answer so far, also if memory does not have it yet */
    bool coexists; /* notes of other programs' writes are looked for, after this view */
    struct foreign_view foreign;
    bool is_view_of_server; /* otherwise all notes are new */
    bool is_promoted;       /* the view is one of another cluster, or from before a promotion */
};

/* All zero: none. */
struct question_answer {
    struct log_newest newest;
    bool has_notes; /* new ones; false if they were not asked for */
};

/* It is about to be sent to that server. */
void question_begin(struct question *question, const struct server_id *server);

/* The state in the answer, and its stamp: one that nobody has, so that the writer looks, if the
 * database went back, or if what other programs have written is new or may be gone. False: the
 * answer does not tell, as that of a standby. */
bool question_state(const struct question *question, const struct question_answer *answer,
                    struct log_state *state, struct store_stamp *stamp) BERTH_MUST_CHECK;

void question_free(struct question *question);

#endif
