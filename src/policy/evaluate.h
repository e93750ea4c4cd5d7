/* Evaluation of a rule. */
#ifndef BERTH_POLICY_EVALUATE_H
#define BERTH_POLICY_EVALUATE_H

#include "auth/identity.h"
#include "policy/policy.h"
#include "policy/tree.h"

enum policy_outcome {
    POLICY_FALSE,
    POLICY_TRUE,
    POLICY_FAULT, /* oslo.policy raises an exception here: the request is refused, regardless of the
                     rest of the rule */
};

enum {
    POLICY_DEPTH_MAX = 512, /* of nodes through all rules; a rule that refers to itself ends here */
    POLICY_STEPS_MAX = 20000, /* nodes evaluated for one check */
};

/* Who makes a request, and what the request is about. */
struct policy_input {
    const struct identity *identity;
    const struct policy_target *target;
};

/* The result of the tree. Allocates nothing. Any thread. */
enum policy_outcome policy_evaluate(const struct policy_node *node,
                                    const struct policy_input *input);

/* Parts of the evaluation, for code that explains it: the value of the target's key, and of a
 * credential that is a text. data NULL: there is none; Python's None reads "None". */
struct slice policy_target_value(const struct policy_target *target, struct slice key);
struct slice policy_subject_text(const struct identity *identity, enum policy_subject subject);

/* A credential that is a list; NULL: it is not a list. */
const struct identity_roles *policy_subject_list(const struct identity *identity,
                                                 enum policy_subject subject);

#endif
