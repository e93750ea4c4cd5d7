/* Access checks for handlers. Each evaluates one or a few policy rules for the caller and the owner
 * of the object.
 *
 * A caller without a project owns nothing. In oslo.policy the project of such a caller and the
 * owner of an object without one are both the text "None" and would be equal; here such a target
 * has no owner. */
#include "baremetal/api/access.h"

#include "base/check.h"

enum { ABOUT_MAX = POLICY_CALLER_ATTRIBUTES + 2 };

void access_begin(struct access *access, struct policy_keeper *policies,
                  const struct identity *identity, bool open)
{
    static const struct identity NOBODY = {0};
    *access =
        (struct access){.policies = policies, .identity = open ? &NOBODY : identity, .open = open};
    access->about_count =
        policy_caller_attributes(POLICY_OF_BAREMETAL, access->identity, access->about);
}

/* The target of a rule: the caller, and an object that belongs to the caller or to another project.
 */
struct rule_target {
    struct policy_attribute items[ABOUT_MAX];
    unsigned count;
};

static void access_add(struct rule_target *target, struct slice key, struct slice value)
{
    target->items[target->count++] = (struct policy_attribute){key, value};
}

static void add_owner(const struct access *access, struct rule_target *target, struct slice key,
                      struct slice owner)
{
    if (owner.len > 0)
        access_add(target, key, owner);
    else if (access->identity->project_id.len > 0)
        access_add(target, key, (struct slice){0});
}

static bool access_allows(const struct access *access, enum policy_baremetal_rule rule,
                          const struct policy_attribute *items, unsigned count)
{
    const struct policy_target target = {items, count};
    bool is_secret = rule == POLICY_SHOW_PASSWORD || rule == POLICY_SHOW_INSTANCE_SECRETS;
    if (access->open && !is_secret)
        return true;
    return policy_baremetal_check(access->policies, rule, access->identity, &target) ==
           POLICY_ALLOWED;
}

bool access_passes(const struct access *access, enum policy_baremetal_rule rule)
{
    return access_allows(access, rule, access->about, access->about_count);
}

static struct rule_target caller_target(const struct access *access)
{
    struct rule_target target = {.count = access->about_count};
    memcpy(target.items, access->about, access->about_count * sizeof(target.items[0]));
    return target;
}

bool access_node_passes(const struct access *access, enum policy_baremetal_rule rule,
                        const struct access_node *node)
{
    struct rule_target target = caller_target(access);
    add_owner(access, &target, SLICE_LIT("node.owner"), node->owner);
    if (node->lessee.len > 0)
        access_add(&target, SLICE_LIT("node.lessee"), node->lessee);
    return access_allows(access, rule, target.items, target.count);
}

bool access_allocation_passes(const struct access *access, enum policy_baremetal_rule rule,
                              struct slice owner)
{
    struct rule_target target = caller_target(access);
    add_owner(access, &target, SLICE_LIT("allocation.owner"), owner);
    return access_allows(access, rule, target.items, target.count);
}

bool access_refuse(enum policy_baremetal_rule rule, struct err *err)
{
    if (!err_is_set(err)) {
        err_set(err, 403, NULL, "Access was denied to the following resource: %s",
                policy_baremetal_name(rule));
        err->denied_by = policy_baremetal_name(rule);
    }
    return false;
}

static enum access_verdict refused(enum policy_baremetal_rule rule, struct err *err)
{
    (void)access_refuse(rule, err);
    return ACCESS_REFUSED;
}

bool access_check(const struct access *access, enum policy_baremetal_rule rule, struct err *err)
{
    return access_passes(access, rule) || access_refuse(rule, err);
}

enum access_verdict access_node(const struct access *access, enum policy_baremetal_rule rule,
                                const struct access_node *node, struct err *err)
{
    return access_node_patch(access, node, &rule, 1, err);
}

enum access_verdict access_allocation(const struct access *access, enum policy_baremetal_rule rule,
                                      struct slice owner, struct err *err)
{
    if (!access_allocation_passes(access, POLICY_NODE_ALLOCATION_GET, owner))
        return ACCESS_HIDDEN;
    if (rule != POLICY_NODE_ALLOCATION_GET && !access_allocation_passes(access, rule, owner))
        return refused(rule, err);
    return ACCESS_ALLOWED;
}

enum access_verdict access_node_delete(const struct access *access, const struct access_node *node,
                                       struct err *err)
{
    if (!access_node_passes(access, POLICY_NODE_GET, node))
        return ACCESS_HIDDEN;
    if (access_node_passes(access, POLICY_NODE_DELETE, node) ||
        access_node_passes(access, POLICY_NODE_DELETE_SELF_OWNED, node))
        return ACCESS_ALLOWED;
    return refused(POLICY_NODE_DELETE_SELF_OWNED, err);
}

