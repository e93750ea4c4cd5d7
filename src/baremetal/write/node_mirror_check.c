/* Whether a write of a node can be mirrored in Placement (baremetal-allocations spec, C1, C4 to
 * C7). The writer only. */
#include "baremetal/write/node_mirror.h"

#include "baremetal/write/node_rule.h"

static struct slice uuid_of(const struct node *node)
{
    return node_text(node, NODE_UUID);
}

static const struct node *either(const struct node_mirror *mirror)
{
    return mirror->after != NULL ? mirror->after : mirror->before;
}

static void find_sides(struct node_mirror *mirror, const struct plan *plan)
{
    const struct version *version = plan->version;
    const struct node_allocation *ours =
        mirror->releases != NULL ? mirror->releases : mirror->holds;
    mirror->provider = version_provider_by_uuid(version, uuid_of(either(mirror)));
    if (ours != NULL)
        mirror->ours = node_consumer_of(version, mirror->before, ours, plan->arena);
    if (mirror->before != NULL)
        mirror->leaves = node_consumer_left(version, mirror->before, plan->arena);
    if (mirror->before != NULL && node_provider(version, mirror->before) != NULL)
        mirror->class_before =
            node_class_name(node_text(mirror->before, NODE_RESOURCE_CLASS), plan->arena);
    if (mirror->after != NULL)
        mirror->class_after =
            node_class_name(node_text(mirror->after, NODE_RESOURCE_CLASS), plan->arena);
}

/* C1, with the node's new names. A provider that the node had before stays the node's. */
static bool check_provider(const struct node_mirror *mirror, const struct plan *plan,
                           struct err *err)
{
    const struct node *node = mirror->after;
    if (mirror->class_after.data == NULL)
        return true;
    if (mirror->before == NULL || node_is_null(mirror->before, NODE_PROVIDER_ADOPTED)) {
        struct node_draft draft = node_draft_of(node);
        node_set_null(&draft, NODE_PROVIDER_ADOPTED);
        node = node_pack(&draft, plan->arena);
    }
    return node_can_be_provider(plan->version, node, plan_metal(plan), err);
}

static struct slice our_uuid(const struct node_mirror *mirror)
{
    return mirror->ours == NULL ? (struct slice){0} : consumer_uuid(mirror->ours);
}

/* C4: nothing in the tree is held, except by the consumer that the allocation would create or
 * adopt. */
static bool check_taking(const struct node_mirror *mirror, const struct plan *plan, struct err *err)
{
    if (mirror->takes == NULL)
        return true;
    struct slice uuid = node_allocation_text(mirror->takes, NODE_ALLOCATION_UUID);
    const struct consumer *consumer = version_consumer(plan->version, uuid);
    if (consumer != NULL && consumer->allocation_count > 0 &&
        (rules_own_consumer(plan->rules, plan->version, uuid) ||
         !node_is_held_by(plan->version, mirror->after, consumer, plan->arena)))
        return err_set(err, 409, NULL, "Instance %.*s already has allocations in Placement",
                       SLICE_ARG(uuid));
    const struct consumer *holder =
        mirror->provider == NULL
            ? NULL
            : node_holder(plan->version, plan->rules, mirror->provider,
                          node_taker_of(mirror->takes, plan_metal(plan)), mirror->leaves);
    return holder == NULL || node_refuse_associated(mirror->after, consumer_uuid(holder), err);
}

/* C5: while the node is held, it gets no other instance. */
static bool check_instance(const struct node_mirror *mirror, const struct plan *plan,
                           struct err *err)
{
    if (mirror->after == NULL || mirror->provider == NULL)
        return true;
    struct slice before =
        mirror->before == NULL ? (struct slice){0} : node_text(mirror->before, NODE_INSTANCE_UUID);
    struct slice after = node_text(mirror->after, NODE_INSTANCE_UUID);
    if (after.data == NULL || node_class_same(before, after))
        return true;
    const struct consumer *holder = node_holder(plan->version, plan->rules, mirror->provider,
                                                (struct node_taker){.uuid = after}, mirror->leaves);
    return holder == NULL || node_refuse_associated(mirror->after, consumer_uuid(holder), err);
}

/* C7: a class that another consumer has allocated can be neither removed from the node nor given to
 * it. */
static bool check_class(const struct node_mirror *mirror, const struct plan *plan, struct err *err)
{
    if (mirror->after == NULL || mirror->before == NULL)
        return true;
    const struct consumer *other = node_class_other_consumer(
        plan->version, mirror->before, mirror->after, mirror->ours, plan->arena);
    return other == NULL || node_refuse_associated(mirror->after, consumer_uuid(other), err);
}

/* C6. A provider with child providers cannot be deleted, either. */
static bool check_going(struct node_mirror *mirror, const struct plan *plan, struct err *err)
{
    if (mirror->after != NULL || mirror->provider == NULL)
        return true;
    if (node_is_null(mirror->before, NODE_PROVIDER_ADOPTED)) {
        mirror->provider_stays = true; /* it was never the node's */
        return true;
    }
    const struct consumer *other =
        node_holder(plan->version, plan->rules, mirror->provider,
                    (struct node_taker){.uuid = our_uuid(mirror)}, mirror->leaves);
    struct slot_no slot = version_slot(plan->version, mirror->provider->no);
    mirror->provider_stays = other != NULL || version_place(plan->version, slot)->end > slot.v + 1;
    if (other == NULL || node_bool(mirror->before, NODE_MAINTENANCE))
        return true;
    return node_refuse_associated(mirror->before, consumer_uuid(other), err);
}

bool node_mirror_check(struct node_mirror *mirror, const struct plan *plan, struct err *err)
{
    find_sides(mirror, plan);
    return check_provider(mirror, plan, err) && check_taking(mirror, plan, err) &&
           check_instance(mirror, plan, err) && check_class(mirror, plan, err) &&
           check_going(mirror, plan, err);
}
