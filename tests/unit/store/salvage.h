/* The store's files removed while the store has them open. All functions fail the calling test if
 * they do not succeed. */
#ifndef BERTH_TESTS_STORE_SALVAGE_H
#define BERTH_TESTS_STORE_SALVAGE_H

#include "fixture.h"

enum { SALVAGE_WAL = 1, SALVAGE_INDEX = 2 };

struct store *salvage_open_synced(struct fixture *fixture);

/* With one provider, of generation 0. */
struct store *salvage_open_first(struct fixture *fixture);

/* Raises its generation from `from` to `from` + 1, in a transaction of its own. */
enum store_result salvage_try_commit(struct fixture *fixture, struct store *store, int64_t from);

/* What happens once in the middle of a commit. */
struct salvage_meanwhile {
    void (*act)(void *cls);
    void *cls;
    int count; /* of COMMITs so far */
};

/* The same; that happens between its last statement and its COMMIT. */
enum store_result salvage_commit_meanwhile(struct fixture *fixture, struct store *store,
                                           int64_t from, struct salvage_meanwhile *meanwhile);

/* Removes the target first; does nothing more if there is no source. */
void salvage_copy_file(const char *from, const char *to);

void salvage_checkpoint(struct store *store);
void salvage_name_of(const struct fixture *fixture, const char *suffix, char name[static 128]);
void salvage_take_away(const struct fixture *fixture, int what);

/* What a crash at this moment would leave. */
void salvage_expect_after_crash(const struct fixture *fixture, const char *file,
                                int64_t generation);

#endif
