/* Filters for lists of nodes. */
#include "baremetal/api/nodes/node_filters.h"

#include <stdio.h>

#include "baremetal/api/checking.h"

static struct arena *arena;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    err = (struct err){.arena = arena};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static bool read(struct node_filters *filters, const char *query)
{
    struct query_string pairs = query_string_parse(arena, slice_of(query));
    return node_filters_read(filters, &pairs, arena, &err);
}

/* Status of the query at that version, and its error; NULL: it is accepted. */
static void assert_taken(const char *query, unsigned minor, int status, const char *text)
{
    struct node_filters filters;
    bool taken = read(&filters, query) && node_filters_check(&filters, minor, &err);
    assert_message(taken, &err, status, text);
}

static void what_is_refused(void **state)
{
    (void)state;
    assert_taken("", 1, 0, NULL);
    assert_taken("associated=1&maintenance=no&retired=T", 1, 0, NULL);
    assert_taken("associated=perhaps", 1, 400,
                 "Invalid associated: Unrecognized value 'perhaps', acceptable values are: '0', "
                 "'1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'");
    assert_taken("instance_uuid=x", 1, 400, "Expected UUID for instance_uuid: x");
    assert_taken("owner=a&owner=b", 82, 400, "Expected string for owner: ['a', 'b']");
    assert_taken("provision_state=asleep", 82, 400, "Provision state \"asleep\" is not valid");
    assert_taken("provision_state=wait%20call-back", 9, 0, NULL);
    assert_taken("fault=", 82, 400,
                 "Unrecognized fault \"\" is specified, allowed faults are ('power failure', "
                 "'clean failure', 'rescue abort failure')");
    assert_taken("fault=power+failure", 42, 0, NULL);
}

static void versions(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        unsigned since;
    } FILTERS[] = {
        {"driver=x", 16},          {"resource_class=x", 21}, {"fault=power+failure", 42},
        {"conductor_group=x", 46}, {"conductor=x", 49},      {"owner=x", 50},
        {"lessee=x", 65},          {"shard=x", 82},          {"sharded=1", 82},
    };
    char words[100];
    for (size_t i = 0; i < sizeof(FILTERS) / sizeof(FILTERS[0]); i++) {
        snprintf(words, sizeof(words),
                 "Request not acceptable. The minimal required API version should be 1.%u",
                 FILTERS[i].since);
        assert_taken(FILTERS[i].query, FILTERS[i].since, 0, NULL);
        assert_taken(FILTERS[i].query, FILTERS[i].since - 1, 406, words);
    }
    assert_taken("provision_state=active", 8, 406, "Request not acceptable.");
}

static const struct node *some_node(void)
{
    struct node_draft draft = node_draft_new(1);
    node_set_text(&draft, NODE_UUID, SLICE_LIT("n1"));
    node_set_text(&draft, NODE_RESOURCE_CLASS, SLICE_LIT("gold"));
    node_set_text(&draft, NODE_OWNER, SLICE_LIT("p1"));
    node_set_text(&draft, NODE_LESSEE, SLICE_LIT("p2"));
    node_set_text(&draft, NODE_DESCRIPTION, SLICE_LIT("The Red rack"));
    node_set_text(&draft, NODE_SHARD, SLICE_LIT("S2"));
    node_set_bool(&draft, NODE_MAINTENANCE, true);
    return node_pack(&draft, arena);
}

static void assert_matches(const char *query, bool wanted)
{
    struct node_filters filters;
    assert_true(read(&filters, query));
    if (node_filters_match(&filters, SLICE_LIT("host"), some_node()) != wanted)
        fail_msg("%s: not %d", query, wanted);
}

static void matches(void **state)
{
    (void)state;
    assert_matches("", true);
    assert_matches("maintenance=1&associated=0&retired=0&sharded=1", true);
    assert_matches("maintenance=0", false);
    assert_matches("associated=1", false);
    assert_matches("sharded=0", false);
    assert_matches("resource_class=gold", true);
    assert_matches("resource_class=Gold", false);
    assert_matches("resource_class=", false);
    assert_matches("provision_state=enroll&driver=fake-hardware&conductor_group=", true);
    assert_matches("owner=p1&lessee=p2", true);
    assert_matches("owner=p2", false);
    assert_matches("project=p1", true);
    assert_matches("project=p2", true);
    assert_matches("project=p3", false);
    assert_matches("conductor=host", true);
    assert_matches("conductor=other", false);
    assert_matches("shard=S1,%20S2", true);
    assert_matches("shard=s1", false);
    assert_matches("shard=", false);
    assert_matches("description_contains=red", true);
    assert_matches("description_contains=", true);
    assert_matches("description_contains=red+rack+", false);
    assert_matches("fault=power+failure", false);
    assert_matches("instance_uuid=5c0f4a1e-7d51-4a8e-9a51-6d1f0a4be101", false);
}

static void next_keeps_them(void **state)
{
    (void)state;
    struct node_filters filters;
    struct buf out = {0};
    assert_true(read(&filters, "resource_class=big+metal&associated=yes&owner=a%26b&retired=f"));
    node_filters_write(&filters, &out);
    assert_string_equal(arena_copy(arena, buf_slice(&out)).data,
                        "&associated=True&retired=False&resource_class=big%20metal&owner=a%26b");
    buf_free(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_refused),
        TEST(versions),
        TEST(matches),
        TEST(next_keeps_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
