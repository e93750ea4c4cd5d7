/* The database that memory stores share: the committed tables, the faults that its stores meet, and
 * the observers of a test. Zeroed apart from its options; memory_database_init() makes it usable.
 * One thread at a time. */
#ifndef BERTH_TESTS_MEMORY_DATABASE_H
#define BERTH_TESTS_MEMORY_DATABASE_H

#include "tables.h"

enum memory_fault {
    MEMORY_BEGIN_READ_FAILS,
    MEMORY_LOCK_FAILS,
    MEMORY_LOCK_HELD, /* another process has the lock */
    MEMORY_COMMIT_BEGIN_FAILS,
    MEMORY_READ_FAILS, /* a load, merge or follow fails after some of its records */
    MEMORY_APPLY_FAILS,
    MEMORY_COMMIT_FAILS,
    MEMORY_COMMIT_UNKNOWN,
    MEMORY_COMMIT_RESOLVED, /* the commit failed and was found done: STORE_OK without a stamp */
    MEMORY_COMMIT_PENDING,  /* the batch is decided later */
    MEMORY_DIES,            /* the process ends in the commit */
    MEMORY_FOREIGN_WRITE,   /* another process commits between two calls, while the store is not
                              locked */
    MEMORY_LOG_TRIMMED,     /* a follow is impossible: STORE_NEWS_RELOAD */
    MEMORY_MERGE_GIVEN_UP,  /* a merge asks for a load */
    MEMORY_QUERY_FAILS,     /* for the newest state */
    MEMORY_IDS_REUSED,      /* ids of deleted rows are given out again; strikes always or never */
    MEMORY_FAULT_COUNT
};

extern const char *const MEMORY_FAULT_NAMES[MEMORY_FAULT_COUNT];

enum { MEMORY_ALWAYS = 1000 };

struct memory_faults {
    int permille[MEMORY_FAULT_COUNT];       /* how often each strikes; MEMORY_ALWAYS: each time */
    const char *reason[MEMORY_FAULT_COUNT]; /* what the error says; NULL: a default */
};

/* What store_locks_first() says. */
enum memory_lock_order {
    MEMORY_LOCKS_FIRST,
    MEMORY_LOCKS_NEVER,
    MEMORY_LOCKS_AT_TIMES,
    MEMORY_LOCK_ORDERS
};

struct memory_database {
    struct tables tables;    /* committed */
    uint64_t commit;         /* the number of commits, by whomever */
    uint64_t foreign_commit; /* the newest one that no log names */
    int64_t highest_id[STORE_TABLE_COUNT];
    int64_t most_id;  /* the largest id that is given out; 0: there is always one more */
    int64_t least_id; /* the ids that are given out are at least that; 0: from 1 on */
    struct rng *rng;  /* draws faults. NULL: a fault with any permille strikes each time */
    struct memory_faults faults;
    enum memory_lock_order lock_order;
    bool quiet;                /* no fault strikes */
    bool reads_first;          /* what store_reads_first() says */
    bool stamps_never_current; /* so that each read asks the store */
    bool must_be_asked;        /* store_currency() is STORE_MUST_ASK: see memory_store_answer() */
    const char *cannot_hold;   /* the name of a catalog's row that does not fit; NULL: all fit */
    bool has_whole_seconds;    /* of the times in its rows */
    unsigned overtakes;        /* so many follows under the lock: others write in spite of it */
    unsigned ended_reads;      /* so many loads, merges and follows: others change the schema */
    struct {
        enum change_kind insert;
        struct slice text; /* without data: there is none */
        struct store_alike row;
    } alike;               /* a text that store_find_alike() knows */
    bool names_no_culprit; /* a refusal does not say which request it is because of */
    bool checks_loads; /* a load or merge is an error unless the news are that, and the store is not
                          locked: it takes long */

    /* All are NULL if nobody needs them, and get this cls. */
    void *cls;
    /* The database has a new committed state, by whomever. */
    void (*on_state)(void *cls, const struct memory_database *database);
    /* A commit of a store, before it is visible. */
    void (*on_commit)(void *cls, const struct tables *before, const struct tables *after);
    /* A change broke a constraint. If it returns, or is NULL, the change is refused. */
    void (*on_broken)(void *cls, const struct change *change, const char *constraint);
    /* A constraint of the test's own: STORE_OK, STORE_FAILED, or STORE_REFUSED with the text of the
     * constraint, as of tables_execute(). */
    enum store_result (*constraint)(void *cls, const struct change *change, const char **broken);
    /* MEMORY_FOREIGN_WRITE: makes a foreign commit. */
    void (*foreign_write)(void *cls, struct memory_database *database);

    /* What store_turn() says. */
    struct store_turn (*turn)(void *cls);

    struct texts texts;
};

enum { MEMORY_FIRST_CUSTOM_CLASS = 10000 };

extern const enum table MEMORY_TABLE_OF[STORE_TABLE_COUNT];

void memory_database_init(struct memory_database *database);

/* Frees its texts; all stores on it are closed. */
void memory_database_free(struct memory_database *database);

/* Makes the tables the committed state. */
void memory_database_commit(struct memory_database *database, const struct tables *tables);

/* The same for a program that writes no log: stores have to merge or load. */
void memory_database_commit_foreign(struct memory_database *database, const struct tables *tables);

/* Whether that fault strikes now. */
bool memory_database_strikes(struct memory_database *database, enum memory_fault fault);

/* An id above all in the table, and at least that one. */
int64_t memory_free_id(const struct tables *tables, enum table table, int64_t least);

#endif
