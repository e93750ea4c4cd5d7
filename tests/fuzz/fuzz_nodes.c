/* A few writes through both APIs of one inventory, and the conductor's work between them: steps
 * separated by a NUL byte, each with the route, the ids in its path, the microversion, and the
 * body. After each step the version is audited, Placement's tables match the nodes' rows, and a
 * node and its active allocation refer to each other (baremetal-allocations spec, 13). */
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "baremetal/api/definition.h"
#include "baremetal/api/handlers.h"
#include "baremetal/api/metal_request.h"
#include "baremetal/write/conductor.h"
#include "baremetal/write/node_provider.h"
#include "baremetal/write/node_rule.h"
#include "baremetal/write/node_write.h"
#include "baremetal/write/plan_node_allocations.h"
#include "baremetal/write/plan_node_states.h"
#include "baremetal/write/plan_nodes.h"
#include "conf/baremetal.h"
#include "engine/checked.h"
#include "fuzz.h"
#include "placement/api/allocation_handlers.h"
#include "placement/api/definition.h"
#include "placement/api/handlers.h"
#include "products/products.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/nodes.h"
#include "world.h"

enum { STEPS_MAX = 40, DELAY_US = 1000000, PLACEMENT_MINOR = 39, BAREMETAL_MINOR = 82 };

#define NODE_1 "dddddddd-0000-4000-8000-000000000001"
#define NODE_2 "dddddddd-0000-4000-8000-000000000002"
#define NODE_3 "dddddddd-0000-4000-8000-000000000003"

static const char *const IDENTS[] = {
    NODE_1,
    NODE_2,
    NODE_3,
    "eeeeeeee-0000-4000-8000-000000000001",
    "eeeeeeee-0000-4000-8000-000000000002",
    "cccccccc-0000-4000-8000-000000000002",
    "ffffffff-0000-4000-8000-000000000001",
    "rack-1",
    "web-1",
    "CUSTOM_GOLD",
    "CUSTOM_A",
    "HW_CPU_X86_AVX",
    "no such",
};
enum { IDENT_COUNT = sizeof(IDENTS) / sizeof(IDENTS[0]) };

enum work { ASKED, PASS_TIME, DECIDE, RECOVER, MIRROR_OFF, MIRROR_ON };

static const struct {
    const struct api_definition *definition;
    enum api_step (*handle)(struct api_request *request);
    void (*finish)(struct api_request *request);
    enum work work;
} ROUTES[] = {
    {&baremetal_definition, handle_baremetal_node_create, finish_baremetal_node_create,
     ASKED}, /* A */
    {&baremetal_definition, handle_baremetal_node_patch, finish_baremetal_node_patch,
     ASKED},                                                                              /* B */
    {&baremetal_definition, handle_baremetal_node_delete, finish_baremetal_empty, ASKED}, /* C */
    {&baremetal_definition, handle_baremetal_node_provision_set, finish_baremetal_node_action,
     ASKED}, /* D */
    {&baremetal_definition, handle_baremetal_node_power_set, finish_baremetal_node_action,
     ASKED}, /* E */
    {&baremetal_definition, handle_baremetal_node_maintenance_set,
     finish_baremetal_node_maintenance, ASKED}, /* F */
    {&baremetal_definition, handle_baremetal_node_maintenance_clear,
     finish_baremetal_node_maintenance, ASKED}, /* G */
    {&baremetal_definition, handle_baremetal_node_traits_set, finish_baremetal_empty,
     ASKED}, /* H */
    {&baremetal_definition, handle_baremetal_node_trait_add, finish_baremetal_node_trait_add,
     ASKED}, /* I */
    {&baremetal_definition, handle_baremetal_node_trait_remove, finish_baremetal_empty,
     ASKED}, /* J */
    {&baremetal_definition, handle_baremetal_allocation_create, finish_baremetal_allocation_create,
     ASKED}, /* K */
    {&baremetal_definition, handle_baremetal_allocation_patch, finish_baremetal_allocation_patch,
     ASKED}, /* L */
    {&baremetal_definition, handle_baremetal_allocation_delete, finish_baremetal_empty,
     ASKED}, /* M */
    {&baremetal_definition, handle_baremetal_node_allocation_delete, finish_baremetal_empty,
     ASKED}, /* N */
    {&placement_definition, handle_placement_allocations_update, finish_placement_empty,
     ASKED}, /* O */
    {&placement_definition, handle_placement_allocations_manage, finish_placement_empty,
     ASKED}, /* P */
    {&placement_definition, handle_placement_allocations_delete, finish_placement_empty,
     ASKED},                                                                                 /* Q */
    {&placement_definition, handle_placement_reshaper_apply, finish_placement_empty, ASKED}, /* R */
    {&placement_definition, handle_placement_provider_create, finish_placement_provider_create,
     ASKED}, /* S */
    {&placement_definition, handle_placement_provider_update, finish_placement_provider_update,
     ASKED}, /* T */
    {&placement_definition, handle_placement_provider_delete, finish_placement_empty,
     ASKED}, /* U */
    {&placement_definition, handle_placement_inventories_set, finish_placement_inventories_set,
     ASKED}, /* V */
    {&placement_definition, handle_placement_provider_traits_set,
     finish_placement_provider_traits_set, ASKED}, /* W */
    {NULL, NULL, NULL, PASS_TIME},                 /* X */
    {NULL, NULL, NULL, DECIDE},                    /* Y */
    {NULL, NULL, NULL, RECOVER},                   /* Z */
    {NULL, NULL, NULL, MIRROR_OFF},                /* [ */
    {NULL, NULL, NULL, MIRROR_ON},                 /* \ */
};
enum { ROUTE_COUNT = sizeof(ROUTES) / sizeof(ROUTES[0]) };

