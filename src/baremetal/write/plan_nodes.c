/* What may be changed of a node, and when. The writer only. */
#include "baremetal/write/plan_nodes.h"

#include "baremetal/write/node_provider.h"
#include "baremetal/write/node_write.h"
#include "model/node_states.h"
#include "replica/nodes.h"

static const char ALLOWED[] = "enroll, inspecting, inspect wait, manageable, available";

bool plan_node_is_unlocked(const struct node *node, const struct plan *plan, struct err *err)
{
    (void)plan;
    if (node_is_null(node, NODE_RESERVATION))
        return true;
    err_set(err, 409, NULL,
            "Node %.*s is locked by host %.*s, please retry after the current operation is "
            "completed.",
            SLICE_ARG(node_text(node, NODE_UUID)), SLICE_ARG(node_text(node, NODE_RESERVATION)));
    return err_of_kind(err, REFUSED_LOCKED);
}

/* No other node has the draft's name or instance. */
static bool check_unique(const struct node_draft *draft, const struct plan *plan, struct err *err)
{
    struct slice uuid = draft->value[NODE_UUID].text;
    struct slice name = draft->value[NODE_NAME].text;
    struct slice instance = draft->value[NODE_INSTANCE_UUID].text;
    const struct node *other = name.data == NULL ? NULL : version_node_by_name(plan->version, name);
    if (other != NULL && other->record.id != draft->id)
        return node_refuse_existing(SLICE_LIT("A node with name "), name, err);
    other = instance.data == NULL ? NULL : version_node_by_instance(plan->version, instance);
    if (other != NULL && other->record.id != draft->id)
        return err_set(err, 409, NULL,
                       "Instance %.*s is already associated with a node, it cannot be associated "
                       "with this other node %.*s",
                       SLICE_ARG(instance), SLICE_ARG(uuid));
    return true;
}

bool plan_node_create(struct node_draft *draft, const struct plan *plan, const struct node **result,
                      struct err *err)
{
    struct slice uuid = draft->value[NODE_UUID].text;
    draft->id = 0;
    if (version_node_by_uuid(plan->version, uuid) != NULL)
        return node_refuse_existing(SLICE_LIT("A node with UUID "), uuid, err);
    if (!check_unique(draft, plan, err))
        return false;
    draft->id = store_next_id(plan->store, STORE_NODES);
    const struct node_write write = {.after = draft};
    return node_write(&write, plan, result, err);
}

static bool same_text(const struct node *before, const struct node_draft *after,
                      enum node_field field)
{
    struct slice old = node_text(before, field);
    struct slice new = after->value[field].text;
    if (old.data == NULL || new.data == NULL)
        return old.data == new.data;
    return slice_equal(old, new);
}

static enum node_state state_of(const struct node *node)
{
    return node_state_find(node_text(node, NODE_PROVISION_STATE));
}

static bool is_in_transition(const struct node *node)
{
    return !node_is_null(node, NODE_TARGET_PROVISION_STATE) &&
           !node_state_is_updatable(state_of(node));
}

static bool becomes(const struct plan_node_update *update, enum node_field field)
{
    return update->after->value[field].number == RECORD_TRUE && !node_bool(update->before, field);
}

static bool gets_reason(const struct plan_node_update *update, enum node_field reason,
                        enum node_field flag)
{
    return update->after->value[reason].text.len > 0 &&
           update->after->value[flag].number != RECORD_TRUE &&
           !same_text(update->before, update->after, reason);
}

static bool check_protection(const struct plan_node_update *update, struct err *err)
{
    const struct node *node = update->before;
    if (becomes(update, NODE_PROTECTED) && !node_state_lets_protect(state_of(node)))
        return err_set(err, 409, NULL,
                       "Node %.*s can only be made protected in provision states 'active' or "
                       "'rescue', the current state is '%.*s'",
                       SLICE_ARG(node_text(node, NODE_UUID)),
                       SLICE_ARG(node_text(node, NODE_PROVISION_STATE)));
    return !gets_reason(update, NODE_PROTECTED_REASON, NODE_PROTECTED) ||
           err_set(err, 400, NULL,
                   "The protected_reason field can only be set when protected is True");
}

