/* What the store asks a server, and what the server answers, whatever its language. */
#ifndef BERTH_STORE_SERVER_ANSWERS_H
#define BERTH_STORE_SERVER_ANSWERS_H

#include "store/server/epochs.h"
#include "store/server/foreign_view.h"
#include "store/server/log_rows.h"

/* The log's rows from a number on. */
struct log_range {
    int64_t from;
    int64_t most; /* so many of them */
};

/* With a snapshot. */
struct snapshot_question {
    struct log_range since;
    const struct foreign_view *view; /* notes after it are asked for; NULL: none are */
    bool is_view_of_server;          /* otherwise all notes are new */
};

/* All zero: none. */
struct snapshot_answer {
    struct log_newest newest;
    struct epoch_rows epochs;
    struct log_rows since;
    struct foreign_notes notes;
};

void snapshot_answer_free(struct snapshot_answer *answer);

/* What a load has to know of its snapshot. */
struct snapshot_look {
    int64_t horizon; /* of transactions: rows of those below are read */
    bool coexists;   /* triggers note what programs without a log write */
    char *view;      /* that contains all of their notes; from malloc; NULL: not known */
};

/* What is read with the lock of batches. All zero: nothing. */
struct locked_news {
    bool is_there;
    struct log_rows since;
    int64_t epoch; /* the newest; 0: there is none */
};

void locked_news_free(struct locked_news *news);

#endif
