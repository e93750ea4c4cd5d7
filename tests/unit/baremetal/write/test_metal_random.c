/* Many thousand random steps through both APIs of one inventory: every accepted step leaves a
 * version that obeys the rules of metal_rules.c, every refused one has a status from 400 to 409 and
 * changes nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "baremetal/write/metal_world.h"
#include "placement/write/plan_allocations.h"
#include "placement/write/plan_inventories.h"
#include "placement/write/plan_providers.h"
#include "replica/nodes.h"
#include "rounds.h"
#include "unit.h"

enum { NODES = 7, NAMES = 10, STEPS = ROUNDS_OF(20000), SEEDS = 10, DELAY_US = 1000000 };

enum step {
    CREATE,
    DELETE,
    VERB,
    POWER,
    PASS,
    RESTART,
    MAINTAIN,
    TRAITS,
    CLASS,
    INSTANCE,
    ALLOCATE,
    DECIDE,
    BACKFILL,
    RELEASE,
    CLAIM, /* from here on: through the Placement API */
    CLAIM_DELETE,
    RESHAPE,
    INVENTORY,
    PROVIDER,
    STEP_COUNT
};

static const unsigned WEIGHTS[STEP_COUNT] = {
    [CREATE] = 6,       [DELETE] = 2,   [VERB] = 14,     [POWER] = 8,    [PASS] = 22,
    [RESTART] = 2,      [MAINTAIN] = 8, [TRAITS] = 4,    [CLASS] = 4,    [INSTANCE] = 3,
    [ALLOCATE] = 14,    [DECIDE] = 18,  [BACKFILL] = 4,  [RELEASE] = 10, [CLAIM] = 14,
    [CLAIM_DELETE] = 8, [RESHAPE] = 5,  [INVENTORY] = 4, [PROVIDER] = 2,
};

static struct metal_world metal;
static unsigned asked[STEP_COUNT], accepted[STEP_COUNT];

static unsigned below(unsigned n)
{
    return (unsigned)random() % n;
}

static const char *const CLASSES[] = {"gold", "silver", NULL};
static const char *const IN_PLACEMENT[] = {"CUSTOM_GOLD", "CUSTOM_SILVER", "A"};
static const char *const TRAIT_SETS[] = {"", "CUSTOM_A", "CUSTOM_B", "CUSTOM_A CUSTOM_B"};

/* Texts that outlive the world's arena. */
static const char *numbered(char prefix, unsigned number)
{
    static char texts[256][NAMES][4];
    char *text = texts[(unsigned char)prefix][number];
    snprintf(text, sizeof(texts[0][0]), "%c%u", prefix, number);
    return text;
}

/* Allocations and Placement's consumers share the same uuids. */
static const char *some_consumer(void)
{
    return numbered('a', below(NAMES));
}

static const struct node *some_node(void)
{
    return version_node_by_uuid(metal.world.edit->version, slice_of(numbered('n', below(NODES))));
}

static const struct node_allocation *some_allocation(void)
{
    return version_node_allocation_by_uuid(metal.world.edit->version, slice_of(some_consumer()));
}

static bool create(const struct plan *plan, struct err *err)
{
    const struct node *made;
    struct node_draft draft = metal_new_node(numbered('n', below(NODES)), CLASSES[below(3)]);
    if (below(3) == 0) {
        node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("enroll"));
        node_set_null(&draft, NODE_POWER_STATE);
    }
    return plan_node_create(&draft, plan, &made, err);
}

static bool verb(const struct node *node, const struct plan *plan, struct err *err)
{
    static const char *const names[] = {"manage",  "provide", "provide", "active", "active",
                                        "deleted", "deleted", "rebuild", "adopt",  "inspect",
                                        "clean",   "rescue",  "unrescue"};
    struct slice name = slice_of(names[below(13)]);
    const struct node_verb_name *known = node_verb_find(name);
    const struct plan_node_verb input = {.verb = known->verb};
    return plan_node_provision_check(node, name, known, plan, err) &&
           plan_node_provision(node, &input, plan, err);
}

static bool power(const struct node *node, const struct plan *plan, struct err *err)
{
    static const char *const names[] = {"power on", "power off", "rebooting"};
    struct slice name = slice_of(names[below(3)]);
    return plan_node_power(node, SLICE_LIT("n"), name, node_power_verb_find(name), plan, err);
}

/* As a new process would, in this step only. */
static bool restart(const struct node *node, struct plan *plan, struct err *err)
{
    struct metal other = metal.metal;
    other.instance = SLICE_LIT("host boot space 9 9");
    struct products products;
    plan->rules = products_open(&products, &other);
    int64_t due_us = node_time(node, NODE_DUE_AT);
    return plan_node_recover(node->record.id, due_us - (below(4) == 0), plan, err);
}

