/* A policy: every rule in force of every service, compiled. Immutable once built, counted, freed by
 * whoever lets go last. */
#ifndef BERTH_POLICY_SET_H
#define BERTH_POLICY_SET_H

#include <stdatomic.h>

#include "base/err.h"
#include "policy/notes.h"
#include "policy/rules.h"
#include "policy/tree.h"
#include "policy/value.h"

enum { POLICY_ENTRIES_MAX = 2000 };

/* A rule of a file. */
struct policy_override {
    struct slice name;
    const struct policy_value *value;
    const char *where; /* "FILE:LINE" */
};

struct policy_overrides {
    struct policy_override
        *items; /* in the order of reading: of two of one name the later counts */
    size_t count;
    size_t capacity;
};

struct policy_options {
    bool enforce_new_defaults; /* false: deprecated rules pass too */
    bool enforce_scope;        /* false: scope types are left out */
    struct slice default_rule; /* what an undefined rule that is referred to stands for, if there is
                                  a rule of that name; empty: nothing */
};

struct policy_entry {
    struct slice name;
    const struct policy_node *root;     /* as it counts */
    const struct policy_node *written;  /* as the file or the table has it */
    const struct policy_default *known; /* NULL: not in the service's table */
    const char *where;                  /* "FILE:LINE" of what overrides it; NULL: the default */
    const char *renamed;                /* "FILE:LINE" of the override of its deprecated name that
                                           counts; NULL: none */
    bool is_redundant;                  /* overridden by what the default is */
    bool has_deprecated;                /* the deprecated rule passes too */
    bool is_reached;                    /* in the table, or referred to from there in the end */
};

/* What a request comes to first: the rule's tree, references followed. */
struct policy_root {
    const struct policy_node *node;
    unsigned scopes;
};

/* The rules of one service: its table and all that files say, as if they were its own alone. So a
 * name that several services have is overridden for each of them, and what a file adds is there for
 * the rules of each. */
struct policy_set {
    const struct policy_table *table;
    const struct policy_entry *entries; /* by name */
    size_t entry_count;
    const struct policy_entry *fallback; /* stands for rules that are not defined; NULL: nothing */
    const struct policy_root *roots;     /* of the rules that requests ask, in the order of rows */
};

struct policy {
    atomic_uint holders;
    struct arena *arena;
    bool enforce_scope;
    bool enforce_new_defaults;
    struct policy_set sets[POLICY_SERVICE_COUNT];
    struct policy_notes notes;
};

/* Builds the policy from the tables and the overrides, of which it keeps nothing; the caller holds
 * it. NULL: err has one line. */
struct policy *policy_build(const struct policy_options *options,
                            const struct policy_overrides *overrides,
                            struct err *err) BERTH_MUST_CHECK;

void policy_hold(struct policy *policy);
void policy_release(struct policy *policy);

/* The entry of that name, or the one that stands for undefined rules, or NULL. */
const struct policy_entry *policy_find(const struct policy_set *set, struct slice name);

/* Of a name that a file overrides or a table has: the service that it is about first of all. */
enum policy_service policy_service_of(const struct policy *policy, struct slice name);

/* See policy_check. Any thread that holds the policy. */
enum policy_verdict policy_decide(const struct policy *policy, enum policy_service service,
                                  unsigned rule, const struct identity *identity,
                                  const struct policy_target *target);

/* Whether a token of this identity is of one of the scopes; 0 is for any. */
bool policy_scope_fits(unsigned scopes, const struct identity *identity);

#endif
