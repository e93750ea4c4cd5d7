/* An empty database: what foreign writers wrote is always loaded, and nothing is ever followed. */
#include "stub_store.h"

static struct stub_store *stub_of(struct store *store)
{
    return (struct stub_store *)store;
}

bool stub_store_works(const char *reason, struct err *err)
{
    return reason == NULL || err_set(err, 503, NULL, "the database 'x' %s", reason);
}

enum store_result store_load(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    if (!stub_store_works(stub_of(store)->load_fails, err))
        return STORE_FAILED;
    sink(cls, &(struct change){.kind = CHANGE_LOAD_PROVIDERS_END});
    stub_of(store)->is_loaded = true;
    return STORE_OK;
}

enum store_result store_merge(struct store *store, const struct store_comparer *comparer,
                              store_sink *sink, void *cls, bool *merged, struct err *err)
{
    (void)store;
    (void)comparer;
    (void)sink;
    (void)cls;
    (void)err;
    *merged = false;
    return STORE_OK;
}

enum store_result store_follow(struct store *store, store_sink *sink, void *cls, struct err *err)
{
    (void)store;
    (void)sink;
    (void)cls;
    (void)err;
    return STORE_FAILED;
}

bool store_rollback(struct store *store, struct store_stamp *stamp)
{
    stub_of(store)->is_open = false;
    *stamp = STUB_STAMP;
    return true;
}

int64_t store_next_id(struct store *store, enum store_table table)
{
    (void)table;
    return ++stub_of(store)->last_id;
}

const struct store_refusal *store_why_refused(const struct store *store)
{
    static const struct store_refusal WHYS[] = {{.memory_is_wrong = false},
                                                {.memory_is_wrong = true}};
    return &WHYS[((const struct stub_store *)store)->memory_is_wrong];
}

bool store_is_current(const struct store *store, const struct store_stamp *stamp)
{
    (void)stamp;
    return !((const struct stub_store *)store)->is_never_current;
}

bool store_check_schema(struct store *store, char revision[static STORE_REVISION_BYTES],
                        struct err *err)
{
    (void)store;
    (void)err;
    revision[0] = '\0';
    return true;
}

void store_upkeep(struct store *store)
{
    (void)store;
}
