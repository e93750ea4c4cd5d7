/* A rule as a tree of checks: what the parser makes, evaluation walks and printing shows. Nodes
 * belong to the arena of their policy and never change once it is built. */
#ifndef BERTH_POLICY_TREE_H
#define BERTH_POLICY_TREE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

enum policy_op {
    POLICY_OP_FALSE,
    POLICY_OP_TRUE,
    POLICY_OP_FAULT, /* refuses the whole question, also below a `not` */
    POLICY_OP_NOT,
    POLICY_OP_AND,
    POLICY_OP_OR,
    POLICY_OP_RULE,    /* rule:NAME */
    POLICY_OP_ROLE,    /* role:NAME */
    POLICY_OP_GENERIC, /* SUBJECT:VALUE */
};

/* What stands before the colon of a generic check: a literal, or a credential by its name in
 * oslo.context's to_policy_values. */
enum policy_subject {
    POLICY_SUBJECT_LITERAL,
    POLICY_SUBJECT_UNKNOWN, /* no such credential: never passes */
    POLICY_SUBJECT_FAULT,   /* neither, see POLICY_OP_FAULT */
    POLICY_SUBJECT_USER_ID,
    POLICY_SUBJECT_USER_DOMAIN_ID,
    POLICY_SUBJECT_PROJECT_ID,
    POLICY_SUBJECT_PROJECT_DOMAIN_ID,
    POLICY_SUBJECT_DOMAIN_ID,
    POLICY_SUBJECT_SYSTEM_SCOPE,
    POLICY_SUBJECT_SYSTEM, /* system_scope, if there is one */
    POLICY_SUBJECT_IS_ADMIN_PROJECT,
    POLICY_SUBJECT_SERVICE_USER_ID,
    POLICY_SUBJECT_SERVICE_USER_DOMAIN_ID,
    POLICY_SUBJECT_SERVICE_PROJECT_ID,
    POLICY_SUBJECT_SERVICE_PROJECT_DOMAIN_ID,
    POLICY_SUBJECT_PROJECT_NAME,  /* this and the next are bare metal's alone */
    POLICY_SUBJECT_IS_PUBLIC_API, /* never: what needs no token asks no rule */
    POLICY_SUBJECT_ROLES,         /* lists: one that is equal is enough */
    POLICY_SUBJECT_SERVICE_ROLES,
};

/* What stands behind the colon: literal texts and keys of the target, one behind the other. */
struct policy_piece {
    struct slice text;
    bool is_key;
};

struct policy_match {
    const struct policy_piece *pieces;
    unsigned count;
    bool broken; /* behind the last piece is something that cannot be filled in */
};

struct policy_entry;

struct policy_node {
    enum policy_op op;
    enum policy_subject subject; /* GENERIC */
    bool below;                  /* GENERIC: asks for a part of the subject, "roles.x" */
    unsigned count;              /* NOT, AND, OR */
    struct slice text;           /* RULE: the name; ROLE, GENERIC, FAULT: the check as written */
    struct slice literal;        /* GENERIC of a literal: its text */
    const struct policy_node *const *children;
    const struct policy_entry *rule; /* RULE: NULL until the policy is built, and if undefined */
    struct policy_match match;       /* ROLE, GENERIC */
};

/* As oslo.policy prints a rule, which is also how it tells whether two rules are the same. */
void policy_node_print(struct buf *out, const struct policy_node *node);

#endif
