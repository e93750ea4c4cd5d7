/* Allocations are created in one commit and decided in another; a backfill does both in one. An
 * active allocation has exactly one node, and its uuid is the node's instance. The writer only.
 */
#include "baremetal/write/plan_node_allocations.h"

#include "baremetal/write/instance_info.h"
#include "baremetal/write/node_provider.h"
#include "baremetal/write/node_rule.h"
#include "baremetal/write/node_write.h"
#include "baremetal/write/plan_nodes.h"
#include "base/arena.h"
#include "base/buf.h"
#include "model/node_states.h"
#include "replica/nodes.h"

static struct slice uuid_of(const struct node_allocation_draft *draft)
{
    return draft->value[NODE_ALLOCATION_UUID].text;
}

static bool check_name(const struct node_allocation_draft *draft, const struct plan *plan,
                       struct err *err)
{
    struct slice name = draft->value[NODE_ALLOCATION_NAME].text;
    const struct node_allocation *other =
        name.data == NULL ? NULL : version_node_allocation_by_name(plan->version, name);
    return other == NULL || other->record.id == draft->id ||
           node_refuse_existing(SLICE_LIT("An allocation with name "), name, err);
}

static bool check_uuid(const struct node_allocation_draft *draft, const struct plan *plan,
                       struct err *err)
{
    return version_node_allocation_by_uuid(plan->version, uuid_of(draft)) == NULL ||
           node_refuse_existing(SLICE_LIT("An allocation with UUID "), uuid_of(draft), err);
}

static void set_failed(struct node_allocation_draft *draft, struct slice reason)
{
    node_allocation_set_text(draft, NODE_ALLOCATION_STATE, SLICE_LIT("error"));
    node_allocation_set_text(draft, NODE_ALLOCATION_LAST_ERROR, reason);
    node_allocation_set_node_id(draft, 0);
    node_allocation_set_null(draft, NODE_ALLOCATION_OWNER_INSTANCE);
    node_allocation_set_null(draft, NODE_ALLOCATION_DUE_AT);
}

/* Gives the node to the allocation in the same commit. */
static bool plan_node_allocations_take(const struct node *node, struct node_allocation_draft *draft,
                                       const struct plan *plan, struct err *err)
{
    struct node_draft after = node_draft_of(node);
    const struct node_write write = {.before = node, .after = &after, .takes = draft};
    node_set_text(&after, NODE_INSTANCE_UUID, uuid_of(draft));
    node_set_text(&after, NODE_INSTANCE_INFO,
                  instance_info_with_traits(node_text(node, NODE_INSTANCE_INFO),
                                            draft->value[NODE_ALLOCATION_TRAITS].text,
                                            plan->arena));
    node_allocation_set_text(draft, NODE_ALLOCATION_STATE, SLICE_LIT("active"));
    node_allocation_set_null(draft, NODE_ALLOCATION_LAST_ERROR);
    node_allocation_set_node_id(draft, node->record.id);
    node_allocation_set_null(draft, NODE_ALLOCATION_OWNER_INSTANCE);
    node_allocation_set_null(draft, NODE_ALLOCATION_DUE_AT);
    return node_write(&write, plan, NULL, err);
}

/* A list as Python prints it, which is the form that clients know. */
static struct slice shown_list(struct slice words, struct arena *arena)
{
    struct buf text = {0};
    struct slice word;
    buf_append_char(&text, '[');
    while (record_next_word(&words, &word)) {
        if (text.len > 1)
            buf_append_lit(&text, ", ");
        buf_append_char(&text, '\'');
        buf_append_slice(&text, word);
        buf_append_char(&text, '\'');
    }
    buf_append_char(&text, ']');
    struct slice list = arena_copy(arena, buf_slice(&text));
    buf_free(&text);
    return list;
}

static void add_reason(struct buf *reasons, struct slice reason)
{
    if (reasons->len > 0)
        buf_append_lit(reasons, "; ");
    buf_append_slice(reasons, reason);
}

static bool class_fits(const struct node *node, struct slice wanted)
{
    struct slice class = node_text(node, NODE_RESOURCE_CLASS);
    return wanted.len == 0 || (class.data != NULL && slice_equal(class, wanted));
}

