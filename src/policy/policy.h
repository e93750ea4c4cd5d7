/* What a request may do: the question that every request asks. */
#ifndef BERTH_POLICY_POLICY_H
#define BERTH_POLICY_POLICY_H

#include "auth/identity.h"

/* Whose rules they are. Each has names of its own; some, as admin_api, are of two, and mean
 * something else to each. */
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

/* What the functions of the three services come to: a rule is a number of the service's own enum
 * (rules_placement.h, rules_baremetal.h, rules_valet.h), 0 is none. Call them and not these, so
 * that the compiler refuses the rule of another service. */

/* "" for none. Any thread. */
const char *policy_rule_name(enum policy_service service, unsigned rule);

/* Whether the identity may do what the rule stands for, by the policy now in force; anybody may
 * what has none. Any thread; it neither waits nor allocates, except that a thread's first question
 * after a reload takes a lock for the exchange of a pointer. */
enum policy_verdict policy_check(struct policy_keeper *keeper, enum policy_service service,
                                 unsigned rule, const struct identity *identity,
                                 const struct policy_target *target);

#endif
