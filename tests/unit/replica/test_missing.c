/* Changes that another instance has planned are applied only to the state on which it planned them:
 * what they expect is compared with memory, and what differs is named. */
#include "replica/missing.h"

#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

#define UUID  SLICE_LIT("11111111-1111-4111-8111-111111111111")
#define OTHER SLICE_LIT("22222222-2222-4222-8222-222222222222")

enum { HOST = 4, CLASS = 10000, OWNER = 1, HOLDER = 7, EMPTY = 8, GENERATION = 3 };

/* A host with generation 3, and two consumers with generation 3, one of which has an allocation. */
static const struct change rows[] = {
    {.kind = CHANGE_CLASS_INSERT, .catalog = {CLASS, SLICE_LIT("CUSTOM_A")}},
    {.kind = CHANGE_PROJECT_INSERT, .catalog = {OWNER, SLICE_LIT("p")}},
    {.kind = CHANGE_USER_INSERT, .catalog = {OWNER, SLICE_LIT("u")}},
    {.kind = CHANGE_PROVIDER_INSERT,
     .provider = {HOST, 0, HOST, GENERATION, SLICE_LIT("33333333-3333-4333-8333-333333333333"),
                  SLICE_LIT("host")}},
    {.kind = CHANGE_LOAD_PROVIDERS_END},
    {.kind = CHANGE_CONSUMER_INSERT, .consumer = {HOLDER, OWNER, OWNER, 0, GENERATION, 0, UUID}},
    {.kind = CHANGE_CONSUMER_INSERT, .consumer = {EMPTY, OWNER, OWNER, 0, GENERATION, 0, OTHER}},
    {.kind = CHANGE_ALLOCATION_INSERT, .allocation = {1, HOLDER, HOST, CLASS, 5, UUID}},
};

struct lack {
    unsigned count;
    enum entity entity;
    int64_t id;
};

static void note(void *cls, enum entity entity, int64_t id, struct slice uuid)
{
    struct lack *lack = cls;
    assert_true(entity != ENTITY_CONSUMER || uuid.len > 0);
    *lack = (struct lack){lack->count + 1, entity, id};
}