/* The table of section 5: why the node cannot be backfilled; len == 0: it can. */
static struct slice reasons_against(const struct node *node,
                                    const struct node_allocation_draft *draft, struct arena *arena)
{
    struct slice class = draft->value[NODE_ALLOCATION_RESOURCE_CLASS].text;
    struct slice traits = draft->value[NODE_ALLOCATION_TRAITS].text;
    struct slice candidates = draft->value[NODE_ALLOCATION_CANDIDATE_NODES].text;
    struct slice own_class = node_text(node, NODE_RESOURCE_CLASS);
    struct slice state = node_text(node, NODE_PROVISION_STATE);
    struct buf reasons = {0};
    if (!slice_equal(state, SLICE_LIT("active")))
        add_reason(&reasons,
                   arena_printf(arena,
                                "Node must be in the \"active\" state, but the current state is "
                                "\"%.*s\"",
                                SLICE_ARG(state)));
    if (!class_fits(node, class))
        add_reason(&reasons,
                   arena_printf(arena,
                                "Resource class %.*s does not match the requested resource class "
                                "%.*s",
                                SLICE_ARG(own_class.data == NULL ? SLICE_LIT("None") : own_class),
                                SLICE_ARG(class)));
    if (!record_has_words(node_text(node, NODE_TRAITS), traits))
        add_reason(&reasons,
                   arena_printf(arena,
                                "List of traits %.*s does not match the requested traits %.*s",
                                SLICE_ARG(shown_list(node_text(node, NODE_TRAITS), arena)),
                                SLICE_ARG(shown_list(traits, arena))));
    if (candidates.len > 0 && !record_has_word(candidates, node_text(node, NODE_UUID)))
        add_reason(&reasons, arena_printf(arena,
                                          "Candidate nodes must be empty or contain the target "
                                          "node, but got %.*s",
                                          SLICE_ARG(shown_list(candidates, arena))));
    struct slice text = arena_copy(arena, buf_slice(&reasons));
    buf_free(&reasons);
    return text;
}

/* Why the node cannot be backfilled; status 0: it can. */
static void check_backfill(const struct node *node, const struct node_allocation_draft *draft,
                           const struct plan *plan, struct planned_node_allocation *result,
                           struct arena *arena)
{
    struct slice uuid = uuid_of(draft);
    struct slice instance = node_text(node, NODE_INSTANCE_UUID);
    struct slice reasons = reasons_against(node, draft, arena);
    if (reasons.len > 0) {
        result->refused_status =
            500; /* after a 409, clients would repeat the request and find the stored row */
        result->refused_text = arena_printf(
            arena,
            "Failed to process allocation %.*s: Cannot backfill an allocation for node %.*s: %.*s.",
            SLICE_ARG(uuid), SLICE_ARG(node_text(node, NODE_UUID)), SLICE_ARG(reasons));
        return;
    }
    const struct node *other = version_node_by_instance(plan->version, uuid);
    if (instance.data != NULL && !slice_equal(instance, uuid)) {
        result->refused_status = 409;
        result->refused_text =
            arena_printf(arena, "Node %.*s is associated with instance %.*s.",
                         SLICE_ARG(node_text(node, NODE_UUID)), SLICE_ARG(instance));
    } else if (other != NULL && other != node) {
        result->refused_status = 409;
        result->refused_text = arena_printf(
            arena,
            "Instance %.*s is already associated with a node, it cannot be associated with this "
            "other node %.*s",
            SLICE_ARG(uuid), SLICE_ARG(node_text(node, NODE_UUID)));
    }
}

static void plan_node_allocations_put(struct node_allocation_draft *draft, const struct plan *plan,
                                      struct planned_node_allocation *result)
{
    result->allocation = node_allocation_pack(draft, plan->arena);
    change_put_node_allocation(plan->changes, result->allocation);
}

static bool backfill(const struct node *node, struct node_allocation_draft *draft,
                     const struct plan *plan, struct planned_node_allocation *result,
                     struct err *err)
{
    struct err refusal = {.arena = err->arena};
    node_allocation_set_time(draft, NODE_ALLOCATION_UPDATED_AT, plan->now_us);
    check_backfill(node, draft, plan, result, err->arena);
    if (result->refused_status == 0) {
        if (plan_node_allocations_take(node, draft, plan, &refusal)) {
            plan->said->records_what_is = true;
            result->allocation = node_allocation_pack(draft, plan->arena);
            return true;
        }
        result->refused_status = refusal.status;
        result->refused_text = refusal.message;
    }
    set_failed(draft, result->refused_text);
    plan_node_allocations_put(draft, plan, result);
    return true;
}

bool plan_node_allocation_create(const struct plan_node_allocation *input, const struct plan *plan,
                                 struct planned_node_allocation *result, struct err *err)
{
    struct node_allocation_draft draft = *input->draft; /* a request may be planned again */
    const struct node *node = input->node;
    *result = (struct planned_node_allocation){0};
    draft.id = 0;
    if (node != NULL && !input->has_uuid && !node_is_null(node, NODE_INSTANCE_UUID))
        node_allocation_set_text(&draft, NODE_ALLOCATION_UUID, node_text(node, NODE_INSTANCE_UUID));
    if (node != NULL && !input->has_class)
        node_allocation_set_text(&draft, NODE_ALLOCATION_RESOURCE_CLASS,
                                 node_text(node, NODE_RESOURCE_CLASS));
    if (!check_uuid(&draft, plan, err) || !check_name(&draft, plan, err))
        return false;
    if (node != NULL && !plan_node_is_unlocked(node, plan, err))
        return false;
    draft.id = store_next_id(plan->store, STORE_NODE_ALLOCATIONS);
    node_allocation_set_time(&draft, NODE_ALLOCATION_CREATED_AT, plan->now_us);
    if (node != NULL)
        return backfill(node, &draft, plan, result, err);
    node_allocation_set_text(&draft, NODE_ALLOCATION_OWNER_INSTANCE, plan_metal(plan)->instance);
    node_allocation_set_time(&draft, NODE_ALLOCATION_DUE_AT, plan->now_us);
    plan_node_allocations_put(&draft, plan, result);
    return true;
}

