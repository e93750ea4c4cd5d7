/* A rule as a tree of checks: made by the parser, evaluated, and printed. Nodes belong to the arena
 * of their policy and never change once it is built. */
#ifndef BERTH_POLICY_TREE_H
#define BERTH_POLICY_TREE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/slice.h"

enum policy_op {
    POLICY_OP_FALSE,
    POLICY_OP_TRUE,
    POLICY_OP_FAULT, /* refuses the request, also below a `not` */
    POLICY_OP_NOT,
    POLICY_OP_AND,
    POLICY_OP_OR,
    POLICY_OP_RULE,    /* rule:NAME */
    POLICY_OP_ROLE,    /* role:NAME */
    POLICY_OP_GENERIC, /* SUBJECT:VALUE */
};

/* The part of a generic check before the colon: a literal, or a credential by its name in
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
    POLICY_SUBJECT_PROJECT_NAME,  /* only for bare metal, as is the next */
    POLICY_SUBJECT_IS_PUBLIC_API, /* never: requests that need no token are not checked */
    POLICY_SUBJECT_ROLES,         /* lists: one equal element is enough */
    POLICY_SUBJECT_SERVICE_ROLES,
};

/* The part after the colon: literal texts and keys of the target, concatenated. */
struct policy_piece {
    struct slice text;
    bool is_key;
};

struct policy_match {
    const struct policy_piece *pieces;
    unsigned count;
    bool broken; /* the last piece is followed by something that cannot be substituted */
};

struct policy_entry;

struct policy_node {
    enum policy_op op;
    enum policy_subject subject; /* GENERIC */
    bool below;                  /* GENERIC: refers to a part of the subject, "roles.x" */
    unsigned count;              /* NOT, AND, OR */
    struct slice text;           /* RULE: the name; ROLE, GENERIC, FAULT: the check as written */
    struct slice literal;        /* GENERIC of a literal: its text */
    const struct policy_node *const *children;
    const struct policy_entry *rule; /* RULE: NULL until the policy is built, and if undefined */
    struct policy_match match;       /* ROLE, GENERIC */
};

/* Prints a rule as oslo.policy does, which also compares rules in this form. */
void policy_node_print(struct buf *out, const struct policy_node *node);

#endif
