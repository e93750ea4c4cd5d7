/* A write whose planner knows no rule is refused where a rule forbids it, and accepted just within
 * the rules: the engine applies the rules, not the planners. */
#include "baremetal/write/node_rule.h"
#include "base/buf.h"
#include "placement/write/capacity_rule.h"
#include "products/cloud.h"
#include "replica/valet.h"
#include "unit.h"
#include "valet/write/valet_rule.h"

#define HELD(host)     "Resource provider '" host "' is held by exclusivity group 'gold'."
#define KEPT(consumer) "Consumer " consumer " is kept for a placement of Valet."
#define FULL(class, provider)                                                                      \
    "Unable to allocate inventory: Unable to create allocation for '" class "' on resource "       \
                                                                            "provider '" provider  \
                                                                            "'. The requested "    \
                                                                            "amount would exceed " \
                                                                            "the capacity."
#define NODE(what, node) what " is managed by bare metal node " node

struct attempt {
    const char *request; /* the text after " | " is the next request */
    const char *refused; /* NULL: it is accepted */
};

static struct metal_world cloud;

static bool set_switch(const char *request)
{
    if (strcmp(request, "mirror off") == 0)
        cloud.metal.mirror = false;
    else if (strcmp(request, "mirror on") == 0)
        cloud.metal.mirror = true;
    else if (strcmp(request, "names on") == 0)
        cloud.metal.provider_has_node_name = true;
    else
        return false;
    return true;
}

static int run(const char *requests)
{
    const char *end;
    while ((end = strstr(requests, " | ")) != NULL) {
        const char *first =
            arena_printf(cloud.world.arena, "%.*s", (int)(end - requests), requests).data;
        if (!set_switch(first) && cloud_raw(&cloud, first) != 0)
            fail_msg("%s: %.*s", first, SLICE_ARG(cloud.world.err.message));
        requests = end + 3;
    }
    return cloud_raw(&cloud, requests);
}

static void try_each(const struct attempt *attempts, size_t count)
{
    bool is_wrong = false;
    for (size_t i = 0; i < count; i++) {
        const struct attempt *attempt = &attempts[i];
        cloud_open(&cloud);
        int status = run(attempt->request);
        const char *text =
            status == 0 ? "" : arena_copy(cloud.world.arena, cloud.world.err.message).data;
        if (status != (attempt->refused == NULL ? 0 : 409) ||
            (attempt->refused != NULL && strcmp(text, attempt->refused) != 0)) {
            print_error("%s: %d %s\n", attempt->request, status, text);
            is_wrong = true;
        }
        cloud_close(&cloud);
    }
    assert_false(is_wrong);
}

#define TRY_EACH(attempts) try_each(attempts, sizeof(attempts) / sizeof(*(attempts)))

static void test_exclusivity_of_consumers(void **state)
{
    (void)state;
    static const struct attempt attempts[] = {
        {"consume new nonmember h1 A 1", HELD("h1")},
        {"consume new nonmember n1 A 1", HELD("h1")},
        {"consume new nonmember h3 A 1", HELD("h3")},
        {"consume old nonmember h1 A 1", HELD("h1")},
        {"consume old nonmember h1 B 1", HELD("h1")},
        {"consume away nonmember h1 A 1", HELD("h1")},
        {"release old; consume old nonmember h1 A 3", HELD("h1")},
        {"release old; consume old nonmember n1 A 3", HELD("h1")},
        {"release old; consume old nonmember h1 B 1", HELD("h1")},
        {"release old; consume new other h1 A 1", HELD("h1")},
        {"release old; consume new nonmember h1 A 2; consume more nonmember h1 A 1", HELD("h1")},
        {"consume one friend h1 A 1; consume two nonmember h1 A 1", HELD("h1")},
        {"owner mine nonmember", HELD("h1")},
        {"owner racked nonmember", HELD("h3")},
        {"owner old other", HELD("h1")},
        {"owner old other; consume new other h2 A 1", HELD("h1")},
        /* inside */
        {"consume new friend h1 A 1", NULL},
        {"consume new friend n1 A 1; consume more friend h3 A 1", NULL},
        {"consume new nonmember h2 A 1", NULL},
        {"release old; consume old nonmember h1 A 2", NULL},
        {"release old; consume old nonmember n1 A 2", NULL},
        {"release old; consume old nonmember h1 A 1", NULL},
        {"release old; consume new nonmember h1 A 2", NULL},
        {"release old; consume old nonmember h2 A 2", NULL},
        {"release old", NULL},
        {"drop old", NULL},
        {"owner old friend", NULL},
        {"owner away other", NULL},
        {"release old; owner old other", NULL},
    };
    TRY_EACH(attempts);
}