bool plan_node_allocation_update(const struct node_allocation *before,
                                 struct node_allocation_draft *after, const struct plan *plan,
                                 const struct node_allocation **result, struct err *err)
{
    if (!check_name(after, plan, err))
        return false;
    *result = node_allocation_pack(after, plan->arena);
    if (record_equal(&(*result)->record, &before->record))
        return true;
    node_allocation_set_time(after, NODE_ALLOCATION_UPDATED_AT, plan->now_us);
    *result = node_allocation_pack(after, plan->arena);
    change_put_node_allocation(plan->changes, *result);
    return true;
}

static bool check_release(const struct node_allocation *allocation, const struct node *node,
                          struct err *err)
{
    struct slice uuid = node_allocation_text(allocation, NODE_ALLOCATION_UUID);
    struct slice state = node_text(node, NODE_PROVISION_STATE);
    enum node_state at = node_state_find(state);
    if (node_bool(node, NODE_MAINTENANCE))
        return true;
    if (!node_is_null(node, NODE_TARGET_PROVISION_STATE) && !node_state_is_updatable(at))
        return err_set(err, 409, NULL,
                       "Cannot remove allocation %.*s for node %.*s, because the node is in state "
                       "%.*s where updates are not allowed (and maintenance mode is off)",
                       SLICE_ARG(uuid), SLICE_ARG(node_text(node, NODE_UUID)), SLICE_ARG(state));
    if (at == NODE_ACTIVE)
        return err_set(err, 409, NULL,
                       "Cannot remove allocation %.*s for node %.*s, because the node is active "
                       "(and maintenance mode is off)",
                       SLICE_ARG(uuid), SLICE_ARG(node_text(node, NODE_UUID)));
    return true;
}

bool plan_node_allocation_delete(const struct node_allocation *allocation, const struct plan *plan,
                                 struct err *err)
{
    const struct node *node = version_node(plan->version, node_allocation_node_id(allocation));
    if (node == NULL) {
        change_delete_node_allocation(plan->changes, allocation->record.id);
        return true;
    }
    if (!plan_node_is_unlocked(node, plan, err) || !check_release(allocation, node, err))
        return false;
    struct node_draft after = node_draft_of(node);
    const struct node_write write = {.before = node, .after = &after, .releases = allocation};
    node_set_null(&after, NODE_INSTANCE_UUID);
    return node_write(&write, plan, NULL, err);
}

/* Ends an allocation that found no node. Only state, error and node are written: name and extra
 * stay those of the newest row. */
static void plan_node_allocations_fail(const struct node_allocation *allocation,
                                       struct slice reason, const struct plan *plan)
{
    struct node_allocation_draft draft = node_allocation_draft_of(allocation);
    set_failed(&draft, reason);
    node_allocation_set_time(&draft, NODE_ALLOCATION_UPDATED_AT, plan->now_us);
    change_put_node_allocation(plan->changes, node_allocation_pack(&draft, plan->arena));
}

static struct slice unforeseen(const struct plan *plan, struct slice text)
{
    return arena_printf(plan->arena, "Unexpected exception during allocation: %.*s",
                        SLICE_ARG(text));
}

bool plan_node_allocation_decide(int64_t id, struct node_choice *choice, bool *tries_again,
                                 const struct plan *plan, struct err *err)
{
    (void)err; /* any reason against the node becomes the allocation's last_error */
    const struct node_allocation *allocation = version_node_allocation(plan->version, id);
    *tries_again = false;
    if (allocation == NULL ||
        !node_allocation_text_is(allocation, NODE_ALLOCATION_STATE, "allocating"))
        return true;
    struct slice reason;
    const struct node *node = node_choose(allocation, choice, plan, &reason);
    if (node == NULL) {
        *tries_again = reason.data == NULL;
        if (!*tries_again)
            plan_node_allocations_fail(allocation, reason, plan);
        return true;
    }
    struct slice uuid = node_allocation_text(allocation, NODE_ALLOCATION_UUID);
    if (version_node_by_instance(plan->version, uuid) != NULL) {
        plan_node_allocations_fail(
            allocation,
            unforeseen(plan, arena_printf(plan->arena,
                                          "Instance %.*s is already associated with a node, it "
                                          "cannot be associated with this other node %.*s",
                                          SLICE_ARG(uuid), SLICE_ARG(node_text(node, NODE_UUID)))),
            plan);
        return true;
    }
    struct node_allocation_draft draft = node_allocation_draft_of(allocation);
    struct err refusal = {.arena = plan->arena};
    node_allocation_set_time(&draft, NODE_ALLOCATION_UPDATED_AT, plan->now_us);
    if (!plan_node_allocations_take(node, &draft, plan, &refusal))
        plan_node_allocations_fail(allocation, unforeseen(plan, refusal.message), plan);
    return true;
}
