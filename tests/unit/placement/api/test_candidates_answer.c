/* The text of candidates and summaries: copied from the previous one where they are alike, and
 * written again where they differ, with uuids of any length as in a foreign database. */
#include <jansson.h>

#include "api/api.h"
#include "api/fake_request.h"
#include "base/arena.h"
#include "placement/api/handlers.h"
#include "replica/apply.h"
#include "replica/replica.h"
#include "unit.h"

static const struct api API = {0};

/* A root with 4 of C1 and 8 of C2, for each uuid; and a child with 2 of C1 below the second. */
static const char *const UUIDS[] = {
    "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002",
    "00000000-0000-4000-8000-000000000003", "short",
    "00000000-0000-4000-8000-000000000005", "00000000-0000-4000-8000-00000000000c",
};
enum { PROVIDERS = sizeof(UUIDS) / sizeof(UUIDS[0]), CHILD = PROVIDERS };

static void add_inventory(struct change_list *list, int64_t provider, int64_t class_id,
                          int32_t total)
{
    change_append(list, CHANGE_INVENTORY_INSERT)->inventory = (struct change_inventory){
        .provider_id = provider,
        .class_id = class_id,
        .total = total,
        .min_unit = 1,
        .max_unit = total,
        .step_size = 1,
        .allocation_ratio = 1.0,
    };
}

static struct replica *make_replica(struct arena *arena, bool nested)
{
    struct replica *replica = replica_create();
    struct change_list list = {.arena = arena};
    struct edit *edit = replica_edit_empty(replica);
    change_append(&list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("C1")};
    change_append(&list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){2, SLICE_LIT("C2")};
    for (int64_t id = 1; id <= PROVIDERS; id++)
        change_append(&list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){id, nested && id == CHILD ? 2 : 0, 0,
                                     0,  slice_of(UUIDS[id - 1]),       slice_of(UUIDS[id - 1])};
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t id = 1; id <= PROVIDERS; id++) {
        add_inventory(&list, id, 1, id == CHILD ? 2 : 4);
        if (id != CHILD)
            add_inventory(&list, id, 2, 8);
    }
    apply_changes(edit, &list);
    struct version_stamp stamp = {{0}};
    replica_publish(replica, edit, &stamp);
    return replica;
}

