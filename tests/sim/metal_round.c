/* The race's requests as input of the real planners, and what their clients learn. One thread. */
#include "metal_round.h"

#include <stdio.h>

#include "baremetal/write/plan_node_allocations.h"
#include "baremetal/write/plan_node_states.h"
#include "baremetal/write/plan_nodes.h"
#include "base/arena.h"
#include "placement/write/plan_allocations.h"
#include "replica/nodes.h"

enum { TEXT_BYTES = 40, BORROWED_EVERY = 25 };

static struct slice made(char (*texts)[TEXT_BYTES], const char *prefix, int number)
{
    if (texts[number][0] == '\0')
        snprintf(texts[number], TEXT_BYTES, "%s-0000-4000-8000-%012d", prefix, number);
    return slice_of(texts[number]);
}

struct slice race_node(int number)
{
    static char texts[RACE_NODES][TEXT_BYTES];
    return made(texts, "dddddddd", number);
}

struct slice race_allocation(int number)
{
    static char texts[RACE_CREATES][TEXT_BYTES];
    return made(texts, "eeeeeeee", number);
}

/* A few meet an allocation with the same uuid. */
struct slice race_consumer(int number)
{
    static char texts[RACE_CLAIMS][TEXT_BYTES];
    if (number % BORROWED_EVERY == 7)
        return race_allocation(number);
    return made(texts, "cccccccc", number);
}

static bool plan_node(const struct metal_action *action, const struct plan *plan, struct err *err)
{
    const struct node *node;
    struct node_draft draft = node_draft_new(0);
    node_set_text(&draft, NODE_UUID, race_node(action->number));
    node_set_text(&draft, NODE_RESOURCE_CLASS, SLICE_LIT("gold"));
    node_set_text(&draft, NODE_POWER_STATE, SLICE_LIT("power on"));
    node_set_text(&draft, NODE_PROVISION_STATE, SLICE_LIT("available"));
    if (action->number % 2 == 0)
        node_set_text(&draft, NODE_OWNER, SLICE_LIT("project-01"));
    return plan_node_create(&draft, plan, &node, err);
}

static bool plan_create(const struct metal_action *action, const struct round *round,
                        const struct plan *plan, struct err *err)
{
    struct planned_node_allocation planned;
    struct node_allocation_draft draft = node_allocation_draft_new(0);
    const struct plan_node_allocation input = {
        .draft = &draft, .has_uuid = true, .has_class = true};
    node_allocation_set_text(&draft, NODE_ALLOCATION_UUID, race_allocation(action->number));
    node_allocation_set_text(&draft, NODE_ALLOCATION_RESOURCE_CLASS, SLICE_LIT("gold"));
    if (round->weather.candidates && action->number % 3 == 0)
        node_allocation_set_text(&draft, NODE_ALLOCATION_OWNER, SLICE_LIT("project-01"));
    if (round->weather.candidates && action->number % 5 == 0) {
        const struct slice words[] = {race_node(action->number % RACE_NODES),
                                      race_node((action->number + 3) % RACE_NODES)};
        node_allocation_set_text(&draft, NODE_ALLOCATION_CANDIDATE_NODES,
                                 record_join_words(plan->arena, words, 2, false));
    }
    return plan_node_allocation_create(&input, plan, &planned, err);
}

static bool plan_release(const struct metal_action *action, const struct plan *plan,
                         struct err *err)
{
    const struct node_allocation *at =
        version_node_allocation_by_uuid(plan->version, race_allocation(action->number));
    if (at == NULL)
        return err_set(err, 404, NULL, "no such allocation");
    return plan_node_allocation_delete(at, plan, err);
}

static bool plan_claim(const struct metal_action *action, const struct plan *plan, struct err *err)
{
    const struct claim_amount amount = {SLICE_LIT("CUSTOM_GOLD"), 1};
    const struct claim_provider provider = {race_node(action->node), &amount, 1};
    const struct claim claim = {
        .consumer = race_consumer(action->number),
        .project = SLICE_LIT("project-00"),
        .user = SLICE_LIT("user-00"),
        .generation_rule = CLAIM_GENERATION_NULL,
        .providers = &provider,
        .provider_count = 1,
    };
    return plan_allocations(&claim, 1, CLAIM_BY_PUT, plan, err);
}

static bool plan_verb(const struct node *node, struct slice name, const struct plan *plan,
                      struct err *err)
{
    const struct node_verb_name *known = node_verb_find(name);
    const struct plan_node_verb verb = {.verb = known->verb};
    return plan_node_provision_check(node, name, known, plan, err) &&
           plan_node_provision(node, &verb, plan, err);
}

static bool plan_on_node(const struct metal_action *action, const struct plan *plan,
                         struct err *err)
{
    struct slice uuid = race_node(action->node);
    const struct node *node = version_node_by_uuid(plan->version, uuid);
    if (node == NULL)
        return err_set(err, 404, NULL, "no such node");
    switch (action->what) {
    case ACTION_MAINTENANCE:
        return plan_node_maintenance(node, action->is_on, (struct slice){0}, plan, err);
    case ACTION_POWER:
        return plan_node_power(node, uuid, SLICE_LIT("power off"),
                               node_power_verb_find(SLICE_LIT("power off")), plan, err);
    case ACTION_DEPLOY:
        return plan_verb(node, SLICE_LIT("active"), plan, err);
    default:
        return plan_verb(node, SLICE_LIT("deleted"), plan, err);
    }
}

bool metal_plan_action(const struct metal_action *action, const struct round *round,
                       const struct plan *plan, struct err *err)
{
    switch (action->what) {
    case ACTION_NODE:
        return plan_node(action, plan, err);
    case ACTION_CREATE:
        return plan_create(action, round, plan, err);
    case ACTION_RELEASE:
        return plan_release(action, plan, err);
    case ACTION_CLAIM:
        return plan_claim(action, plan, err);
    case ACTION_LET_GO: {
        struct slice uuid = race_consumer(action->number);
        return plan_allocations_delete(uuid, uuid, plan, err);
    }
    default:
        return plan_on_node(action, plan, err);
    }
}

void round_note_sent(struct round *round, const struct metal_action *action)
{
    if (action->what == ACTION_CREATE) {
        round->allocation[action->number].was_sent = true;
        round->allocation[action->number].may_be_made = true;
    } else if (action->what == ACTION_CLAIM) {
        round->consumer[action->number].was_sent = true;
        round->consumer[action->number].may_be_made = true;
    } else if (action->what == ACTION_RELEASE) {
        round->allocation[action->number].may_be_gone = true;
    } else if (action->what == ACTION_LET_GO) {
        round->consumer[action->number].may_be_gone = true;
    }
}

void round_note_answer(struct round *round, const struct metal_action *action, int status)
{
    if (action->what != ACTION_CREATE && action->what != ACTION_CLAIM)
        return;
    struct fate *fate = action->what == ACTION_CREATE ? &round->allocation[action->number]
                                                      : &round->consumer[action->number];
    fate->is_made |= status == 0;
}
