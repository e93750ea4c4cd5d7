/* A node's row, the allocation that is taken or released with it, and the mirror are one list of
 * changes, so that no version shows one without the others. The writer only. */
#include "baremetal/write/node_write.h"

#include "baremetal/write/node_mirror.h"
#include "baremetal/write/node_provider.h"
#include "baremetal/write/node_rule.h"

/* A node has a provider from its first resource class on. Whether that provider existed before is
 * recorded, because then its name is not the node's to change (C1). */
static void note_provider(const struct plan *plan, struct node_draft *after)
{
    if (after->value[NODE_RESOURCE_CLASS].text.data == NULL ||
        after->value[NODE_PROVIDER_ADOPTED].number != RECORD_NULL)
        return;
    node_set_bool(after, NODE_PROVIDER_ADOPTED,
                  version_provider_by_uuid(plan->version, after->value[NODE_UUID].text) != NULL);
}

/* A consumer of that uuid that already holds the node is not berth's to remove (C4), unless berth
 * wrote it. A consumer without allocations has no owner. */
static void node_write_note_consumer(const struct node_write *write, bool is_mirrored,
                                     const struct plan *plan)
{
    struct slice uuid = write->takes->value[NODE_ALLOCATION_UUID].text;
    struct slice left = node_text(write->before, NODE_MIRRORED_CONSUMER);
    const struct consumer *there = version_consumer(plan->version, uuid);
    bool is_left = left.data != NULL && slice_equal(left, uuid);
    if (is_left)
        node_set_null(write->after, NODE_MIRRORED_CONSUMER);
    if (is_left || is_mirrored)
        node_allocation_set_bool(write->takes, NODE_ALLOCATION_CONSUMER_ADOPTED,
                                 !is_left && there != NULL && there->allocation_count > 0);
}

static bool keeps_class(const struct node_write *write)
{
    if (write->before == NULL || write->after == NULL)
        return false;
    return node_class_same(node_text(write->before, NODE_RESOURCE_CLASS),
                           write->after->value[NODE_RESOURCE_CLASS].text);
}

/* A node that cannot be mirrored still reaches the end of its transient state. */
static bool is_mirrored(const struct node_write *write, const struct plan *plan)
{
    struct err ignored = {.arena = plan->arena};
    return plan_metal(plan) != NULL && plan_metal(plan)->mirror &&
           (write->takes != NULL || !keeps_class(write) ||
            node_can_be_mirrored(plan->version, write->before, plan_metal(plan), plan->arena,
                                 &ignored));
}

static const struct node_allocation *allocation_that_stays(const struct node_write *write,
                                                           const struct plan *plan)
{
    if (write->before == NULL || write->releases != NULL)
        return NULL;
    return version_node_allocation_of(plan->version, write->before->record.id);
}

static bool is_other(const struct node_write *write, enum node_field field)
{
    return !node_class_same(node_text(write->before, field), write->after->value[field].text);
}

static void note_left(const struct node_write *write, enum node_field field, struct slice text)
{
    if (node_is_null(write->before, field))
        node_set_text(write->after, field, text);
}

/* This write is not mirrored: records what was last written to Placement, so that it can be removed
 * later. */
static void note_unmirrored(const struct node_write *write)
{
    const struct node *before = write->before;
    if (before == NULL || write->after == NULL || node_is_null(before, NODE_PROVIDER_ADOPTED))
        return;
    struct slice class = node_text(before, NODE_RESOURCE_CLASS);
    if (is_other(write, NODE_RESOURCE_CLASS))
        note_left(write, NODE_MIRRORED_CLASS, class.data == NULL ? SLICE_LIT("") : class);
    if (is_other(write, NODE_TRAITS))
        note_left(write, NODE_MIRRORED_TRAITS, node_text(before, NODE_TRAITS));
    if (write->releases != NULL && node_consumer_is_ours(write->releases))
        note_left(write, NODE_MIRRORED_CONSUMER,
                  node_allocation_text(write->releases, NODE_ALLOCATION_UUID));
}