static bool check_retirement(const struct plan_node_update *update, struct err *err)
{
    const struct node *node = update->before;
    if (becomes(update, NODE_RETIRED) && !node_state_lets_retire(state_of(node)))
        return err_set(err, 409, NULL,
                       "Node %.*s can not have 'retired' set in provision state 'available', the "
                       "current state is '%.*s'",
                       SLICE_ARG(node_text(node, NODE_UUID)),
                       SLICE_ARG(node_text(node, NODE_PROVISION_STATE)));
    return !gets_reason(update, NODE_RETIRED_REASON, NODE_RETIRED) ||
           err_set(err, 400, NULL, "The retired_reason field can only be set when retired is True");
}

static bool check_class(const struct plan_node_update *update, struct err *err)
{
    const struct node *node = update->before;
    if (node_is_null(node, NODE_RESOURCE_CLASS) ||
        same_text(node, update->after, NODE_RESOURCE_CLASS) ||
        node_state_lets_reassign(state_of(node)))
        return true;
    return err_set(err, 409, NULL,
                   "Node %.*s can not have resource_class updated unless it is in one of allowed "
                   "(%s) states.",
                   SLICE_ARG(node_text(node, NODE_UUID)), ALLOWED);
}

static bool check_interfaces(const struct plan_node_update *update, struct err *err)
{
    const struct node *node = update->before;
    if (node_state_lets_reassign(state_of(node)) ||
        update->after->value[NODE_MAINTENANCE].number == RECORD_TRUE)
        return true;
    for (unsigned field = NODE_BIOS_INTERFACE; field <= NODE_VENDOR_INTERFACE; field++)
        if (!same_text(node, update->after, (enum node_field)field))
            return err_set(err, 409, NULL,
                           "Node %.*s can not have %s updated unless it is in one of allowed (%s) "
                           "states or in maintenance mode.",
                           SLICE_ARG(node_text(node, NODE_UUID)), NODE_SHAPE.fields[field].name,
                           ALLOWED);
    return true;
}

static bool check_owner(const struct plan_node_update *update, const struct plan *plan,
                        struct err *err)
{
    const struct node *node = update->before;
    struct slice uuid = node_text(node, NODE_UUID);
    const struct node_allocation *allocation =
        version_node_allocation_of(plan->version, node->record.id);
    if (!update->sets_owner)
        return true;
    if (state_of(node) == NODE_ACTIVE && !update->may_set_owner_of_active)
        return err_set(err, 409, NULL,
                       "Cannot update owner of node \"%.*s\" while it is in state \"active\".",
                       SLICE_ARG(uuid));
    if (allocation == NULL || node_allocation_is_null(allocation, NODE_ALLOCATION_OWNER))
        return true;
    return err_set(err, 409, NULL,
                   "Cannot update owner of node \"%.*s\" while it is allocated to an allocation "
                   "with an  owner.",
                   SLICE_ARG(uuid));
}

/* Section 6.3. */
static bool check_instance(const struct plan_node_update *update, struct err *err)
{
    const struct node *node = update->before;
    if (node_is_null(node, NODE_INSTANCE_UUID) ||
        update->after->value[NODE_INSTANCE_UUID].text.data == NULL ||
        same_text(node, update->after, NODE_INSTANCE_UUID))
        return true;
    return node_refuse_associated(node, node_text(node, NODE_INSTANCE_UUID), err);
}

/* Section 6.2. */
static bool check_release(const struct plan_node_update *update,
                          const struct node_allocation *allocation, struct err *err)
{
    const struct node *node = update->before;
    if (allocation == NULL || update->after->value[NODE_INSTANCE_UUID].text.data != NULL ||
        node_bool(node, NODE_MAINTENANCE) || node_state_lets_reassign(state_of(node)))
        return true;
    return err_set(err, 409, NULL,
                   "Node %.*s with an allocation can not have instance_uuid removed unless it is "
                   "in one of allowed (%s) states or in maintenance mode.",
                   SLICE_ARG(node_text(node, NODE_UUID)), ALLOWED);
}

bool plan_node_update_check(const struct plan_node_update *update, const struct plan *plan,
                            struct err *err)
{
    const struct node *node = update->before;
    if (update->only_removes_instance && node_bool(node, NODE_MAINTENANCE))
        return true;
    if (is_in_transition(node))
        return err_set(err, 409, NULL,
                       "Node %.*s can not be updated while a state transition is in progress.",
                       SLICE_ARG(update->ident));
    if (update->knows_inspect_wait && state_of(node) == NODE_INSPECTING)
        return err_set(err, 409, NULL,
                       "Cannot update node \"%.*s\" while it is in state \"inspecting\".",
                       SLICE_ARG(node_text(node, NODE_UUID)));
    return check_owner(update, plan, err);
}

