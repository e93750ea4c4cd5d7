/* The query for the newest state of a PostgreSQL database: what it asks, and what its answer says.
 * The thread of its session. */
#ifndef BERTH_STORE_POSTGRES_QUESTION_H
#define BERTH_STORE_POSTGRES_QUESTION_H

#include "store/postgres/foreign_rows.h"
#include "store/postgres/log_rows.h"
#include "store/postgres/rows.h"
#include "store/postgres/statement.h"
#include "store/store.h"

/* What memory had when the query was sent. Initialise it with zeroes. */
struct question {
    struct log_state known; /* its newest state; all zero: none */
    bool coexists;          /* notes of other programs' writes are looked for, after this view */
    struct foreign_view foreign;
    bool is_promoted; /* the view is one of another cluster, or from before a promotion */
};

/* The statement; its parameters are here. It is not copied. */
struct question_statement {
    struct pg_parameter parameters[1 + FOREIGN_PARAMETERS];
    struct pg_statement statement;
};

/* Makes the statement for a session with that server, valid as long as the question. */
void question_state(struct question *question, const struct server_id *server,
                    struct question_statement *made);

/* The state in the answer, and its stamp: one that nobody has, so that the writer looks, if the
 * database went back, or if what other programs have written is new or may be gone. False: the
 * answer does not tell, as that of a standby. */
bool question_answer(const struct question *question, const struct pg_rows *rows,
                     struct log_state *state, struct store_stamp *stamp) BERTH_MUST_CHECK;

void question_free(struct question *question);

#endif
