/* What a request may do: the names of the rules, and the question that every request asks. */
#ifndef BERTH_POLICY_POLICY_H
#define BERTH_POLICY_POLICY_H

#include "auth/identity.h"

/* Whose rules they are. Each has names of its own; some, as admin_api, are of both, and mean
 * something else to each. */
enum policy_service { POLICY_OF_PLACEMENT, POLICY_OF_BAREMETAL, POLICY_SERVICE_COUNT };

/* The rules that requests ask, of one service behind the other; rules.h tells of each. */
enum policy_rule {
    POLICY_NONE, /* no rule: anybody */
    POLICY_PLACEMENT_BEGIN,
    POLICY_PROVIDERS_LIST = POLICY_PLACEMENT_BEGIN,
    POLICY_PROVIDERS_CREATE,
    POLICY_PROVIDERS_SHOW,
    POLICY_PROVIDERS_UPDATE,
    POLICY_PROVIDERS_DELETE,
    POLICY_INVENTORIES_LIST,
    POLICY_INVENTORIES_CREATE,
    POLICY_INVENTORIES_SHOW,
    POLICY_INVENTORIES_UPDATE,
    POLICY_INVENTORIES_DELETE,
    POLICY_AGGREGATES_LIST,
    POLICY_AGGREGATES_UPDATE,
    POLICY_PROVIDER_TRAITS_LIST,
    POLICY_PROVIDER_TRAITS_UPDATE,
    POLICY_PROVIDER_TRAITS_DELETE,
    POLICY_PROVIDER_USAGES,
    POLICY_PROVIDER_ALLOCATIONS_LIST,
    POLICY_CLASSES_LIST,
    POLICY_CLASSES_CREATE,
    POLICY_CLASSES_SHOW,
    POLICY_CLASSES_UPDATE,
    POLICY_CLASSES_DELETE,
    POLICY_TRAITS_LIST,
    POLICY_TRAITS_SHOW,
    POLICY_TRAITS_UPDATE,
    POLICY_TRAITS_DELETE,
    POLICY_ALLOCATIONS_MANAGE,
    POLICY_ALLOCATIONS_LIST,
    POLICY_ALLOCATIONS_UPDATE,
    POLICY_ALLOCATIONS_DELETE,
    POLICY_CANDIDATES_LIST,
    POLICY_USAGES,
    POLICY_RESHAPE,
    POLICY_BAREMETAL_BEGIN,
    POLICY_NODE_CREATE = POLICY_BAREMETAL_BEGIN,
    POLICY_NODE_CREATE_SELF_OWNED,
    POLICY_NODE_LIST,
    POLICY_NODE_LIST_ALL,
    POLICY_NODE_GET,
    POLICY_NODE_FILTER_THRESHOLD,
    POLICY_NODE_SEE_LAST_ERROR,
    POLICY_NODE_SEE_RESERVATION,
    POLICY_NODE_SEE_DRIVER_INTERNAL_INFO,
    POLICY_NODE_SEE_DRIVER_INFO,
    POLICY_SHOW_PASSWORD,
    POLICY_SHOW_INSTANCE_SECRETS,
    POLICY_NODE_UPDATE,
    POLICY_NODE_UPDATE_EXTRA,
    POLICY_NODE_UPDATE_INSTANCE_INFO,
    POLICY_NODE_UPDATE_OWNER_PROVISIONED,
    POLICY_NODE_UPDATE_DRIVER_INFO,
    POLICY_NODE_UPDATE_PROPERTIES,
    POLICY_NODE_UPDATE_CHASSIS_UUID,
    POLICY_NODE_UPDATE_INSTANCE_UUID,
    POLICY_NODE_UPDATE_LESSEE,
    POLICY_NODE_UPDATE_OWNER,
    POLICY_NODE_UPDATE_DRIVER_INTERFACES,
    POLICY_NODE_UPDATE_NETWORK_DATA,
    POLICY_NODE_UPDATE_CONDUCTOR_GROUP,
    POLICY_NODE_UPDATE_NAME,
    POLICY_NODE_UPDATE_RETIRED,
    POLICY_NODE_UPDATE_SHARD,
    POLICY_NODE_DISABLE_CLEANING,
    POLICY_NODE_DELETE,
    POLICY_NODE_DELETE_SELF_OWNED,
    POLICY_NODE_VALIDATE,
    POLICY_NODE_SET_MAINTENANCE,
    POLICY_NODE_CLEAR_MAINTENANCE,
    POLICY_NODE_GET_STATES,
    POLICY_NODE_SET_POWER_STATE,
    POLICY_NODE_SET_PROVISION_STATE,
    POLICY_NODE_TRAITS_LIST,
    POLICY_NODE_TRAITS_SET,
    POLICY_NODE_TRAITS_DELETE,
    POLICY_NODE_VIF_LIST,
    POLICY_NODE_BIOS_GET,
    POLICY_NODE_HISTORY_GET,
    POLICY_NODE_ALLOCATION_GET,
    POLICY_NODE_ALLOCATION_LIST,
    POLICY_NODE_ALLOCATION_LIST_ALL,
    POLICY_NODE_ALLOCATION_CREATE,
    POLICY_NODE_ALLOCATION_CREATE_RESTRICTED,
    POLICY_NODE_ALLOCATION_CREATE_PRE_RBAC,
    POLICY_NODE_ALLOCATION_UPDATE,
    POLICY_NODE_ALLOCATION_DELETE,
    POLICY_DRIVER_GET,
    POLICY_CONDUCTOR_GET,
    POLICY_SHARDS_GET,
    POLICY_CHASSIS_GET,
    POLICY_PORT_LIST,
    POLICY_PORT_LIST_ALL,
    POLICY_PORTGROUP_LIST,
    POLICY_PORTGROUP_LIST_ALL,
    POLICY_VOLUME_LIST,
    POLICY_VOLUME_LIST_ALL,
    POLICY_RULE_COUNT
};

enum policy_verdict {
    POLICY_ALLOWED,
    POLICY_DENIED,       /* "Policy does not allow X to be performed." */
    POLICY_DENIED_SCOPE, /* the detail is the rule's name alone */
};

/* What a question is about: `%(key)s` in a rule is the value of the key. */
struct policy_attribute {
    struct slice key;
    struct slice value; /* data NULL: Python's None, which reads "None" */
};

struct policy_target {
    const struct policy_attribute *attributes;
    unsigned count;
};

struct policy_keeper;

/* "placement:resource_providers:list", "baremetal:node:get" and so on. Any thread. */
const char *policy_rule_name(enum policy_rule rule);

/* Whether the identity may do what the rule stands for, by the policy now in force. Any thread; it
 * neither waits nor allocates, except that a thread's first question after a reload takes a lock
 * for the exchange of a pointer. */
enum policy_verdict policy_check(struct policy_keeper *keeper, enum policy_rule rule,
                                 const struct identity *identity,
                                 const struct policy_target *target);

#endif