static void test_exclusivity_of_providers(void **state)
{
    (void)state;
    static const struct attempt attempts[] = {
        {"parent h2 h1", HELD("h1")},
        {"parent h2 n1", HELD("h1")},
        {"parent h2 h3", HELD("h3")},
        {"parent h4 h1; consume new nonmember h4 A 1", HELD("h1")},
        {"insert new h1; stock new A 4; consume c nonmember new A 1", HELD("h1")},
        {"join h5 gold; consume new nonmember h5 A 1", HELD("h5")},
        {"consume new nonmember h5 A 1; join h5 gold", HELD("h5")},
        {"insert new; join new gold; stock new A 4; consume c nonmember new A 1", HELD("new")},
        {"parent n1 h2; consume new nonmember h1 A 1", HELD("h1")},
        {"parent h2 h1; owner away friend; consume new nonmember h2 A 1", HELD("h1")},
        {"consume more nonmember h2 A 1 | parent h2 h1; drop away", HELD("h1")},
        {"join n1 gold; leave h1 gold | consume in nonmember n1 A 1 | join h1 gold | unparent n1",
         HELD("n1")},
        /* inside */
        {"parent h5 h1", NULL},
        {"parent n1 h2", NULL},
        {"unparent n1", NULL},
        {"unparent n1; consume new nonmember n1 A 1", NULL},
        {"parent h5 h1; consume new friend h5 A 1", NULL},
        {"parent h5 h2; consume new nonmember h5 A 1", NULL},
        {"parent h2 h1; drop away", NULL},
        {"parent h2 h1; owner away friend", NULL},
        {"parent h2 h1; release away; consume away nonmember h5 A 2", NULL},
        {"insert new h1; stock new A 4; consume c friend new A 1", NULL},
        {"insert new h2; stock new A 4; consume c nonmember new A 1", NULL},
        {"join h5 gold; consume new friend h5 A 1", NULL},
        {"join h2 gold", NULL}, /* what was there first stays */
        {"trait h5 MISC_SHARES_VIA_AGGREGATE | join h5 gold; consume new nonmember h5 A 1", NULL},
    };
    TRY_EACH(attempts);
}

static void test_holds(void **state)
{
    (void)state;
    static const struct attempt attempts[] = {
        {"consume pl1 friend h4 A 1", KEPT("pl1")},
        {"release pl1; consume pl1 friend h4 A 3", KEPT("pl1")},
        {"release pl1; consume pl1 friend h4 A 1", KEPT("pl1")},
        {"release pl1; consume pl1 friend h5 A 2", KEPT("pl1")},
        {"owner pl1 nonmember", KEPT("pl1")},
        {"user pl1 another", KEPT("pl1")},
        {"type pl1 INSTANCE", KEPT("pl1")},
        {"type away VALET_HOLD", KEPT("away")},
        {"consume pl2 friend h4 A 1", KEPT("pl2")},
        {"consume new friend h4 A 1; release pl1; consume pl1 friend h4 B 2", KEPT("pl1")},
        /* inside */
        {"release pl1; consume pl1 friend h4 A 2", NULL},
        {"insert new h4; stock new A 2; release pl1; consume pl1 friend new A 2", NULL},
        {"release pl1", NULL},
        {"drop pl1", NULL},
        {"type away INSTANCE", NULL},
        {"user away another", NULL},
    };
    TRY_EACH(attempts);
}