struct play {
    struct edit *edit;
    struct arena *arena;
    struct change_list changes;
    struct metal metal;
    struct products products;
    struct plan_said said;
    int64_t now_us;
    bool mirror_was_off;
};

static struct plan plan_of(struct play *play)
{
    play->changes = (struct change_list){.arena = play->arena};
    play->said = (struct plan_said){0};
    return (struct plan){
        .version = play->edit->version,
        .changes = &play->changes,
        .arena = play->arena,
        .store = world_get()->store,
        .rules = &play->products.rules,
        .author = &node_rule,
        .said = &play->said,
        .now_us = play->now_us,
    };
}

/* C8: a write through the Bare Metal API increments a provider's generation by one. */
static void check_generations(const struct change_list *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const struct change_generation *step = &changes->items[i].generation;
        if (changes->items[i].kind != CHANGE_PROVIDER_GENERATION)
            continue;
        check(step->next == step->expected + 1);
        for (size_t k = i + 1; k < changes->count; k++)
            check(changes->items[k].kind != CHANGE_PROVIDER_GENERATION ||
                  changes->items[k].generation.provider_id != step->provider_id);
    }
}

static void check_pair(const struct version *version, const struct node *node)
{
    const struct node_allocation *has = version_node_allocation_of(version, node->record.id);
    if (has == NULL)
        return;
    check(node_allocation_text_is(has, NODE_ALLOCATION_STATE, "active"));
    check(slice_equal(node_text(node, NODE_INSTANCE_UUID),
                      node_allocation_text(has, NODE_ALLOCATION_UUID)));
}

static void check_nodes(const struct play *play)
{
    const struct version *version = play->edit->version;
    for (const struct node *node = version_next_node(version, 0); node != NULL;
         node = version_next_node(version, node->record.id)) {
        check_pair(version, node);
        check(play->mirror_was_off || node_is_mirrored(version, node, play->arena));
    }
    for (const struct node_allocation *at = version_next_node_allocation(version, 0); at != NULL;
         at = version_next_node_allocation(version, at->record.id))
        check(node_allocation_text_is(at, NODE_ALLOCATION_STATE, "active") ==
              (version_node(version, node_allocation_node_id(at)) != NULL));
}

/* As in the pipeline, from the check on. */
static void conclude(struct play *play, const struct plan *plan, bool accepted, struct err *err,
                     bool is_metal)
{
    struct buf why = {0};
    struct checked checked;
    check(accepted == !err_is_set(err));
    if (!accepted || !checked_planned(&checked, plan, err))
        return;
    if (is_metal)
        check_generations(&play->changes);
    apply_changes(play->edit, &play->changes);
    play->changes.count = 0;
    while (checked_follow(&checked, plan)) {
        apply_changes(play->edit, &play->changes);
        play->changes.count = 0;
    }
    if (!audit_version(play->edit->version, &why)) {
        fprintf(stderr, "%.*s\n", SLICE_ARG(buf_slice(&why)));
        abort();
    }
    buf_free(&why);
    check_nodes(play);
}

static struct err no_err(struct play *play)
{
    return (struct err){.arena = play->arena};
}

static void create_node(struct play *play, const char *uuid, const char *class)
{
    struct err err = no_err(play);
    const struct node *node;
    struct plan plan = plan_of(play);
    struct node_draft draft = node_draft_new(0);
    node_set_text(&draft, NODE_UUID, slice_of(uuid));
    node_set_text(&draft, NODE_RESOURCE_CLASS, slice_of(class));
    node_set_text(&draft, NODE_POWER_STATE, SLICE_LIT("power on"));
    node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("available"));
    bool accepted = plan_node_create(&draft, &plan, &node, &err);
    check(accepted);
    conclude(play, &plan, accepted, &err, true);
}

static void end_all(struct play *play, bool recovers)
{
    play->now_us += DELAY_US;
    for (int64_t id = 0;;) {
        const struct node *node = version_next_busy_node(play->edit->version, id);
        if (node == NULL)
            return;
        id = node->record.id;
        struct err err = no_err(play);
        struct plan plan = plan_of(play);
        bool accepted = recovers ? plan_node_recover(id, node_time(node, NODE_DUE_AT), &plan, &err)
                                 : plan_node_advance(id, &plan, &err);
        check(accepted); /* due work is never refused */
        conclude(play, &plan, accepted, &err, true);
    }
}

static void recover_all(struct play *play)
{
    play->metal.instance =
        slice_equal(play->metal.instance, SLICE_LIT("one")) ? SLICE_LIT("other") : SLICE_LIT("one");
    end_all(play, true);
}

