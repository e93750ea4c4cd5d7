/* The second implementation of store/store.h: a database in memory that several stores share. A
 * program links either this or the database's own (store_dep).
 *
 * A store behaves as store.h says: snapshots, loads, merges and follows with the records of
 * model/change.h, locks, batches, stamps, refused changes. Nothing waits, because all stores are
 * used by one thread at a time. Calls in an order that store.h forbids end the program (check()).
 * Faults are those of memory_database.h. */
#ifndef BERTH_TESTS_MEMORY_STORE_H
#define BERTH_TESTS_MEMORY_STORE_H

#include "memory_database.h"

/* How the newest read or commit of a store ended. */
enum memory_outcome {
    MEMORY_OUTCOME_NONE,
    MEMORY_OUTCOME_OPEN,
    MEMORY_OUTCOME_DONE,
    MEMORY_OUTCOME_FAILED,
    MEMORY_OUTCOME_UNKNOWN
};

/* What the store's reader has been sent so far: the state that its memory has. */
struct memory_seen {
    struct tables tables;
    uint64_t commit;
    bool is_valid; /* false: the reader must load */
};

/* A query for the newest state, which has reached the database once it is executed. */
struct memory_query {
    void (*answered)(void *cls, const struct store_head *head); /* NULL: there is none */
    void *cls;
    bool is_executed;
    struct store_head head;
};

enum { MEMORY_QUERIES = 2 };

/* A batch that has been handed over and not decided (MEMORY_COMMIT_PENDING). */
struct memory_pending {
    bool is_there;
    struct store_batch batch;
    uint64_t plan;   /* the number of its plan */
    unsigned awaits; /* that will find it pending, unless still_pending() decides that */
    bool is_given_up;
    /* What became of it, when it has reached the database. */
    bool is_executed;
    enum store_result result;
    char reason[160]; /* of a failure that store_receive() has left to store_await() */
    uint64_t commit;  /* its number */
    struct tables tables;
};

/* Entities that an observer looks for. */
struct memory_wanted {
    enum entity entity;
    const int64_t *ids;
    size_t count;
};

/* An observer, and store_suspect(), as a test plays them; cls is the store's. */
struct memory_observer {
    bool (*suspect)(void *cls, enum entity entity, int64_t id, struct slice uuid);
    bool (*begin)(void *cls, struct store_stamp *stamp, struct err *err);
    void (*end)(void *cls);
    bool (*examine)(void *cls, const struct store_examiner *examiner, struct err *err);
    bool (*find)(void *cls, const struct memory_wanted *wanted, store_sink *sink, void *sink_cls,
                 struct err *err);
};

/* Tests may read all members, and set the hooks and the next ids. */
struct store {
    struct memory_database *database;
    struct memory_shared *shared; /* of store_open(); else NULL */
    struct memory_seen seen;
    struct tables tables; /* as the read sees them, or as the commit makes them */
    uint64_t read_commit; /* the newest commit that the read sees */
    enum store_news news;
    bool is_reading;
    bool is_locked;
    int64_t next_id[STORE_TABLE_COUNT];
    int64_t first_id[STORE_TABLE_COUNT];   /* after a commit, or after the last read */
    int64_t ids_before[STORE_TABLE_COUNT]; /* the first ones of the pending batch */
    struct memory_pending pending;
    struct store_refusal refusal;
    bool lacks_id;      /* see store_lacks_id() */
    bool does_at_once;  /* set by tests: see store_begin_at_once() */
    int descriptor;     /* the same: of pending batches; -1 after memory_store_open() */
    bool lacks_at_once; /* the same: ids */
    bool is_at_once;
    bool went_back;   /* set by tests: the next reload is STORE_NEWS_WENT_BACK */
    bool must_load;   /* a refusal has shown that the reader's memory is wrong */
    uint64_t commits; /* that have begun */
    uint64_t plans;   /* the same */
    uint64_t reads;   /* the same */
    enum memory_outcome outcome;
    bool is_dead; /* the process died in a commit: nobody gets its answers */
    struct memory_query queries[MEMORY_QUERIES]; /* unanswered */

    /* Hooks; NULL if nobody needs them. */
    void (*before_commit)(void *cls);
    void (*while_locked)(void *cls);  /* MEMORY_LOCK_HELD has struck */
    bool (*still_pending)(void *cls); /* asked by each store_await(), about a pending batch */
    void (*meanwhile)(void *cls);     /* wherever other threads and processes may do something */
    void *cls;                        /* of all */
    const struct memory_observer *observer; /* NULL: all writes are noticed */
};

/* A store on the database, in the state of a process that has just started. store_close() frees it.
 * store_open() opens one on a database without faults, whose commits are pending for a while, and
 * which all stores opened with the same connection share until the last of them is closed. With
 * sync_schema it has the standard resource classes and traits. */
struct store *memory_store_open(struct memory_database *database);

/* store_query_head() only notes the query. Executes one: its head is the newest state at present.
 * False: there is no such query, or it has been executed. */
bool memory_store_run_query(struct store *store, unsigned query);

/* Answers a query, which is executed now if it has not been. False: there is no such query. */
bool memory_store_answer(struct store *store, unsigned query);

/* The reader's memory counts as unknown: the next news are STORE_NEWS_RELOAD. */
void memory_store_forget(struct store *store);

#endif
