/* Asking a rule. */
#ifndef BERTH_POLICY_EVALUATE_H
#define BERTH_POLICY_EVALUATE_H

#include "auth/identity.h"
#include "policy/policy.h"
#include "policy/tree.h"

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

/* The parts of it, for whoever explains: the value of the target's key, and of a credential that is
 * a text. data NULL: there is none; what is None reads so. */
struct slice policy_target_value(const struct policy_target *target, struct slice key);
struct slice policy_subject_text(const struct identity *identity, enum policy_subject subject);

/* A credential that is a list; NULL: it is none. */
const struct identity_roles *policy_subject_list(const struct identity *identity,
                                                 enum policy_subject subject);

#endif