static bool change_class(const struct node *node, const struct plan *plan, struct err *err)
{
    const struct node *after;
    struct node_draft draft = node_draft_of(node);
    const char *class = CLASSES[below(3)];
    node_set_text(&draft, NODE_RESOURCE_CLASS, class == NULL ? (struct slice){0} : slice_of(class));
    struct plan_node_update update = {.before = node, .after = &draft, .ident = SLICE_LIT("n")};
    bool released;
    return plan_node_update_check(&update, plan, err) &&
           plan_node_update(&update, plan, &after, &released, err);
}

static bool change_instance(const struct node *node, const struct plan *plan, struct err *err)
{
    const struct node *after;
    struct node_draft draft = node_draft_of(node);
    node_set_text(&draft, NODE_INSTANCE_UUID,
                  below(2) == 0 ? (struct slice){0} : slice_of(some_consumer()));
    struct plan_node_update update = {.before = node, .after = &draft, .ident = SLICE_LIT("n")};
    bool released;
    return plan_node_update_check(&update, plan, err) &&
           plan_node_update(&update, plan, &after, &released, err);
}

static bool allocate(const struct node *node, const struct plan *plan, struct err *err)
{
    struct planned_node_allocation planned;
    struct node_allocation_draft draft =
        metal_new_allocation(some_consumer(), node == NULL ? CLASSES[below(2)] : CLASSES[below(3)]);
    const struct plan_node_allocation input = {
        .draft = &draft,
        .node = node,
        .has_uuid = node == NULL || below(2) == 0,
        .has_class = draft.value[NODE_ALLOCATION_RESOURCE_CLASS].text.data != NULL,
    };
    if (below(3) == 0)
        node_allocation_set_text(&draft, NODE_ALLOCATION_TRAITS, slice_of(TRAIT_SETS[below(4)]));
    if (below(4) == 0)
        node_allocation_set_text(&draft, NODE_ALLOCATION_CANDIDATE_NODES, SLICE_LIT("n1 n3 n5"));
    return plan_node_allocation_create(&input, plan, &planned, err);
}

static bool decide(const struct node_allocation *allocation, const struct plan *plan,
                   struct err *err)
{
    static struct node_choice choices[NAMES];
    struct node_choice *choice =
        &choices[below(NAMES)]; /* usually another allocation's, which is allowed */
    bool again;
    bool done = plan_node_allocation_decide(allocation->record.id, choice, &again, plan, err);
    if (!again || below(2) == 0)
        node_choice_free(choice);
    return done;
}

static bool claim(const struct plan *plan, struct err *err)
{
    const struct claim_amount amounts[] = {{slice_of(IN_PLACEMENT[below(3)]), 1},
                                           {slice_of(IN_PLACEMENT[below(3)]), 1 + below(2)}};
    const struct claim_provider providers[] = {
        {slice_of(numbered('n', below(NODES))), amounts, 1},
        {slice_of(numbered('n', below(NODES))), amounts + 1, 1}};
    const struct claim input = {
        .consumer = slice_of(some_consumer()),
        .project = SLICE_LIT("project"),
        .user = SLICE_LIT("user"),
        .providers = providers,
        .provider_count =
            below(4) == 0 && !slice_equal(providers[0].uuid, providers[1].uuid) ? 2 : 1,
    };
    return plan_allocations(&input, 1, CLAIM_BY_PUT, plan, err);
}

static const struct provider *some_provider(void)
{
    return version_provider_by_uuid(metal.world.edit->version,
                                    slice_of(numbered('n', below(NODES))));
}

/* Usually what the node's row says, and one more class. */
static size_t inventories_of(const struct provider *provider, struct reshape_inventory *items)
{
    const struct node *node =
        version_node_by_uuid(metal.world.edit->version, provider_uuid(provider));
    size_t count = 0;
    items[count++] = (struct reshape_inventory){SLICE_LIT("A"), {6, 0, 1, 6, 1, 1.0}};
    if (node == NULL || node_is_null(node, NODE_RESOURCE_CLASS) || below(8) == 0)
        return count;
    struct slice class = node_text(node, NODE_RESOURCE_CLASS);
    items[count] = (struct reshape_inventory){slice_of(IN_PLACEMENT[class.data[0] == 'g' ? 0 : 1]),
                                              node_figures(node)};
    if (below(8) == 0)
        items[count].figures.reserved = 1 - items[count].figures.reserved;
    return count + 1;
}

static bool reshape(const struct provider *provider, const struct plan *plan, struct err *err)
{
    struct reshape_inventory items[2];
    const struct reshape_provider providers[] = {
        {.uuid = provider_uuid(provider),
         .generation = provider->generation,
         .inventories = items,
         .inventory_count = inventories_of(provider, items)}};
    const struct claim_amount amounts[] = {{slice_of(IN_PLACEMENT[below(3)]), 1}};
    const struct claim_provider held[] = {{provider_uuid(provider), amounts, 1}};
    const struct claim claims[] = {{.consumer = slice_of(some_consumer()),
                                    .project = SLICE_LIT("project"),
                                    .user = SLICE_LIT("user"),
                                    .providers = held,
                                    .provider_count = 1}};
    const struct reshape input = {providers, 1, claims, below(2)};
    return plan_reshaper(&input, plan, err);
}