static void test_nodes(void **state)
{
    (void)state;
    static const struct attempt attempts[] = {
        {"rename m3 other", NODE("Resource provider m3", "m3")},
        {"parent m3 h2", NODE("Resource provider m3", "m3")},
        {"clear m3 CUSTOM_IRON; remove m3", NODE("Resource provider m3", "m3")},
        {"stock m3 CUSTOM_IRON 2", NODE("Inventory of class CUSTOM_IRON", "m3")},
        {"stock m3 CUSTOM_IRON 1 1", NODE("Inventory of class CUSTOM_IRON", "m3")},
        {"clear m3 CUSTOM_IRON", NODE("Inventory of class CUSTOM_IRON", "m3")},
        {"untrait m2 CUSTOM_T", NODE("Trait CUSTOM_T", "m2")},
        {"drop al1", NODE("Consumer al1", "m1")},
        {"release al1", NODE("Consumer al1", "m1")},
        {"consume al1 no-project h2 A 1", NODE("Consumer al1", "m1")},
        {"release al1; consume al1 no-project h2 A 1", NODE("Consumer al1", "m1")},
        {"release al1; consume al1 no-project m2 CUSTOM_IRON 1", NODE("Consumer al1", "m1")},
        {"consume al4 nonmember h2 A 1", NODE("Consumer al4", "m4")},
        {"class CUSTOM_IRON CUSTOM_STEEL", NODE("Resource class CUSTOM_IRON", "m1")},
        /* inside */
        {"trait m2 CUSTOM_U", NULL},
        {"stock m2 A 4", NULL},
        {"stock m3 CUSTOM_IRON 1", NULL},
        {"consume new nonmember m2 CUSTOM_IRON 1", NULL},
        {"owner al1 friend", NULL},
        {"join m1 other", NULL},
        {"insert below m1", NULL},
        {"class CUSTOM_STEEL CUSTOM_TIN", NULL},
    };
    TRY_EACH(attempts);
}

/* A row of a node or of its allocation that is written without the mirror. */
static void test_rows_of_nodes(void **state)
{
    (void)state;
    static const struct attempt attempts[] = {
        {"node m9 class iron", NODE("Resource provider m9", "m9")},
        {"node m9 class iron 0", NODE("Resource provider m9", "m9")},
        {"node m9 class iron 0; insert m9", NODE("Inventory of class CUSTOM_IRON", "m9")},
        {"node m9 class iron 0; insert m9; stock m9 CUSTOM_IRON 1",
         NODE("Inventory of class CUSTOM_IRON", "m9")}, /* reserved: not available yet */
        {"node m5 class iron", NODE("Resource provider m5", "m5")},
        {"node m2 never-mirrored x", NODE("Resource provider m2", "m2")},
        {"node m2 class steel", NODE("Inventory of class CUSTOM_STEEL", "m2")},
        {"node m2 class steel; stock m2 CUSTOM_STEEL 1",
         NODE("Inventory of class CUSTOM_IRON", "m2")},
        {"node m2 mirrored-class iron", NODE("Resource provider m2", "m2")},
        {"node m2 maintenance 1", NODE("Inventory of class CUSTOM_IRON", "m2")},
        {"node m2 maintenance 1; node m2 description words; stock m2 CUSTOM_IRON 1 1",
         NODE("Inventory of class CUSTOM_IRON", "m2")}, /* the last row counts */
        {"node m2 traits CUSTOM_U", NODE("Trait CUSTOM_U", "m2")},
        {"node m2 traits CUSTOM_U; trait m2 CUSTOM_U", NODE("Trait CUSTOM_T", "m2")},
        {"node m1 class steel; clear m1 CUSTOM_IRON; stock m1 CUSTOM_STEEL 1 1; drop al1",
         NODE("Consumer al1", "m1")},
        {"node m1 class steel; clear m1 CUSTOM_IRON; stock m1 CUSTOM_STEEL 1 1",
         NODE("Consumer al1", "m1")}, /* which keeps the old class */
        {"unnode m2", NODE("Resource provider m2", "m2")},
        {"unnode m1", NODE("Consumer al1", "m1")},
        {"unnode m1; untake al1", NODE("Consumer al1", "m1")},
        {"node m1 left al1; untake al1", NODE("Consumer al1", "m1")}, /* it can be mirrored */
        {"names on | node m3 name iron-three", NODE("Resource provider m3", "m3")},
        {"untake al1", NODE("Consumer al1", "m1")},
        {"take al1 m2", NODE("Consumer al1", "m1")},
        {"take al9 m2", NODE("Consumer al9", "m2")},
        {"take al9 m2 0", NODE("Consumer al9", "m2")},
        {"take away m2 1", NODE("Consumer away", "m2")},
        {"take al9 m2 0; consume al9 friend m3 CUSTOM_IRON 1", NODE("Consumer al9", "m2")},
        {"take al9 m2 0; consume al9 friend h2 A 1", NODE("Consumer al9", "m2")},
        {"take al9 m2 0; take away m3; consume al9 friend m2 CUSTOM_IRON 1",
         NODE("Consumer away", "m3")},
        {"take away m2 0; consume away nonmember m2 CUSTOM_IRON 1", NODE("Consumer away", "m2")},
        {"take al4 m4 0", NODE("Consumer al4", "m4")},
        /* inside */
        {"node m9 description words", NULL},
        {"node m9 class iron 0; insert m9; stock m9 CUSTOM_IRON 1 1", NULL},
        {"node m2 description words", NULL},
        {"node m5 description words", NULL},
        {"node m2 class steel; stock m2 CUSTOM_STEEL 1; clear m2 CUSTOM_IRON", NULL},
        {"node m2 maintenance 1; stock m2 CUSTOM_IRON 1 1", NULL},
        {"node m2 traits CUSTOM_U; trait m2 CUSTOM_U; untrait m2 CUSTOM_T", NULL},
        {"unnode m5", NULL},
        {"unnode m2; stock m2 CUSTOM_IRON 1 1", NULL},
        {"unnode m1; untake al1; drop al1", NULL},
        {"untake al1; drop al1", NULL},
        {"take al9 m2 0; consume al9 friend m2 CUSTOM_IRON 1", NULL},
        {"take away m2 1; release away; consume away nonmember m2 CUSTOM_IRON 1", NULL},
    };
    TRY_EACH(attempts);
}