/* The general rule is checked last, wherever it is in the list. */
enum access_verdict access_node_patch(const struct access *access, const struct access_node *node,
                                      const enum policy_baremetal_rule *rules, unsigned count,
                                      struct err *err)
{
    bool general = count == 0;
    if (!access_node_passes(access, POLICY_NODE_GET, node))
        return ACCESS_HIDDEN;
    for (unsigned i = 0; i < count; i++) {
        if (rules[i] == POLICY_NODE_UPDATE)
            general = true;
        else if (rules[i] != POLICY_NODE_GET && !access_node_passes(access, rules[i], node))
            return refused(rules[i], err);
    }
    if (general && !access_node_passes(access, POLICY_NODE_UPDATE, node))
        return refused(POLICY_NODE_UPDATE, err);
    return ACCESS_ALLOWED;
}

bool access_list(const struct access *access, enum access_list list, struct slice wanted,
                 struct slice *project, struct err *err)
{
    static const struct {
        enum policy_baremetal_rule all;
        enum policy_baremetal_rule own;
    } RULES[ACCESS_LISTS] = {
        [ACCESS_NODES] = {POLICY_NODE_LIST_ALL, POLICY_NODE_LIST},
        [ACCESS_ALLOCATIONS] = {POLICY_NODE_ALLOCATION_LIST_ALL, POLICY_NODE_ALLOCATION_LIST},
        [ACCESS_PORTS] = {POLICY_PORT_LIST_ALL, POLICY_PORT_LIST},
        [ACCESS_PORTGROUPS] = {POLICY_PORTGROUP_LIST_ALL, POLICY_PORTGROUP_LIST},
        [ACCESS_VOLUMES] = {POLICY_VOLUME_LIST_ALL, POLICY_VOLUME_LIST},
    };
    check(list < ACCESS_LISTS);
    struct slice own = access->identity->project_id;
    *project = wanted;
    if (access_passes(access, RULES[list].all))
        return true;
    if (own.len == 0 || (wanted.data != NULL && !slice_equal(wanted, own)))
        return access_refuse(RULES[list].all, err);
    *project = own;
    return access_check(access, RULES[list].own, err);
}

unsigned access_masks(const struct access *access, const struct access_node *node)
{
    bool sees_all = node != NULL ? access_node_passes(access, POLICY_NODE_FILTER_THRESHOLD, node)
                                 : access_passes(access, POLICY_NODE_FILTER_THRESHOLD);
    unsigned masks = sees_all ? 0 : ACCESS_FILTERED;
    if (!access_passes(access, POLICY_SHOW_PASSWORD))
        masks |= ACCESS_DRIVER_SECRETS;
    if (!access_passes(access, POLICY_SHOW_INSTANCE_SECRETS))
        masks |= ACCESS_INSTANCE_SECRETS;
    return masks;
}

unsigned access_node_masks(const struct access *access, unsigned masks,
                           const struct access_node *node)
{
    static const struct {
        enum access_mask mask;
        enum policy_baremetal_rule rule;
    } FIELDS[] = {
        {ACCESS_LAST_ERROR, POLICY_NODE_SEE_LAST_ERROR},
        {ACCESS_RESERVATION, POLICY_NODE_SEE_RESERVATION},
        {ACCESS_DRIVER_INTERNAL_INFO, POLICY_NODE_SEE_DRIVER_INTERNAL_INFO},
        {ACCESS_DRIVER_INFO, POLICY_NODE_SEE_DRIVER_INFO},
    };
    if ((masks & ACCESS_FILTERED) == 0)
        return masks;
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++)
        if (!access_node_passes(access, FIELDS[i].rule, node))
            masks |= FIELDS[i].mask;
    return masks;
}

struct slice access_mask_text(enum access_mask mask)
{
    switch (mask) {
    case ACCESS_LAST_ERROR:
        return SLICE_LIT(
            "** Value Redacted - Requires baremetal:node:get:last_error permission. **");
    case ACCESS_RESERVATION:
        return SLICE_LIT("** Redacted - requires baremetal:node:get:reservation permission. **");
    case ACCESS_DRIVER_INTERNAL_INFO:
        return SLICE_LIT(
            "** Redacted - Requires baremetal:node:get:driver_internal_info permission. **");
    case ACCESS_DRIVER_INFO:
        return SLICE_LIT("** Redacted - requires baremetal:node:get:driver_info permission. **");
    default:
        break;
    }
    check(false);
    return (struct slice){0};
}
