/* Who may create nodes and allocations, with which owner, and which rule each change of a node
 * requires. */
#include "baremetal/api/access.h"
#include "policy/keeper.h"
#include "policy/set.h"

static bool is_of_system(const struct access *access)
{
    return slice_equal(access->identity->system_scope, SLICE_LIT("all"));
}

static bool has_new_defaults(const struct access *access)
{
    return policy_keeper_current(access->policies)->enforce_new_defaults;
}

static bool is_interface(struct slice field)
{
    static const struct slice INTERFACES[] = {
        SLICE_LIT("bios_interface"),    SLICE_LIT("boot_interface"),
        SLICE_LIT("console_interface"), SLICE_LIT("deploy_interface"),
        SLICE_LIT("inspect_interface"), SLICE_LIT("management_interface"),
        SLICE_LIT("network_interface"), SLICE_LIT("power_interface"),
        SLICE_LIT("raid_interface"),    SLICE_LIT("rescue_interface"),
        SLICE_LIT("storage_interface"), SLICE_LIT("vendor_interface"),
    };
    for (size_t i = 0; i < sizeof(INTERFACES) / sizeof(INTERFACES[0]); i++)
        if (slice_equal(INTERFACES[i], field))
            return true;
    return false;
}

/* By the beginning of the path, as in Ironic: driver_internal_info requires the rule of driver, and
 * is refused later for another reason. */
enum policy_baremetal_rule access_rule_of_patch(struct slice path, bool turns_off)
{
    static const struct {
        struct slice begin;
        enum policy_baremetal_rule rule;
    } FIELDS[] = {
        {SLICE_LIT("/instance_info"), POLICY_NODE_UPDATE_INSTANCE_INFO},
        {SLICE_LIT("/extra"), POLICY_NODE_UPDATE_EXTRA},
        {SLICE_LIT("/driver_info"), POLICY_NODE_UPDATE_DRIVER_INFO},
        {SLICE_LIT("/properties"), POLICY_NODE_UPDATE_PROPERTIES},
        {SLICE_LIT("/chassis_uuid"), POLICY_NODE_UPDATE_CHASSIS_UUID},
        {SLICE_LIT("/instance_uuid"), POLICY_NODE_UPDATE_INSTANCE_UUID},
        {SLICE_LIT("/lessee"), POLICY_NODE_UPDATE_LESSEE},
        {SLICE_LIT("/owner"), POLICY_NODE_UPDATE_OWNER},
        {SLICE_LIT("/driver"), POLICY_NODE_UPDATE_DRIVER_INTERFACES},
        {SLICE_LIT("/network_data"), POLICY_NODE_UPDATE_NETWORK_DATA},
        {SLICE_LIT("/conductor_group"), POLICY_NODE_UPDATE_CONDUCTOR_GROUP},
        {SLICE_LIT("/name"), POLICY_NODE_UPDATE_NAME},
        {SLICE_LIT("/retired"), POLICY_NODE_UPDATE_RETIRED},
        {SLICE_LIT("/shard"), POLICY_NODE_UPDATE_SHARD},
    };
    if (turns_off && slice_starts_with(path, SLICE_LIT("/automated_clean")))
        return POLICY_NODE_DISABLE_CLEANING;
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++)
        if (slice_starts_with(path, FIELDS[i].begin))
            return FIELDS[i].rule;
    if (path.len > 0 && is_interface(slice_skip(path, 1)))
        return POLICY_NODE_UPDATE_DRIVER_INTERFACES;
    return POLICY_NODE_UPDATE;
}

/* With the project rule a caller creates nodes of the caller's own project. With the general rule a
 * caller may name another project. */
bool access_node_create(const struct access *access, struct slice owner, struct slice *effective,
                        struct err *err)
{
    struct slice project = access->identity->project_id;
    bool is_any = access->open || is_of_system(access);
    bool by_own =
        (is_any || project.len > 0) && access_passes(access, POLICY_NODE_CREATE_SELF_OWNED);
    bool is_others = owner.len > 0 && !slice_equal(owner, project);
    *effective = owner;
    if (!by_own)
        return access_check(access, POLICY_NODE_CREATE, err);
    if (is_any)
        return true;
    if (is_others)
        return access_passes(access, POLICY_NODE_CREATE) ||
               err_set(err, 400, NULL, "A node that a project creates can have no other owner.");
    *effective = project;
    return true;
}

/* The rule that prevents the caller from creating an unrestricted allocation;
 * POLICY_BAREMETAL_NONE: none does. While the old defaults are in force, an allocation without an
 * owner requires one more rule. */
static enum policy_baremetal_rule find_refusal(const struct access *access, bool has_owner)
{
    if (!access_passes(access, POLICY_NODE_ALLOCATION_CREATE))
        return POLICY_NODE_ALLOCATION_CREATE;
    if (!has_new_defaults(access) && !has_owner &&
        !access_passes(access, POLICY_NODE_ALLOCATION_CREATE_PRE_RBAC))
        return POLICY_NODE_ALLOCATION_CREATE_PRE_RBAC;
    return POLICY_BAREMETAL_NONE;
}

/* A caller who was refused may still create an allocation of the caller's own project if the
 * restricted rule passes. */
static bool create_restricted(const struct access *access, struct slice *owner,
                              enum policy_baremetal_rule refused_by, bool restricted,
                              struct err *err)
{
    struct slice project = access->identity->project_id;
    if (owner->len > 0 && project.len > 0 && !slice_equal(*owner, project))
        return access_refuse(refused_by, err);
    if (owner->len > 0 && !has_new_defaults(access) &&
        !access_check(access, POLICY_NODE_ALLOCATION_CREATE_PRE_RBAC, err))
        return false;
    if (!restricted)
        return access_refuse(POLICY_NODE_ALLOCATION_CREATE_RESTRICTED, err);
    if (project.len > 0)
        *owner = project;
    return true;
}

bool access_allocation_create(const struct access *access, struct slice owner,
                              struct access_creation *creation, struct err *err)
{
    struct slice project = access->identity->project_id;
    *creation = (struct access_creation){.owner = owner};
    if (access->open)
        return true;
    bool restricted = access_passes(access, POLICY_NODE_ALLOCATION_CREATE_RESTRICTED);
    bool is_bound = has_new_defaults(access) && !is_of_system(access);
    enum policy_baremetal_rule refused_by = find_refusal(access, owner.len > 0);
    if (refused_by != POLICY_BAREMETAL_NONE &&
        !create_restricted(access, &creation->owner, refused_by, restricted, err))
        return false;
    if (creation->owner.len == 0)
        creation->owner = is_bound ? project : (struct slice){0};
    bool is_chosen = creation->owner.len > 0 ? !slice_equal(creation->owner, project) : is_bound;
    if (is_chosen && !restricted)
        return access_refuse(POLICY_NODE_ALLOCATION_CREATE_RESTRICTED, err);
    if (!restricted)
        creation->candidates_of = project;
    return true;
}
