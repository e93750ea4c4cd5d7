/* A node's row, the allocation that comes or goes with it, and the mirror: one list of changes, so
 * that no version shows one without the others. Writer thread only. */
#include "write/node_write.h"

#include "write/metal.h"
#include "write/node_mirror.h"
#include "write/node_provider.h"

/* From its first resource class on a node has a provider; whether that was there before it is
 * remembered, because its name then is not the node's to change (C1). */
static void note_provider(const struct plan *plan, struct node_draft *after)
{
    if (after->value[NODE_RESOURCE_CLASS].text.data == NULL ||
        after->value[NODE_PROVIDER_ADOPTED].number != RECORD_NULL)
        return;
    node_set_bool(after, NODE_PROVIDER_ADOPTED,
                  version_provider_by_uuid(plan->version, after->value[NODE_UUID].text) != NULL);
}

/* Whoever of that uuid holds the node already is not ours to remove (C4). */
static void note_consumer(const struct plan *plan, struct node_allocation_draft *takes)
{
    node_allocation_set_bool(
        takes, NODE_ALLOCATION_CONSUMER_ADOPTED,
        version_consumer(plan->version, takes->value[NODE_ALLOCATION_UUID].text) != NULL);
}

static bool keeps_class(const struct node_write *write)
{
    if (write->before == NULL || write->after == NULL)
        return false;
    return node_class_same(node_text(write->before, NODE_RESOURCE_CLASS),
                           write->after->value[NODE_RESOURCE_CLASS].text);
}

/* A node whose provider cannot be its own is still brought to the end of its passing state. */
static bool is_mirrored(const struct node_write *write, const struct plan *plan)
{
    return plan->metal != NULL && plan->metal->mirror &&
           !(write->takes == NULL && keeps_class(write) &&
             node_is_cut_off(plan->version, write->before));
}

static const struct node_allocation *allocation_that_stays(const struct node_write *write,
                                                           const struct plan *plan)
{
    if (write->before == NULL || write->releases != NULL)
        return NULL;
    return version_node_allocation_of(plan->version, write->before->record.id);
}

static const struct node *pack_after(const struct node_write *write, const struct plan *plan)
{
    if (write->after == NULL)
        return NULL;
    if (write->before == NULL)
        node_set_time(write->after, NODE_CREATED_AT, plan->now_us);
    else if (!write->keeps_updated_at)
        node_set_time(write->after, NODE_UPDATED_AT, plan->now_us);
    if (is_mirrored(write, plan))
        note_provider(plan, write->after);
    return node_pack(write->after, plan->arena);
}

static const struct node_allocation *pack_taken(const struct node_write *write,
                                                const struct plan *plan)
{
    if (write->takes == NULL)
        return NULL;
    if (is_mirrored(write, plan))
        note_consumer(plan, write->takes);
    return node_allocation_pack(write->takes, plan->arena);
}

bool node_write(const struct node_write *write, const struct plan *plan, const struct node **node,
                struct err *err)
{
    struct node_mirror mirror = {
        .before = write->before,
        .after = pack_after(write, plan),
        .takes = pack_taken(write, plan),
        .releases = write->releases,
        .holds = allocation_that_stays(write, plan),
    };
    if (is_mirrored(write, plan) && !node_mirror_check(&mirror, plan, err))
        return false;
    if (is_mirrored(write, plan))
        node_mirror_append(&mirror, plan);
    if (write->releases != NULL)
        change_delete_node_allocation(plan->changes, write->releases->record.id);
    if (mirror.after == NULL)
        change_delete_node(plan->changes, write->before->record.id);
    else
        change_put_node(plan->changes, mirror.after);
    if (mirror.takes != NULL)
        change_put_node_allocation(plan->changes, mirror.takes);
    if (node != NULL)
        *node = mirror.after;
    return true;
}

bool node_write_mirror(int64_t id, const struct plan *plan, struct err *err)
{
    const struct node *node = version_node(plan->version, id);
    if (node == NULL || node_is_mirrored(plan->version, node, plan->arena))
        return true;
    if (node_is_cut_off(plan->version, node))
        return err_set(err, 409, NULL,
                       "Node %.*s cannot be a resource provider: the one of that uuid has a "
                       "parent.",
                       SLICE_ARG(node_text(node, NODE_UUID)));
    struct node_draft draft = node_draft_of(node);
    const struct node_write write = {.before = node, .after = &draft, .keeps_updated_at = true};
    return node_write(&write, plan, NULL, err);
}