#define UNMIRRORED_CLASS                                                                           \
    "mirror off | node m2 class steel | node m2 mirrored-class iron | "                            \
    "consume s nonmember m2 CUSTOM_IRON 1 | mirror on | "
#define UNMIRRORED_TAKEN                                                                           \
    "mirror off | node m1 class steel | node m1 mirrored-class iron | stock m1 CUSTOM_STEEL 1; "   \
    "consume s nonmember m1 CUSTOM_STEEL 1 | mirror on | "
#define LEFT "mirror off | node m1 left al1; untake al1 | mirror on | "

/* Nodes whose row changed while the mirror was off: UNMIRRORED, and a non-member has allocated of
 * the class that they had or get; or LEFT with the consumer of an allocation that has gone. */
static void test_rows_of_unmirrored_nodes(void **state)
{
    (void)state;
    static const struct attempt attempts[] = {
        {UNMIRRORED_CLASS "node m2 mirrored-class copper", NODE("Resource provider m2", "m2")},
        {UNMIRRORED_CLASS "node m2 never-mirrored x", NODE("Resource provider m2", "m2")},
        {UNMIRRORED_CLASS "node m2 description words; take al9 m2 0; stock m2 CUSTOM_STEEL 1; "
                          "consume al9 friend m2 CUSTOM_STEEL 1",
         NODE("Resource provider m2", "m2")},
        {UNMIRRORED_TAKEN "untake al1", NODE("Consumer al1", "m1")},
        {UNMIRRORED_TAKEN "node m1 left other; untake al1", NODE("Consumer al1", "m1")},
        {UNMIRRORED_TAKEN "node m1 left al1; untake al1 | node m1 none-left x",
         NODE("Consumer al1", "m1")},
        {LEFT "node m1 none-left x", NODE("Consumer al1", "m1")},
        {LEFT "node m1 description words", NODE("Consumer al1", "m1")},
        {LEFT "node m1 none-left x; take al1 m2 0", NODE("Consumer al1", "m1")},
        {LEFT "unnode m1", NODE("Consumer al1", "m1")},
        /* inside */
        {UNMIRRORED_CLASS "node m2 description words", NULL},
        {UNMIRRORED_TAKEN "node m1 left al1; untake al1", NULL},
        {UNMIRRORED_TAKEN "node m1 left al1; untake al1 | node m1 description words", NULL},
        {UNMIRRORED_TAKEN "node m1 left al1; untake al1 | node m1 none-left x; drop al1", NULL},
        {LEFT "node m1 none-left x; drop al1", NULL},
        {LEFT "node m1 none-left x; take al1 m1 0", NULL},
        {LEFT "unnode m1; drop al1", NULL},
    };
    TRY_EACH(attempts);
}

