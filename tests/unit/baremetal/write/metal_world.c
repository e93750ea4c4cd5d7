/* See metal_world.h. One thread. */
#include "baremetal/write/metal_world.h"

#include "baremetal/write/node_rule.h"
#include "placement/write/plan_allocations.h"
#include "placement/write/plan_classes.h"
#include "placement/write/plan_inventories.h"
#include "replica/nodes.h"
#include "unit.h"

enum { DELAY_US = 1000000 };

void metal_open(struct metal_world *metal)
{
    *metal = (struct metal_world){.metal = {
                                      .mirror = true,
                                      .host = SLICE_LIT("host"),
                                      .instance = SLICE_LIT("host boot 1 2"),
                                      .fake_delay_us = DELAY_US,
                                      .locked_retry_attempts = 3,
                                      .locked_retry_interval_us = DELAY_US,
                                      .incomplete_project_id = SLICE_LIT("no-project"),
                                      .incomplete_user_id = SLICE_LIT("no-user"),
                                  }};
    world_open(&metal->world, 0);
    world_set_next_id(&metal->world, STORE_CLASSES, 10000); /* custom ones */
    metal->world.now_us = 1;
    products_open(&metal->world.products, &metal->metal);
    metal->world.author = &node_rule;
}

void metal_close(struct metal_world *metal)
{
    world_close(&metal->world);
}

struct plan metal_plan(struct metal_world *metal)
{
    return world_plan(&metal->world);
}

static const struct version *version_of(struct metal_world *metal)
{
    return metal->world.edit->version;
}

/* C8. */
static void check_generations(const struct change_list *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->items[i].kind != CHANGE_PROVIDER_GENERATION)
            continue;
        const struct change_generation *step = &changes->items[i].generation;
        assert_int_equal(step->next, step->expected + 1);
        for (size_t k = i + 1; k < changes->count; k++)
            assert_false(changes->items[k].kind == CHANGE_PROVIDER_GENERATION &&
                         changes->items[k].generation.provider_id == step->provider_id);
    }
}

bool metal_conclude(struct metal_world *metal, bool accepted)
{
    check_generations(&metal->world.changes);
    return metal_conclude_other(metal, accepted);
}

bool metal_conclude_other(struct metal_world *metal, bool accepted)
{
    if (!world_conclude(&metal->world, accepted))
        return false;
    if (metal->metal.mirror)
        metal_check_rules(metal);
    return true;
}

const struct node *metal_node(struct metal_world *metal, const char *uuid)
{
    const struct node *node = version_node_by_uuid(version_of(metal), slice_of(uuid));
    assert_non_null(node);
    return node;
}

const struct node_allocation *metal_allocation(struct metal_world *metal, const char *uuid)
{
    return version_node_allocation_by_uuid(version_of(metal), slice_of(uuid));
}

const struct provider *metal_provider(struct metal_world *metal, const char *uuid)
{
    return version_provider_by_uuid(version_of(metal), slice_of(uuid));
}

const struct provider_inventory *metal_inventory(struct metal_world *metal, const char *provider,
                                                 const char *class)
{
    const struct catalog_row *row = catalog_find(&version_of(metal)->classes, slice_of(class));
    return row == NULL ? NULL
                       : provider_inventory_of(metal_provider(metal, provider),
                                               (struct class_no){row->number});
}

const struct consumer *metal_consumer(struct metal_world *metal, const char *uuid)
{
    return version_consumer(version_of(metal), slice_of(uuid));
}

bool metal_has_trait(struct metal_world *metal, const char *provider, const char *trait)
{
    const struct catalog_row *row = catalog_find(&version_of(metal)->traits, slice_of(trait));
    return row != NULL && name_set_has(metal_provider(metal, provider)->traits, row->number);
}

void metal_put_inventory(struct metal_world *metal, const char *provider, const char *class,
                         int32_t total)
{
    struct plan plan = metal_plan(metal);
    bool is_new;
    assert_true(metal_conclude(
        metal, plan_class_ensure(slice_of(class), &plan, &is_new, &metal->world.err)));
    const struct plan_inventory item = {slice_of(class), {total, 0, 1, total, 1, 1.0}, true};
    const struct plan_inventories input = {
        .provider_uuid = slice_of(provider), .items = &item, .item_count = 1};
    int64_t generation;
    plan = metal_plan(metal);
    assert_true(metal_conclude(
        metal, plan_inventory_create(&input, &plan, &generation, &metal->world.err)));
}

