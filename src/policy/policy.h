/* What a request may do: the names of the rules, and the question that every request asks. */
#ifndef BERTH_POLICY_POLICY_H
#define BERTH_POLICY_POLICY_H

#include "auth/identity.h"

/* The rules of the API's operations; rules.h tells of each. */
enum policy_rule {
    POLICY_NONE, /* no rule: anybody */
    POLICY_PROVIDERS_LIST,
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

/* "placement:resource_providers:list" and so on. Any thread. */
const char *policy_rule_name(enum policy_rule rule);

/* Whether the identity may do what the rule stands for, by the policy now in force. Any thread; it
 * neither waits nor allocates, except that a thread's first question after a reload takes a lock
 * for the exchange of a pointer. */
enum policy_verdict policy_check(struct policy_keeper *keeper, enum policy_rule rule,
                                 const struct identity *identity,
                                 const struct policy_target *target);

#endif
