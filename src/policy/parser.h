/* What those who parse rules share. */
#ifndef BERTH_POLICY_PARSER_H
#define BERTH_POLICY_PARSER_H

#include "policy/notes.h"
#include "policy/policy.h"
#include "policy/tree.h"

/* Nodes of the kind POLICY_OP_RULE, so that whoever parses finds them again. */
struct policy_references {
    struct policy_node **items;
    size_t count;
    size_t capacity;
};

struct policy_parser {
    struct arena *arena; /* nodes and texts go here */
    struct policy_notes *notes;
    struct policy_references references;
    enum policy_service service; /* whose credentials rules may ask for */
    unsigned checks;             /* of the rule so far */
};

/* A node for nothing but itself. */
struct policy_node *policy_node_new(struct policy_parser *parser, enum policy_op op,
                                    struct slice text);

#endif