struct node_draft metal_new_node(const char *uuid, const char *class)
{
    struct node_draft draft = node_draft_new(0);
    node_set_text(&draft, NODE_UUID, slice_of(uuid));
    if (class != NULL)
        node_set_text(&draft, NODE_RESOURCE_CLASS, slice_of(class));
    node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("available"));
    node_set_text(&draft, NODE_POWER_STATE, SLICE_LIT("power on"));
    return draft;
}

static struct node_draft new_node(const char *uuid, const char *class)
{
    struct node_draft draft = node_draft_new(0);
    node_set_text(&draft, NODE_UUID, slice_of(uuid));
    if (class != NULL)
        node_set_text(&draft, NODE_RESOURCE_CLASS, slice_of(class));
    return draft;
}

bool metal_create_drafted(struct metal_world *metal, struct node_draft *draft)
{
    const struct node *node;
    struct plan plan = metal_plan(metal);
    return metal_conclude(metal, plan_node_create(draft, &plan, &node, &metal->world.err));
}

bool metal_create(struct metal_world *metal, const char *uuid, const char *class)
{
    struct node_draft draft = new_node(uuid, class);
    return metal_create_drafted(metal, &draft);
}

void metal_create_available(struct metal_world *metal, const char *uuid, const char *class)
{
    struct node_draft draft = metal_new_node(uuid, class);
    assert_true(metal_create_drafted(metal, &draft));
}

bool metal_patch(struct metal_world *metal, const char *uuid, enum node_field field,
                 const char *text)
{
    const struct node *after;
    struct plan plan = metal_plan(metal);
    struct node_draft draft = node_draft_of(metal_node(metal, uuid));
    struct plan_node_update update = {
        .before = metal_node(metal, uuid),
        .after = &draft,
        .ident = slice_of(uuid),
        .sets_owner = field == NODE_OWNER && text != NULL,
    };
    if (text == NULL)
        node_set_null(&draft, field);
    else
        node_set_text(&draft, field, slice_of(text));
    bool released;
    return metal_conclude(
        metal, plan_node_update_check(&update, &plan, &metal->world.err) &&
                   plan_node_update(&update, &plan, &after, &released, &metal->world.err));
}

bool metal_maintain(struct metal_world *metal, const char *uuid, bool is_on)
{
    struct plan plan = metal_plan(metal);
    return metal_conclude(metal,
                          plan_node_maintenance(metal_node(metal, uuid), is_on, (struct slice){0},
                                                &plan, &metal->world.err));
}

bool metal_set_traits(struct metal_world *metal, const char *uuid, const char *traits)
{
    struct plan plan = metal_plan(metal);
    return metal_conclude(metal, plan_node_traits(metal_node(metal, uuid), slice_of(traits), &plan,
                                                  &metal->world.err));
}

bool metal_delete(struct metal_world *metal, const char *uuid)
{
    struct plan plan = metal_plan(metal);
    return metal_conclude(metal,
                          plan_node_delete(metal_node(metal, uuid), &plan, &metal->world.err));
}

bool metal_run_verb(struct metal_world *metal, const char *uuid, const char *name,
                    struct slice clean_error)
{
    struct plan plan = metal_plan(metal);
    const struct node *node = metal_node(metal, uuid);
    const struct node_verb_name *known = node_verb_find(slice_of(name));
    const struct plan_node_verb verb = {known->verb, clean_error};
    return metal_conclude(
        metal, plan_node_provision_check(node, slice_of(name), known, &plan, &metal->world.err) &&
                   plan_node_provision(node, &verb, &plan, &metal->world.err));
}

bool metal_verb(struct metal_world *metal, const char *uuid, const char *name)
{
    return metal_run_verb(metal, uuid, name, (struct slice){0});
}

bool metal_power(struct metal_world *metal, const char *uuid, const char *name)
{
    struct plan plan = metal_plan(metal);
    const struct node_power_verb *verb = node_power_verb_find(slice_of(name));
    return metal_conclude(metal, plan_node_power(metal_node(metal, uuid), slice_of(uuid),
                                                 slice_of(name), verb, &plan, &metal->world.err));
}

void metal_pass(struct metal_world *metal, const char *uuid)
{
    metal->world.now_us += DELAY_US;
    struct plan plan = metal_plan(metal);
    int64_t id = metal_node(metal, uuid)->record.id;
    assert_true(metal_conclude(metal, plan_node_advance(id, &plan, &metal->world.err)));
}