static bool set_inventories(const struct provider *provider, const struct plan *plan,
                            struct err *err)
{
    struct reshape_inventory from[2];
    struct plan_inventory items[2];
    size_t count = inventories_of(provider, from);
    int64_t generation;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct plan_inventory){from[i].class_name, from[i].figures, true};
    const struct plan_inventories input = {.provider_uuid = provider_uuid(provider),
                                           .generation = provider->generation,
                                           .all_can_be_reserved = true,
                                           .items = items,
                                           .item_count = count};
    return plan_inventories_set(&input, plan, &generation, err);
}

/* A provider that a node may adopt. */
static bool make_or_delete_provider(const struct plan *plan, struct err *err)
{
    struct planned_provider made;
    struct slice uuid = slice_of(numbered('n', below(NODES)));
    if (below(2) == 0)
        return plan_provider_delete(uuid, plan, err);
    return plan_provider_create(uuid, uuid, (struct slice){0}, plan, &made, err);
}

static bool on_node(enum step step, const struct node *node, struct plan *plan, struct err *err)
{
    switch (step) {
    case DELETE:
        return plan_node_delete(node, plan, err);
    case VERB:
        return verb(node, plan, err);
    case POWER:
        return power(node, plan, err);
    case PASS:
        return plan_node_advance(node->record.id, plan, err);
    case RESTART:
        return restart(node, plan, err);
    case MAINTAIN:
        return plan_node_maintenance(node, below(3) == 0, (struct slice){0}, plan, err);
    case TRAITS:
        return plan_node_traits(node, slice_of(TRAIT_SETS[below(4)]), plan, err);
    case CLASS:
        return change_class(node, plan, err);
    case INSTANCE:
        return change_instance(node, plan, err);
    case BACKFILL:
        return allocate(node, plan, err);
    default:
        fail();
    }
    return false;
}

/* Plans one step; false in *happens: there is no object for it. */
static bool plan_step(enum step step, struct plan *plan, struct err *err, bool *happens)
{
    const struct provider *provider = some_provider();
    const struct node_allocation *allocation = some_allocation();
    const struct node *node = some_node();
    *happens = true;
    switch (step) {
    case CREATE:
        return create(plan, err);
    case ALLOCATE:
        return allocate(NULL, plan, err);
    case DECIDE:
        *happens = allocation != NULL;
        return allocation == NULL || decide(allocation, plan, err);
    case RELEASE:
        *happens = allocation != NULL;
        return allocation == NULL || plan_node_allocation_delete(allocation, plan, err);
    case CLAIM:
        return claim(plan, err);
    case CLAIM_DELETE: {
        struct slice uuid = slice_of(some_consumer());
        return plan_allocations_delete(uuid, uuid, plan, err);
    }
    case RESHAPE:
        *happens = provider != NULL;
        return provider == NULL || reshape(provider, plan, err);
    case INVENTORY:
        *happens = provider != NULL;
        return provider == NULL || set_inventories(provider, plan, err);
    case PROVIDER:
        return make_or_delete_provider(plan, err);
    default:
        *happens = node != NULL;
        return node == NULL || on_node(step, node, plan, err);
    }
}

static enum step draw(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < STEP_COUNT; i++)
        sum += WEIGHTS[i];
    unsigned at = below(sum);
    unsigned step = 0;
    for (; at >= WEIGHTS[step]; step++)
        at -= WEIGHTS[step];
    return (enum step)step;
}

static void one_step(void)
{
    enum step step = draw();
    bool happens;
    metal.world.now_us += below(DELAY_US / 2);
    struct plan plan = metal_plan(&metal);
    bool is_accepted = plan_step(step, &plan, &metal.world.err, &happens);
    if (!happens)
        return;
    asked[step]++;
    accepted[step] += is_accepted && metal.world.changes.count > 0;
    if (!is_accepted && (metal.world.err.status < 400 || metal.world.err.status > 409))
        fail_msg("step %d is refused with %d", (int)step, metal.world.err.status);
    if (step >= CLAIM)
        metal_conclude_other(&metal, is_accepted);
    else
        metal_conclude(&metal, is_accepted);
    metal_check_locks(&metal);
}

static void run_seeds(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        srandom(seed);
        metal_open(&metal);
        metal.metal.provider_has_node_name = seed % 3 == 0;
        print_message("seed %u\n", seed);
        for (unsigned i = 0; i < STEPS; i++)
            one_step();
        metal_close(&metal);
    }
    for (unsigned i = 0; i < STEP_COUNT; i++) {
        print_message("step %2u: %5u asked, %5u changed something\n", i, asked[i], accepted[i]);
        assert_true(accepted[i] > ROUNDS_OF(100));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(run_seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
