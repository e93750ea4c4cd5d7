/* A separate directory for each test (and a separate database, if BERTH_TEST_POSTGRES names a
 * server), a store in it, and a record of what a load or follow sends.
 */
#ifndef BERTH_TESTS_STORE_FIXTURE_H
#define BERTH_TESTS_STORE_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "unit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "store/store.h"

struct fixture {
    char dir[64];
    char path[96]; /* dir/db */
    char url[160];
    int busy_timeout_ms;      /* of the stores opened from now on; 10 000 */
    bool completes_consumers; /* the same; no, with this owner: */
    struct repair_owner owner;
    _Atomic uint64_t steps; /* of all of them */
    struct arena *arena;
    struct err err;
};

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Whether the database is on a server, where other programs' writes are noticed only when something
 * does not fit. */
bool fixture_is_server(void);
/* Whether that server is MariaDB's. */
bool fixture_is_mariadb(void);
/* That it is a MySQL server. */
bool fixture_is_mysql(void);
/* Whether it is a node of a cluster. */
bool fixture_is_cluster(void);
/* Whether columns of text hold characters of four bytes: on MariaDB with BERTH_TEST_CHARSET=utf8mb4
 * in the environment, and everywhere else. */
bool fixture_has_wide_texts(void);

/* The path of a file in the test's directory, in the arena. */
const char *fixture_file(const struct fixture *fixture, const char *name);
/* Runs a script there, which must succeed. */
void fixture_shell(const struct fixture *fixture, const char *script);

/* Opens with sync_schema and create; fails the test if it cannot. */
struct store *fixture_open(struct fixture *fixture);
/* The same on another node, if the server is one of a cluster; the database must be there. */
struct store *fixture_open_elsewhere(struct fixture *fixture);
/* As fixture_open(), with the given options; on failure NULL, and fixture->err is set. */
struct store *fixture_try(struct fixture *fixture, const char *url, bool sync, bool create);

/* One line for each record, as "kind(fields)\n" with the instants last. */
void dump_change(void *buf, const struct change *change);
/* Loads: the whole database as text (owned by `out`). */
void dump_store(struct fixture *fixture, struct store *store, struct buf *out);

struct change_list changes_of(struct fixture *fixture);
struct change *add(struct change_list *list, enum change_kind kind);
void add_catalog(struct change_list *list, enum change_kind kind, int64_t id, const char *name);
void add_rename(struct change_list *list, int64_t id, const char *before, const char *name);
void add_provider(struct change_list *list, int64_t id, int64_t parent, int64_t root,
                  const char *uuid, const char *name);
void add_generation(struct change_list *list, int64_t id, int64_t expected, int64_t next);
void add_inventory(struct change_list *list, enum change_kind kind, int64_t provider, int64_t class,
                   int total);
void add_link(struct change_list *list, enum change_kind kind, int64_t provider, int64_t other);
void add_consumer(struct change_list *list, enum change_kind kind, int64_t id, const char *uuid,
                  int64_t generation);
void add_allocation(struct change_list *list, int64_t id, int64_t consumer, const char *uuid,
                    int64_t provider, int64_t class, int64_t used);
void add_allocations_of(struct change_list *list, int64_t consumer, const char *uuid);

/* Locks the store, takes the news (which are discarded), commits; must succeed. */
struct store_stamp commit_changes(struct fixture *fixture, struct store *store,
                                  const struct change_list *list);
/* Commits the list as the changes of one request. */
enum store_result commit_list(struct store *store, const struct change_list *list,
                              struct store_stamp *stamp, bool *foreign, struct err *err);
/* Locks the store, takes the news (which are discarded), and commits the list as the changes of one
 * request. STORE_FAILED also if the news cannot be read. */
enum store_result take_news_and_commit(struct fixture *fixture, struct store *store,
                                       const struct change_list *list, struct store_stamp *stamp,
                                       bool *foreign);
/* The same, without news and for a list that is refused: nothing of it is written, and the store is
 * not locked afterwards. */
const struct store_refusal *refuse_changes(struct fixture *fixture, struct store *store,
                                           const struct change_list *list);
/* Neither this store nor another one is locked: it can be. */
void expect_unlocked(struct fixture *fixture, struct store *store);

/* Commits a batch and waits until it is decided. */
enum store_result decide_batch(struct store *store, const struct store_batch *batch,
                               struct store_stamp *stamp, bool *foreign, struct err *err);
/* Locks the store, however long another process holds the lock. */
enum store_lock lock_store(struct store *store, struct err *err);
/* The same, and begins to read. If this fails, it is not locked. */
enum store_news lock_and_read(struct store *store, struct err *err);
/* The same, with the load or follow that is due, into `out` (may be NULL): memory has the providers
 * of open_seeded(). The read stays open. */
enum store_news lock_into(struct fixture *fixture, struct store *store, struct buf *out);
/* The same without the lock. */
enum store_news read_into(struct fixture *fixture, struct store *store, struct buf *out);
/* Ends the read, and unlocks the store. */
bool end_news(struct store *store, struct store_stamp *stamp);
/* Of a database that must be asked: its newest state. */
struct store_stamp ask_newest(struct store *store);
/* Whether the database is in that state, by a query if it has to be asked. */
bool is_newest(struct store *store, const struct store_stamp *stamp);
/* Takes the news, which must be these: memory then has the newest state. */
void expect_news(struct fixture *fixture, struct store *store, enum store_news news);

/* A store that has committed a class, two providers with inventory, and a consumer (1, UUID_C) that
 * holds 3 of VCPU on provider 1. The stamp (may be NULL) is that of this commit. */
struct store *open_seeded(struct fixture *fixture, struct store_stamp *stamp);

/* Runs a statement on another connection, as a foreign writer would; returns the first column of
 * its first row, 0 if there is none. Fails the test on an error. */
long long foreign(const char *path, const char *sql);
/* The rows of a query, one a line, columns separated by "|". */
void foreign_rows(const char *path, const char *sql, struct buf *out);

#define UUID_A "aaaaaaaa-0000-4000-8000-000000000001"
#define UUID_B "bbbbbbbb-0000-4000-8000-000000000002"
#define UUID_C "cccccccc-0000-4000-8000-000000000003"
#define UUID_D "dddddddd-0000-4000-8000-000000000004"

#endif