struct node_allocation_draft metal_new_allocation(const char *uuid, const char *class)
{
    struct node_allocation_draft draft = node_allocation_draft_new(0);
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID, slice_of(uuid));
    if (class != NULL)
        node_allocation_set_text(&draft, NODE_ALLOCATION_RESOURCE_CLASS, slice_of(class));
    return draft;
}

bool metal_allocate_drafted(struct metal_world *metal, const struct node_allocation_draft *draft,
                            const char *node)
{
    struct plan plan = metal_plan(metal);
    const struct plan_node_allocation input = {
        .draft = draft,
        .node = node == NULL ? NULL : metal_node(metal, node),
        .has_uuid = draft->value[NODE_ALLOCATION_UUID].text.data != NULL,
        .has_class = draft->value[NODE_ALLOCATION_RESOURCE_CLASS].text.data != NULL,
    };
    return metal_conclude(
        metal, plan_node_allocation_create(&input, &plan, &metal->planned, &metal->world.err));
}

bool metal_allocate(struct metal_world *metal, const char *uuid, const char *class)
{
    const struct node_allocation_draft draft = metal_new_allocation(uuid, class);
    return metal_allocate_drafted(metal, &draft, NULL);
}

bool metal_backfill(struct metal_world *metal, const char *uuid, const char *node)
{
    const struct node_allocation_draft draft = metal_new_allocation(uuid, NULL);
    return metal_allocate_drafted(metal, &draft, node);
}

bool metal_decide(struct metal_world *metal, const char *uuid, struct node_choice *choice)
{
    bool tries_again;
    struct node_choice first = {0};
    struct node_choice *used = choice == NULL ? &first : choice;
    struct plan plan = metal_plan(metal);
    int64_t id = metal_allocation(metal, uuid)->record.id;
    assert_true(metal_conclude(
        metal, plan_node_allocation_decide(id, used, &tries_again, &plan, &metal->world.err)));
    node_choice_free(&first);
    return !tries_again;
}

bool metal_release(struct metal_world *metal, const char *uuid)
{
    struct plan plan = metal_plan(metal);
    return metal_conclude(metal, plan_node_allocation_delete(metal_allocation(metal, uuid), &plan,
                                                             &metal->world.err));
}

bool metal_claim(struct metal_world *metal, const char *uuid, const char *provider,
                 const char *class, int64_t amount)
{
    const struct claim_amount amounts[] = {{slice_of(class), amount}};
    const struct claim_provider providers[] = {{slice_of(provider), amounts, 1}};
    const struct claim claim = {
        .consumer = slice_of(uuid),
        .project = SLICE_LIT("project"),
        .user = SLICE_LIT("user"),
        .providers = providers,
        .provider_count = amount > 0 ? 1 : 0,
    };
    struct plan plan = metal_plan(metal);
    return metal_conclude(metal,
                          plan_allocations(&claim, 1, CLAIM_BY_PUT, &plan, &metal->world.err));
}

static void assert_text(struct metal_world *metal, struct slice text, const char *wanted)
{
    assert_string_equal(text.data == NULL ? "null" : arena_copy(metal->world.arena, text).data,
                        wanted);
}

void metal_assert_active(struct metal_world *metal, const char *uuid, const char *node)
{
    const struct node_allocation *at = metal_allocation(metal, uuid);
    assert_non_null(at);
    assert_text(metal, node_allocation_text(at, NODE_ALLOCATION_LAST_ERROR), "null");
    assert_text(metal, node_allocation_text(at, NODE_ALLOCATION_STATE), "active");
    const struct node *has = version_node(version_of(metal), node_allocation_node_id(at));
    assert_text(metal, node_text(has, NODE_UUID), node);
}

void metal_assert_failed(struct metal_world *metal, const char *uuid, const char *last_error)
{
    const struct node_allocation *at = metal_allocation(metal, uuid);
    assert_non_null(at);
    assert_text(metal, node_allocation_text(at, NODE_ALLOCATION_STATE), "error");
    assert_text(metal, node_allocation_text(at, NODE_ALLOCATION_LAST_ERROR), last_error);
    assert_int_equal(node_allocation_node_id(at), 0);
}

void metal_assert_state(struct metal_world *metal, const char *node, const char *state)
{
    assert_text(metal, node_text(metal_node(metal, node), NODE_PROVISION_STATE), state);
}

void metal_assert_refused(struct metal_world *metal, int status, const char *text)
{
    world_assert_refused(&metal->world, status, NULL, text);
}