static void test_capacity(void **state)
{
    (void)state;
    static const struct attempt attempts[] = {
        {"consume new x h5 A 9", FULL("A", "h5")},
        {"consume new x h2 A 7", FULL("A", "h2")},
        {"consume one x h5 A 4; consume two x h5 A 5", FULL("A", "h5")},
        {"consume new x h5 A 4; consume new x h5 A 5", FULL("A", "h5")},
        {"consume new x h5 B 3", FULL("B", "h5")},
        {"consume new x h5 C 1", FULL("C", "h5")},
        {"stock h5 A 4; consume new x h5 A 5", FULL("A", "h5")},
        {"consume new x h5 A 5; stock h5 A 4", FULL("A", "h5")},
        {"stock h5 A 8 4; consume new x h5 A 5", FULL("A", "h5")},
        {"stock h5 A 9; stock h5 A 4; consume new x h5 A 5", FULL("A", "h5")},
        {"clear h5 A; consume new x h5 A 1", FULL("A", "h5")},
        {"insert new; stock new A 4; consume c x new A 5", FULL("A", "new")},
        {"release away; consume away nonmember h2 A 9", FULL("A", "h2")},
        {"consume srv1 friend h4 A 9", FULL("A", "h4")},              /* the hold of 2 gives way */
        {"release pl1; consume srv1 friend h4 A 9", FULL("A", "h4")}, /* it goes once */
        {"drop pl1; consume srv1 friend h4 A 9", FULL("A", "h4")},
        {"release pl1; consume pl1 friend h4 A 2; consume srv1 friend h4 A 9", FULL("A", "h4")},
        {"consume srv1 friend h4 A 4; consume srv1 friend h4 A 5", FULL("A", "h4")},
        {"insert new h4; stock new A 2; release pl1; consume pl1 friend new A 2; "
         "consume srv1 friend h4 A 9",
         FULL("A", "h4")},
        {"release pl1; consume pl1 friend h4 B 2; consume srv1 friend h4 A 9", FULL("A", "h4")},
        {"consume away nonmember h2 A 7", FULL("A", "h2")},
        {"consume srv2 friend h4 A 7", FULL("A", "h4")},
        {"consume srv1 nonmember h4 A 7", FULL("A", "h4")},
        {"consume new x m1 CUSTOM_IRON 1", FULL("CUSTOM_IRON", "m1")},
        {"consume one x m2 CUSTOM_IRON 1; consume two x m2 CUSTOM_IRON 1",
         FULL("CUSTOM_IRON", "m2")},
        /* inside */
        {"consume new x h5 A 8", NULL},
        {"consume new x h2 A 6", NULL},
        {"consume one x h5 A 4; consume two x h5 A 4", NULL},
        {"consume new x h5 B 2", NULL},
        {"consume srv1 friend h4 A 8", NULL},
        {"release pl1; consume srv1 friend h4 A 8", NULL},
        {"drop pl1; consume srv1 friend h4 A 8", NULL},
        {"release pl1; consume pl1 friend h4 A 2; consume srv1 friend h4 A 8", NULL},
        {"consume srv1 friend h4 A 4; consume srv1 friend h4 A 4", NULL},
        {"stock h5 A 9; consume new x h5 A 9", NULL},
        {"stock h5 A 4; stock h5 A 9; consume new x h5 A 9", NULL},
        {"stock h5 C 1; consume new x h5 C 1", NULL},
        {"insert new; stock new A 4; consume c x new A 4", NULL},
        {"release away; consume away nonmember h2 A 8", NULL},
        {"drop away; consume new x h2 A 8", NULL},
        {"consume srv1 friend h4 A 8", NULL},
        {"stock h2 A 1; release away; consume away nonmember h2 A 2", NULL}, /* no higher */
        {"stock h2 A 1", NULL},
    };
    TRY_EACH(attempts);
}

