/* Policy checks: whether a request may do something. Every request asks this. */
#ifndef BERTH_POLICY_POLICY_H
#define BERTH_POLICY_POLICY_H

#include "auth/identity.h"

/* The service that has the rules. Each has names of its own; a few, such as admin_api, belong to
 * two services and mean something different in each. */
enum policy_service {
    POLICY_OF_PLACEMENT,
    POLICY_OF_BAREMETAL,
    POLICY_OF_VALET,
    POLICY_SERVICE_COUNT
};

enum policy_verdict {
    POLICY_ALLOWED,
    POLICY_DENIED,       /* "Policy does not allow X to be performed." */
    POLICY_DENIED_SCOPE, /* the detail is the rule's name alone */
};

/* The target of a check: `%(key)s` in a rule is replaced by the value of the key. */
struct policy_attribute {
    struct slice key;
    struct slice value; /* data NULL: Python's None, which reads "None" */
};

struct policy_target {
    const struct policy_attribute *attributes;
    unsigned count;
};

struct policy_keeper;

/* What the functions of the three services call: a rule is a number of the service's own enum
 * (rules_placement.h, rules_baremetal.h, rules_valet.h), 0 is none. Call those functions and not
 * these, so that the compiler rejects a rule of another service. */

/* "" for none. Any thread. */
const char *policy_rule_name(enum policy_service service, unsigned rule);

/* Whether the policy now in force allows the identity what the rule is for; if there is no rule,
 * everybody is allowed. Any thread; it neither waits nor allocates, except that a thread's first
 * check after a reload takes a lock to exchange a pointer. */
enum policy_verdict policy_check(struct policy_keeper *keeper, enum policy_service service,
                                 unsigned rule, const struct identity *identity,
                                 const struct policy_target *target);

#endif