static bool is_unchanged(const struct node *before, const struct node_draft *after,
                         const struct plan *plan)
{
    return record_equal(&node_pack(after, plan->arena)->record, &before->record);
}

static bool ends(const struct plan_node_update *update, enum node_field flag)
{
    return update->after->value[flag].number != RECORD_TRUE && node_bool(update->before, flag);
}

/* Reasons are cleared with the condition that they explain. */
static void clear_reasons(const struct plan_node_update *update)
{
    if (ends(update, NODE_MAINTENANCE)) {
        node_set_null(update->after, NODE_MAINTENANCE_REASON);
        node_set_null(update->after, NODE_FAULT);
    }
    if (ends(update, NODE_PROTECTED))
        node_set_null(update->after, NODE_PROTECTED_REASON);
    if (ends(update, NODE_RETIRED))
        node_set_null(update->after, NODE_RETIRED_REASON);
}

bool plan_node_update(const struct plan_node_update *update, const struct plan *plan,
                      const struct node **result, bool *released, struct err *err)
{
    const struct node_allocation *allocation =
        version_node_allocation_of(plan->version, update->before->record.id);
    clear_reasons(update);
    if (!check_protection(update, err) || !check_retirement(update, err) ||
        !check_interfaces(update, err) || !plan_node_is_unlocked(update->before, plan, err) ||
        !check_instance(update, err) || !check_class(update, err) ||
        !check_release(update, allocation, err) || !check_unique(update->after, plan, err))
        return false;
    *result = update->before;
    *released = allocation != NULL && update->after->value[NODE_INSTANCE_UUID].text.data == NULL;
    if (is_unchanged(update->before, update->after, plan))
        return true;
    const struct node_write write = {
        .before = update->before,
        .after = update->after,
        .releases = *released ? allocation : NULL,
    };
    return node_write(&write, plan, result, err);
}

bool plan_node_delete(const struct node *node, const struct plan *plan, struct err *err)
{
    if (!plan_node_is_unlocked(node, plan, err))
        return false;
    bool maintenance = node_bool(node, NODE_MAINTENANCE);
    if (!maintenance && !node_is_null(node, NODE_INSTANCE_UUID))
        return node_refuse_associated(node, node_text(node, NODE_INSTANCE_UUID), err);
    if (node_bool(node, NODE_PROTECTED))
        return err_set(err, 403, NULL,
                       "Node %.*s is protected and cannot be undeployed, rebuilt or deleted",
                       SLICE_ARG(node_text(node, NODE_UUID)));
    if (!maintenance && !node_state_lets_delete(state_of(node)))
        return err_set(
            err, 409, NULL,
            "Can not delete node \"%.*s\" while it is in provision state \"%.*s\". Valid "
            "provision states to perform deletion are: \"('manageable', 'enroll', "
            "'adopt failed', 'available')\", or set the node into maintenance mode",
            SLICE_ARG(node_text(node, NODE_UUID)),
            SLICE_ARG(node_text(node, NODE_PROVISION_STATE)));
    const struct node_write write = {
        .before = node,
        .releases = version_node_allocation_of(plan->version, node->record.id),
    };
    return node_write(&write, plan, NULL, err);
}

bool plan_node_maintenance(const struct node *node, bool is_on, struct slice reason,
                           const struct plan *plan, struct err *err)
{
    if (!plan_node_is_unlocked(node, plan, err))
        return false;
    struct node_draft draft = node_draft_of(node);
    const struct node_write write = {.before = node, .after = &draft};
    node_set_bool(&draft, NODE_MAINTENANCE, is_on);
    if (is_on && reason.data != NULL)
        node_set_text(&draft, NODE_MAINTENANCE_REASON, reason);
    else
        node_set_null(&draft, NODE_MAINTENANCE_REASON);
    if (!is_on)
        node_set_null(&draft, NODE_FAULT);
    return is_unchanged(node, &draft, plan) || node_write(&write, plan, NULL, err);
}

bool plan_node_traits(const struct node *node, struct slice traits, const struct plan *plan,
                      struct err *err)
{
    if (!plan_node_is_unlocked(node, plan, err))
        return false;
    if (slice_equal(traits, node_text(node, NODE_TRAITS)))
        return true;
    struct node_draft draft = node_draft_of(node);
    const struct node_write write = {.before = node, .after = &draft};
    node_set_text(&draft, NODE_TRAITS, traits);
    return node_write(&write, plan, NULL, err);
}