static void decide_all(struct play *play)
{
    for (int64_t id = 0;;) {
        const struct node_allocation *at = version_next_allocating(play->edit->version, id);
        if (at == NULL)
            return;
        id = at->record.id;
        struct err err = no_err(play);
        struct plan plan = plan_of(play);
        struct node_choice choice = {0};
        bool tries_again;
        bool accepted = plan_node_allocation_decide(id, &choice, &tries_again, &plan, &err);
        check(accepted);
        conclude(play, &plan, accepted, &err, true);
        node_choice_free(&choice);
    }
}

static void mirror_all(struct play *play)
{
    play->metal.mirror = true;
    for (int64_t id = 0;;) {
        const struct node *node = version_next_node(play->edit->version, id);
        if (node == NULL)
            return;
        id = node->record.id;
        struct err err = no_err(play);
        struct plan plan = plan_of(play);
        bool accepted = node_write_mirror(id, &plan, &err);
        conclude(play, &plan, accepted, &err, true);
        check(!accepted || node_is_mirrored(play->edit->version,
                                            version_node(play->edit->version, id), play->arena));
    }
}

static const struct api *api_get(void)
{
    static struct api api;
    if (api.policies == NULL)
        api.policies = fuzz_policies();
    return &api;
}

static const struct metal_settings *settings_get(void)
{
    static const struct conf_baremetal CONF = {.max_limit = 1000, .host = SLICE_LIT("host")};
    static struct metal_settings settings = {.conf = &CONF};
    if (settings.conductor == NULL) /* so that there is one to wake */
        settings.conductor = conductor_create(NULL, world_get()->replica, NULL);
    return &settings;
}

static void ask(struct play *play, unsigned route, const uint8_t *data, size_t size)
{
    const struct api_definition *definition = ROUTES[route].definition;
    unsigned newest = definition == &baremetal_definition ? BAREMETAL_MINOR : PLACEMENT_MINOR;
    struct fuzz_request r;
    struct api_request *request =
        fuzz_request_begin(&r, play->arena, api_get(), data[1] == 'z' ? newest : data[1] % newest);
    struct metal_request own = {0};
    r.endpoint.definition = request->definition = definition;
    if (definition == &baremetal_definition) {
        r.endpoint.settings = settings_get();
        request->own = &own;
    }
    request->args[0] = slice_of(IDENTS[data[0] % IDENT_COUNT]);
    request->args[1] = slice_of(IDENTS[data[0] / IDENT_COUNT % IDENT_COUNT]);
    request->http->body = (struct slice){(const char *)data + 2, size - 2};
    request->version = play->edit->version;
    if (ROUTES[route].handle(request) == API_WRITE) {
        request->version = NULL; /* as in dispatch: no longer pinned */
        struct plan plan = plan_of(play);
        bool accepted = request->write->plan(request->write, &plan);
        conclude(play, &plan, accepted, &request->write->err, definition == &baremetal_definition);
        request->err = request->write->err;
        ROUTES[route].finish(request);
    }
    fuzz_request_check_answer(&r);
    fuzz_request_end(&r);
}

static void step(struct play *play, const uint8_t *data, size_t size)
{
    unsigned route = (unsigned)(data[0] + ROUTE_COUNT * 3 - 'A') % ROUTE_COUNT;
    switch (ROUTES[route].work) {
    case ASKED:
        if (size >= 3)
            ask(play, route, data + 1, size - 1);
        return;
    case PASS_TIME:
        end_all(play, false);
        return;
    case DECIDE:
        decide_all(play);
        return;
    case RECOVER:
        recover_all(play);
        return;
    case MIRROR_OFF:
        play->metal.mirror = false;
        play->mirror_was_off = true;
        return;
    case MIRROR_ON:
        mirror_all(play);
        return;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct play play = {
        .edit = replica_edit(world_get()->replica),
        .arena = arena_create(),
        .metal = {.mirror = true,
                  .host = SLICE_LIT("host"),
                  .instance = SLICE_LIT("one"),
                  .fake_delay_us = DELAY_US,
                  .locked_retry_attempts = 3,
                  .locked_retry_interval_us = DELAY_US,
                  .incomplete_project_id = SLICE_LIT("no-project"),
                  .incomplete_user_id = SLICE_LIT("no-user")},
        .now_us = 1000000,
    };
    products_open(&play.products, &play.metal);
    play.metal.provider_has_node_name = size > 0 && data[0] == '!';
    create_node(&play, NODE_1, "gold");
    create_node(&play, NODE_2, "gold");
    create_node(&play, NODE_3, "silver");
    for (unsigned steps = 0; size > 0 && steps < STEPS_MAX; steps++) {
        const uint8_t *end = memchr(data, '\0', size);
        size_t len = end == NULL ? size : (size_t)(end - data);
        if (len > 0)
            step(&play, data, len);
        data += end == NULL ? len : len + 1;
        size -= end == NULL ? len : len + 1;
    }
    replica_abandon(world_get()->replica, play.edit);
    arena_destroy(play.arena);
    return 0;
}
