/* What a database implements: the functions of store.h, which call the driver of the database that
 * the URL names. */
#ifndef BERTH_STORE_DRIVER_H
#define BERTH_STORE_DRIVER_H

#include "store/store.h"

struct arena;
struct store_report;

/* Each function does what the one of the same name in store.h does. */
struct store_driver {
    bool (*matches)(struct slice connection); /* whether the URL is meant for this database; NULL:
                                                 if no other driver's is */
    bool (*knows_connection)(struct slice connection, struct err *err);
    struct slice (*ignored_parameters)(struct slice connection,
                                       struct arena *arena); /* NULL: there are none */
    struct store *(*open)(const struct store_options *options, struct err *err);
    void (*close)(struct store *store);
    enum store_news (*begin_read)(struct store *store, struct err *err);
    struct store_going_back (*why_went_back)(const struct store *store); /* NULL: it never does */
    enum store_result (*load)(struct store *store, store_sink *sink, void *cls, struct err *err);
    enum store_result (*merge)(struct store *store, const struct store_comparer *comparer,
                               store_sink *sink, void *cls, bool *merged, struct err *err);
    enum store_result (*follow)(struct store *store, const struct memory_view *memory,
                                store_sink *sink, void *cls, struct err *err);
    /* NULL, both: everything is read from the database. */
    bool (*follow_head)(struct store *store, const struct store_stamp *head, store_sink *sink,
                        void *cls);
    bool (*take_head)(struct store *store);
    /* NULL, all four: the database notices every write of other programs. */
    bool (*follows_foreign)(const struct store *store);
    bool (*suspect)(struct store *store, enum entity entity, int64_t id, struct slice uuid);
    bool (*should_read)(const struct store *store);
    struct store_observer *(*observe)(struct store *store, struct err *err);
    bool (*check_schema)(struct store *store, char revision[static STORE_REVISION_BYTES],
                         struct err *err);
    bool (*end_read)(struct store *store, struct store_stamp *stamp);
    bool (*locks_first)(const struct store *store);
    bool (*reads_first)(const struct store *store);
    struct store_turn (*turn)(const struct store *store); /* NULL: nobody does */
    enum store_lock (*lock)(struct store *store, struct err *err);
    void (*unlock)(struct store *store);
    int64_t (*next_id)(struct store *store, enum store_table table);
    bool (*lacks_id)(struct store *store, struct err *err); /* NULL: there is always one */
    void (*reuse_ids)(struct store *store);
    void (*adapt)(const struct store *store, struct change *change); /* NULL: nothing is changed */
    bool (*can_hold)(const struct store *store, const struct change *change, struct err *err);
    bool (*is_taken)(const struct store *store, enum change_kind kind, unsigned field,
                     struct slice text);
    bool (*find_alike)(const struct store *store, enum change_kind insert, unsigned field,
                       struct slice text, struct store_alike *alike); /* NULL: there are none */
    enum store_result (*commit)(struct store *store, const struct store_batch *batch,
                                struct store_stamp *stamp, bool *foreign, struct err *err);
    /* NULL, both: a commit never returns STORE_PENDING. */
    enum store_result (*await)(struct store *store, uint64_t until_us, struct store_stamp *stamp,
                               bool *foreign, struct err *err);
    void (*give_up)(struct store *store);
    /* NULL, all four: nothing is done at once. */
    bool (*begin_at_once)(struct store *store);
    void (*end_at_once)(struct store *store);
    int (*pending_descriptor)(const struct store *store);
    enum store_received (*receive)(struct store *store, struct store_stamp *stamp, bool *foreign);
    const struct store_refusal *(*why_refused)(const struct store *store);
    enum store_currency (*currency)(const struct store *store, const struct store_stamp *stamp);
    /* NULL, all four: the database need never be asked. */
    void (*query_head)(struct store *store,
                       void (*answered)(void *cls, const struct store_head *head), void *cls);
    void (*stop_queries)(struct store *store);
    struct store_asker *(*open_asker)(struct store *store);
    bool (*covers)(const struct store *store, const struct store_stamp *have,
                   const struct store_stamp *head);
    struct store_figures (*figures)(const struct store *store);
    struct store_server (*server)(const struct store *store); /* NULL: there is none */
    bool (*report)(const struct store *store, struct arena *arena,
                   struct store_report *report); /* NULL: there is none */
    void (*upkeep)(struct store *store);
    /* NULL: nothing is done meanwhile. */
    void (*set_meanwhile)(struct store *store, const struct store_meanwhile *meanwhile);
};

/* A database's own struct begins with it. */
struct store {
    const struct store_driver *driver;
};

/* The functions of an observer, as in store.h. */
struct store_observer_driver {
    void (*free)(struct store_observer *observer);
    void (*stop)(struct store_observer *observer);
    bool (*begin)(struct store_observer *observer, struct store_stamp *stamp, struct err *err);
    void (*end)(struct store_observer *observer);
    bool (*examine)(struct store_observer *observer, const struct store_examiner *examiner,
                    struct err *err);
    bool (*find)(struct store_observer *observer, enum entity entity, const int64_t *ids,
                 size_t count, store_sink *sink, void *cls, struct err *err);
};

/* A database's own struct begins with it. */
struct store_observer {
    const struct store_observer_driver *driver;
};

/* The functions of an asker, as in store.h. */
struct store_asker_driver {
    void (*close)(struct store_asker *asker);
    int (*ask)(struct store_asker *asker);
    enum store_asked (*take_answer)(struct store_asker *asker, struct store_head *head);
    void (*forget)(struct store_asker *asker);
};

/* A database's own struct begins with it. */
struct store_asker {
    const struct store_asker_driver *driver;
};

/* drivers.c: the driver for a URL. For one that no driver matches, it is SQLite's, whose functions
 * say what is wrong with it. */
const struct store_driver *store_driver_of(struct slice connection);

extern const struct store_driver sqlite_driver;
extern const struct store_driver server_driver;

#endif