static void note_mirrored(const struct node_write *write, const struct plan *plan)
{
    note_provider(plan, write->after);
    node_set_null(write->after, NODE_MIRRORED_CLASS);
    node_set_null(write->after, NODE_MIRRORED_TRAITS);
    node_set_null(write->after, NODE_MIRRORED_CONSUMER);
}

static const struct node *pack_after(const struct node_write *write, bool is_mirrored,
                                     const struct plan *plan)
{
    if (write->after == NULL)
        return NULL;
    if (write->before == NULL)
        node_set_time(write->after, NODE_CREATED_AT, plan->now_us);
    else if (!write->keeps_updated_at)
        node_set_time(write->after, NODE_UPDATED_AT, plan->now_us);
    if (is_mirrored)
        note_mirrored(write, plan);
    else
        note_unmirrored(write);
    return node_pack(write->after, plan->arena);
}

static const struct node_allocation *pack_taken(const struct node_write *write, bool is_mirrored,
                                                const struct plan *plan)
{
    if (write->takes == NULL)
        return NULL;
    node_write_note_consumer(write, is_mirrored, plan);
    return node_allocation_pack(write->takes, plan->arena);
}

/* The row of the allocation that stays, if it is mirrored for the first time: whose its consumer is
 * has become known. NULL: nothing new. */
static const struct node_allocation *now_mirrored(const struct node_mirror *mirror,
                                                  const struct plan *plan)
{
    const struct node_allocation *holds = mirror->holds;
    if (holds == NULL || mirror->class_after.data == NULL ||
        !node_allocation_is_null(holds, NODE_ALLOCATION_CONSUMER_ADOPTED))
        return NULL;
    bool finds = node_finds_consumer(plan->version, mirror->after, holds, plan->arena);
    if (!finds &&
        !node_lacks_consumer(plan->version, mirror->after, holds, mirror->leaves, plan->arena))
        return NULL;
    struct node_allocation_draft draft = node_allocation_draft_of(holds);
    node_allocation_set_bool(&draft, NODE_ALLOCATION_CONSUMER_ADOPTED, finds);
    return node_allocation_pack(&draft, plan->arena);
}

bool node_write(const struct node_write *write, const struct plan *plan, const struct node **node,
                struct err *err)
{
    bool mirrored = is_mirrored(write, plan);
    const struct node_allocation *takes =
        pack_taken(write, mirrored, plan); /* packed before the node */
    struct node_mirror mirror = {
        .before = write->before == NULL ? NULL : node_as_mirrored(write->before, plan->arena),
        .after = pack_after(write, mirrored, plan),
        .takes = takes,
        .releases = write->releases,
        .holds = allocation_that_stays(write, plan),
    };
    const struct node_allocation *announced = NULL;
    if (mirrored) {
        if (!node_mirror_check(&mirror, plan, err))
            return false;
        announced = now_mirrored(&mirror, plan);
        node_mirror_append(&mirror, plan);
    }
    if (write->releases != NULL)
        change_delete_node_allocation(plan->changes, write->releases->record.id);
    if (mirror.after == NULL)
        change_delete_node(plan->changes, write->before->record.id);
    else
        change_put_node(plan->changes, mirror.after);
    if (mirror.takes != NULL)
        change_put_node_allocation(plan->changes, mirror.takes);
    if (announced != NULL)
        change_put_node_allocation(plan->changes, announced);
    if (node != NULL)
        *node = mirror.after;
    return true;
}

bool node_write_mirror(int64_t id, const struct plan *plan, struct err *err)
{
    const struct node *node = version_node(plan->version, id);
    if (node == NULL || node_is_mirrored(plan->version, node, plan->arena))
        return true;
    if (!node_can_be_mirrored(plan->version, node, plan_metal(plan), plan->arena, err))
        return false;
    struct node_draft draft = node_draft_of(node);
    const struct node_write write = {.before = node, .after = &draft, .keeps_updated_at = true};
    return node_write(&write, plan, NULL, err);
}
