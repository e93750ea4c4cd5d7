/* What the stores of these tests have in common: no database, one state, ids that are handed out.
 * Each test's `struct store` begins with it and brings store_begin(), store_apply() and
 * store_commit() of its own. */
#ifndef BERTH_TESTS_STUB_STORE_H
#define BERTH_TESTS_STUB_STORE_H

#include "store/store.h"

struct stub_store {
    bool is_loaded;
    bool is_open;           /* a transaction; the test's begin and commit tell */
    bool is_never_current;  /* each read asks the store */
    bool memory_is_wrong;   /* what it says of a refusal */
    const char *load_fails; /* the reason; NULL: it works */
    int64_t last_id;
};

/* A reason: err is set. NULL: true. */
bool stub_store_works(const char *reason, struct err *err);

/* What any transaction ends with. */
static const struct store_stamp STUB_STAMP = {{1}};

#endif