/* What is reserved is for bare metal only. */
static void test_reserved(void **state)
{
    (void)state;
    static const struct rule *const authors[] = {NULL, &capacity_rule, &valet_rule, &node_rule};
    for (size_t i = 0; i < sizeof(authors) / sizeof(*authors); i++) {
        cloud_open(&cloud);
        cloud.world.author = authors[i];
        struct plan plan = metal_plan(&cloud);
        bool is_accepted =
            world_conclude(&cloud.world, cloud_plan_raw(&plan, "consume new x h5 B 3"));
        assert_int_equal(is_accepted, authors[i] == &node_rule);
        cloud_close(&cloud);
    }
}

/* Many rows are summed up by another method than few. */
static void try_many(unsigned consumers, const char *refused)
{
    struct buf request = {0};
    for (unsigned i = 0; i < consumers; i++) {
        buf_printf(&request, "insert q%u h2; stock q%u A 1; consume c%u x q%u A 1; ", i, i, i, i);
    }
    buf_printf(&request, "consume first x h5 A 4; consume second x h5 A %d",
               refused == NULL ? 4 : 5);
    buf_append_char(&request, '\0');
    const struct attempt attempt = {request.data, refused};
    try_each(&attempt, 1);
    buf_free(&request);
}

/* The rows to be summed up are not next to each other, and come after more rows than are summed up
 * one by one. */
static void try_mixed(unsigned consumers, const char *refused)
{
    struct buf request = {0};
    for (unsigned i = 0; i < 16; i++)
        buf_printf(&request, "insert q%u h2; stock q%u A 1; consume c%u x q%u A 1; ", i, i, i, i);
    for (unsigned i = 0; i < consumers; i++)
        buf_printf(&request, "%sconsume a%u x h4 B 1; consume b%u x h5 A 1", i == 0 ? "" : "; ", i,
                   i);
    buf_append_char(&request, '\0');
    const struct attempt attempt = {request.data, refused};
    try_each(&attempt, 1);
    buf_free(&request);
}

static void test_capacity_of_many(void **state)
{
    (void)state;
    for (unsigned consumers = 12; consumers < 20; consumers++) {
        try_many(consumers, FULL("A", "h5"));
        try_many(consumers, NULL);
    }
    try_mixed(8, NULL);
    try_mixed(9, FULL("B", "h4"));
}

/* A consequence of a request raises no generation that the request has raised. */
static void test_generations(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "drop racked", /* the rack's claim ends, h3 leaves the group */
        "release racked; consume racked friend h3 A 1",
        "release racked; consume racked friend h2 A 1; trait h3 CUSTOM_U",
        "stock h3 A 9; trait h3 CUSTOM_U; leave h3 ra",
        "consume one friend h3 A 1; consume two friend h3 A 1; consume one friend h3 B 1",
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        cloud_open(&cloud);
        int32_t before = metal_provider(&cloud, "h3")->generation;
        assert_int_equal(cloud_raw(&cloud, requests[i]), 0);
        assert_int_equal(metal_provider(&cloud, "h3")->generation, before + 1);
        if (i == 0)
            assert_null(version_next_valet_claim(cloud.world.edit->version, 0));
        cloud_close(&cloud);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exclusivity_of_consumers),
        cmocka_unit_test(test_exclusivity_of_providers),
        cmocka_unit_test(test_holds),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_rows_of_nodes),
        cmocka_unit_test(test_rows_of_unmirrored_nodes),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_capacity_of_many),
        cmocka_unit_test(test_generations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