static const struct {
    struct change change;
    bool fits;
    enum entity lacks; /* unless it fits */
    int64_t id;
} cases[] = {
    {{.kind = CHANGE_PROVIDER_GENERATION, .generation = {HOST, 3, 4}}, true, 0, 0},
    {{.kind = CHANGE_PROVIDER_GENERATION, .generation = {HOST, 2, 3}},
     false,
     ENTITY_PROVIDER,
     HOST},
    {{.kind = CHANGE_PROVIDER_GENERATION, .generation = {HOST, 4, 5}},
     false,
     ENTITY_PROVIDER,
     HOST},
    {{.kind = CHANGE_PROVIDER_GENERATION, .generation = {HOST, 9, 9}}, true, 0, 0}, /* an image */
    {{.kind = CHANGE_PROVIDER_GENERATION, .generation = {5, 3, 4}}, false, ENTITY_PROVIDER, 5},
    {{.kind = CHANGE_CONSUMER_INSERT, .consumer = {9, OWNER, OWNER, 0, 1, 0, SLICE_LIT("x")}},
     true,
     0,
     0},
    {{.kind = CHANGE_CONSUMER_INSERT, .consumer = {HOLDER, OWNER, OWNER, 0, 1, 0, UUID}},
     false,
     ENTITY_CONSUMER,
     HOLDER},
    {{.kind = CHANGE_CONSUMER_INSERT, .consumer = {9, 2, OWNER, 0, 1, 0, SLICE_LIT("x")}},
     false,
     ENTITY_PROJECT,
     2},
    {{.kind = CHANGE_CONSUMER_UPDATE, .consumer = {HOLDER, OWNER, OWNER, 0, 4, 3, UUID}},
     true,
     0,
     0},
    {{.kind = CHANGE_CONSUMER_UPDATE, .consumer = {HOLDER, OWNER, OWNER, 0, 3, 2, UUID}},
     false,
     ENTITY_CONSUMER,
     HOLDER},
    {{.kind = CHANGE_CONSUMER_UPDATE, .consumer = {HOLDER, OWNER, 2, 0, 4, 3, UUID}},
     false,
     ENTITY_USER,
     2},
    {{.kind = CHANGE_CONSUMER_UPDATE, .consumer = {HOLDER, OWNER, OWNER, 0, 4, 3, OTHER}},
     false,
     ENTITY_CONSUMER,
     EMPTY}, /* who has the uuid */
    {{.kind = CHANGE_CONSUMER_DELETE,
      .consumer = {.id = EMPTY, .expected_generation = 3, .uuid = OTHER}},
     true,
     0,
     0},
    {{.kind = CHANGE_CONSUMER_DELETE,
      .consumer = {.id = EMPTY, .expected_generation = 4, .uuid = OTHER}},
     false,
     ENTITY_CONSUMER,
     EMPTY},
    {{.kind = CHANGE_CONSUMER_DELETE,
      .consumer = {.id = HOLDER, .expected_generation = 3, .uuid = UUID}},
     false,
     ENTITY_CONSUMER,
     HOLDER}, /* it still has an allocation */
    {{.kind = CHANGE_ALLOCATIONS_OF_DELETE,
      .allocation = {.consumer_id = HOLDER, .consumer_uuid = UUID}},
     true,
     0,
     0},
    {{.kind = CHANGE_ALLOCATIONS_OF_DELETE,
      .allocation = {.consumer_id = 9, .consumer_uuid = UUID}},
     false,
     ENTITY_CONSUMER,
     9},
    {{.kind = CHANGE_ALLOCATION_INSERT, .allocation = {2, EMPTY, HOST, CLASS, 1, OTHER}},
     true,
     0,
     0},
    {{.kind = CHANGE_ALLOCATION_INSERT, .allocation = {2, 9, HOST, CLASS, 1, OTHER}},
     false,
     ENTITY_CONSUMER,
     9},
    {{.kind = CHANGE_ALLOCATION_INSERT, .allocation = {2, EMPTY, 5, CLASS, 1, OTHER}},
     false,
     ENTITY_PROVIDER,
     5},
    {{.kind = CHANGE_ALLOCATION_INSERT, .allocation = {2, EMPTY, HOST, 5, 1, OTHER}},
     false,
     ENTITY_CLASS,
     5},
};

/* A blob of the log may have been written by any program. */
static void refuses_what_has_no_owner(void **state)
{
    (void)state;
    struct replica *replica = replica_create();
    struct edit *edit = replica_edit_empty(replica);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        apply_change(edit, &rows[i]);
    for (int owners = 0; owners < 4; owners++) {
        const struct change change = {.kind = CHANGE_CONSUMER_INSERT,
                                      .consumer = {9, owners & 1 ? OWNER : 0,
                                                   owners & 2 ? OWNER : 0, 0, 1, 0,
                                                   SLICE_LIT("x")}};
        struct lack lack = {0};
        assert_int_equal(missing_check(edit, &change, note, &lack), owners == 3);
        assert_int_equal(lack.count, 0);
    }
    replica_abandon(replica, edit);
    replica_destroy(replica);
}

static void compares_what_is_expected(void **state)
{
    (void)state;
    struct replica *replica = replica_create();
    struct edit *edit = replica_edit_empty(replica);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        apply_change(edit, &rows[i]);
    apply_flush(edit);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lack lack = {0};
        bool fits = missing_check(edit, &cases[i].change, note, &lack);
        if (fits != cases[i].fits || (lack.count > 0) == fits ||
            (!fits && (lack.entity != cases[i].lacks || lack.id != cases[i].id)))
            fail_msg("case %zu: fits %d, lacks %u of entity %d, id %lld", i, fits, lack.count,
                     (int)lack.entity, (long long)lack.id);
    }
    replica_abandon(replica, edit);
    replica_destroy(replica);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(compares_what_is_expected),
                                       cmocka_unit_test(refuses_what_has_no_owner)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
