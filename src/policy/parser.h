/* Shared by the parsers of rules. */
#ifndef BERTH_POLICY_PARSER_H
#define BERTH_POLICY_PARSER_H

#include "policy/notes.h"
#include "policy/policy.h"
#include "policy/tree.h"

/* Lists nodes of the kind POLICY_OP_RULE, so that references can be resolved later. */
struct policy_references {
    struct policy_node **items;
    size_t count;
    size_t capacity;
};

struct policy_parser {
    struct arena *arena; /* nodes and texts are allocated here */
    struct policy_notes *notes;
    struct policy_references references;
    enum policy_service service; /* the service whose credentials rules may use */
    unsigned checks;             /* of the rule so far */
};

/* A node that belongs to no rule of its own. */
struct policy_node *policy_node_new(struct policy_parser *parser, enum policy_op op,
                                    struct slice text);

#endif
