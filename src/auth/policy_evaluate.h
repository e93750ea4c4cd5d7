/* Asking a rule. */
#ifndef BERTH_AUTH_POLICY_EVALUATE_H
#define BERTH_AUTH_POLICY_EVALUATE_H

#include "auth/identity.h"
#include "auth/policy.h"
#include "auth/policy_tree.h"

enum policy_outcome {
    POLICY_FALSE,
    POLICY_TRUE,
    POLICY_FAULT, /* where oslo.policy raises an exception: refused, whatever stands around it */
};

enum {
    POLICY_DEPTH_MAX = 512, /* of nodes through all rules; a rule that refers to itself ends here */
    POLICY_STEPS_MAX = 20000, /* nodes asked for one question */
};

struct policy_question {
    const struct identity *identity;
    const struct policy_target *target;
};

/* What the tree says. Allocates nothing. Any thread. */
enum policy_outcome policy_evaluate(const struct policy_node *node,
                                    const struct policy_question *question);

#endif
