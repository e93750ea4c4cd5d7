/* What the store asks a server, and what the server answers, whatever its language. */
#ifndef BERTH_STORE_SERVER_ANSWERS_H
#define BERTH_STORE_SERVER_ANSWERS_H

#include "store/rows.h"
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

/* Receives a row: the position of its set or table among those asked for, and its cells, which are
 * its own to change during the call. */
typedef void server_take(void *cls, size_t at, struct cell *cells);

/* A table in which rows are looked for that were written lately. */
struct examined_table {
    enum rows_table table;
    bool is_counted;
    bool has_generations; /* its rows do */
    int64_t rows;         /* how many it has, if is_counted */
    bool has_sums;        /* the next two are known, which depends on the server alone */
    int64_t ids, generations;
};

struct examination {
    struct examined_table *tables;
    size_t count;
    int64_t since;   /* rows of transactions from this horizon on are passed; others may be, too */
    int64_t horizon; /* that of the snapshot, for the next time */
};

/* In ascending order, from malloc. */
struct row_ids {
    int64_t *at;
    size_t count;
};

/* The oldest rows of the log. */
struct log_oldest {
    int64_t last;   /* the number of the last of them; 0: there are none */
    bool are_old;   /* as many as asked for are there, each written before that time */
    int64_t newest; /* the number of the newest row of the log */
};

/* A row of an entity that has a text which is to be unique. */
struct namesake {
    int64_t id;        /* 0: it was to be inserted with it */
    unsigned field;    /* which of the texts */
    struct slice text; /* as the row has it; without data: as it was asked for */
};

/* In an arena. */
struct namesakes {
    struct namesake *at;
    size_t count;
};

/* Connections that held the lock of batches without using it, and were ended: "server process 7".
 * In an arena. */
struct stalled {
    const struct slice *names;
    size_t count;
};

#endif