/* The answer as its JSON; the caller decrefs. */
static json_t *ask(const struct replica *replica, const char *query, unsigned minor)
{
    struct fake_request fake;
    fake_request_open(&fake, &API);
    fake.request.minor = minor;
    fake.request.query = slice_of(query);
    fake.request.version = replica_newest(replica);
    assert_int_equal(handle_placement_candidates_list(&fake.request), API_DONE);
    if (err_is_set(&fake.request.err))
        fail_msg("%.*s", SLICE_ARG(fake.request.err.message));
    const struct buf *out = &fake.exchange.http.out;
    json_error_t error;
    json_t *answer = json_loadb(out->data, out->len, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(answer);
    fake_request_close(&fake);
    return answer;
}

/* Counts the candidate {"allocations": ..., "mappings": ...} given as JSON with ' for ". */
static unsigned count_candidate(const json_t *answer, const char *wanted)
{
    char text[1024];
    size_t len = strlen(wanted);
    assert_true(len < sizeof(text));
    for (size_t i = 0; i <= len; i++)
        text[i] = wanted[i] == '\'' ? '"' : wanted[i];
    json_error_t error;
    json_t *candidate = json_loads(text, 0, &error);
    assert_non_null(candidate);
    unsigned count = 0;
    const json_t *requests = json_object_get(answer, "allocation_requests");
    for (size_t i = 0; i < json_array_size(requests); i++)
        count += json_equal(json_array_get(requests, i), candidate) ? 1 : 0;
    json_decref(candidate);
    return count;
}

static size_t candidate_count(const json_t *answer)
{
    return json_array_size(json_object_get(answer, "allocation_requests"));
}

static void alike_but_for_the_provider(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct replica *replica = make_replica(arena, false);
    for (unsigned minor = 10; minor <= PLACEMENT_MINOR_MAX; minor++) {
        json_t *answer = ask(replica, "resources=C1:1,C2:2", minor);
        assert_int_equal(candidate_count(answer), PROVIDERS - 1);
        for (unsigned i = 0; i < PROVIDERS - 1; i++) {
            char wanted[512];
            if (minor >= 34)
                snprintf(wanted, sizeof(wanted),
                         "{'allocations': {'%s': {'resources': {'C1': 1, 'C2': 2}}},"
                         " 'mappings': {'': ['%s']}}",
                         UUIDS[i], UUIDS[i]);
            else if (minor >= 12)
                snprintf(wanted, sizeof(wanted),
                         "{'allocations': {'%s': {'resources': {'C1': 1, 'C2': 2}}}}", UUIDS[i]);
            else
                snprintf(wanted, sizeof(wanted),
                         "{'allocations': [{'resource_provider': {'uuid': '%s'},"
                         " 'resources': {'C1': 1, 'C2': 2}}]}",
                         UUIDS[i]);
            assert_int_equal(count_candidate(answer, wanted), 1);
        }
        json_decref(answer);
    }
    replica_destroy(replica);
    arena_destroy(arena);
}

/* C1 from the root or from its child, C2 always from the root: two alternating forms. */
static void of_two_forms(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct replica *replica = make_replica(arena, true);
    json_t *answer = ask(replica, "resources=C2:1&resources1=C1:1", 39);
    assert_int_equal(candidate_count(answer), PROVIDERS);
    for (unsigned i = 0; i < PROVIDERS - 1; i++) {
        char wanted[512];
        snprintf(wanted, sizeof(wanted),
                 "{'allocations': {'%s': {'resources': {'C1': 1, 'C2': 1}}},"
                 " 'mappings': {'': ['%s'], '1': ['%s']}}",
                 UUIDS[i], UUIDS[i], UUIDS[i]);
        assert_int_equal(count_candidate(answer, wanted), 1);
    }
    char wanted[512];
    snprintf(wanted, sizeof(wanted),
             "{'allocations': {'%s': {'resources': {'C2': 1}}, '%s': {'resources': {'C1': 1}}},"
             " 'mappings': {'': ['%s'], '1': ['%s']}}",
             UUIDS[1], UUIDS[CHILD - 1], UUIDS[1], UUIDS[CHILD - 1]);
    assert_int_equal(count_candidate(answer, wanted), 1);
    assert_int_equal(json_object_size(json_object_get(answer, "provider_summaries")), PROVIDERS);
    json_decref(answer);
    replica_destroy(replica);
    arena_destroy(arena);
}

/* Roots with trait T, each with a child that has C1; groups that ask for no resources are mapped to
 * the roots. The second root has a short uuid. */
static void of_groups_without_resources(void **state)
{
    (void)state;
    static const struct slice ROOTS[] = {SLICE_LIT("00000000-0000-4000-8000-000000000011"),
                                         SLICE_LIT("short")};
    static const struct slice CHILDREN[] = {SLICE_LIT("00000000-0000-4000-8000-000000000021"),
                                            SLICE_LIT("00000000-0000-4000-8000-000000000022")};
    struct arena *arena = arena_create();
    struct replica *replica = replica_create();
    struct change_list list = {.arena = arena};
    struct edit *edit = replica_edit_empty(replica);
    change_append(&list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("C1")};
    change_append(&list, CHANGE_TRAIT_INSERT)->catalog = (struct change_catalog){1, SLICE_LIT("T")};
    for (int64_t i = 0; i < 2; i++) {
        change_append(&list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){1 + i, 0, 0, 0, ROOTS[i], ROOTS[i]};
        change_append(&list, CHANGE_PROVIDER_INSERT)->provider =
            (struct change_provider){11 + i, 1 + i, 0, 0, CHILDREN[i], CHILDREN[i]};
    }
    change_append(&list, CHANGE_LOAD_PROVIDERS_END);
    for (int64_t i = 0; i < 2; i++) {
        add_inventory(&list, 11 + i, 1, 4);
        change_append(&list, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){1 + i, 1};
    }
    apply_changes(edit, &list);
    struct version_stamp stamp = {{0}};
    replica_publish(replica, edit, &stamp);
    json_t *answer =
        ask(replica, "resources_A=C1:1&required_B=T&same_subtree=_A,_B&group_policy=none", 39);
    assert_int_equal(candidate_count(answer), 2);
    for (unsigned i = 0; i < 2; i++) {
        char wanted[512];
        snprintf(wanted, sizeof(wanted),
                 "{'allocations': {'%s': {'resources': {'C1': 1}}},"
                 " 'mappings': {'_A': ['%s'], '_B': ['%s']}}",
                 CHILDREN[i].data, CHILDREN[i].data, ROOTS[i].data);
        assert_int_equal(count_candidate(answer, wanted), 1);
    }
    json_decref(answer);
    replica_destroy(replica);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_but_for_the_provider),
        cmocka_unit_test(of_two_forms),
        cmocka_unit_test(of_groups_without_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
