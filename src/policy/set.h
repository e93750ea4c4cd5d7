/* A policy: every rule in force of every service, compiled. Immutable once built;
 * reference-counted, freed by the last holder. */
#ifndef BERTH_POLICY_SET_H
#define BERTH_POLICY_SET_H

#include <stdatomic.h>

#include "base/err.h"
#include "policy/notes.h"
#include "policy/rules.h"
#include "policy/tree.h"
#include "policy/value.h"

enum { POLICY_ENTRIES_MAX = 2000 };

/* A rule in a file. */
struct policy_override {
    struct slice name;
    const struct policy_value *value;
    const char *where; /* "FILE:LINE" */
};

struct policy_overrides {
    struct policy_override
        *items; /* in the order of reading: of two with one name, the later is used */
    size_t count;
    size_t capacity;
};

struct policy_options {
    bool enforce_new_defaults; /* false: deprecated rules also pass */
    bool enforce_scope;        /* false: scope types are ignored */
    struct slice default_rule; /* the rule that replaces references to undefined rules, if it
                                  exists; empty: none */
};

struct policy_entry {
    struct slice name;
    const struct policy_node *root;     /* as evaluated */
    const struct policy_node *written;  /* as written in the file or the table */
    const struct policy_default *known; /* NULL: not in the service's table */
    const char *where;                  /* "FILE:LINE" of the override; NULL: the default is used */
    const char
        *renamed; /* "FILE:LINE" of the override of its deprecated name that is used; NULL: none */
    bool is_redundant;   /* overridden by a rule equal to the default */
    bool has_deprecated; /* the deprecated rule also passes */
    bool is_reached;     /* in the table, or referred to from there, directly or indirectly */
};

/* Where evaluation of a request starts: the rule's tree, with references followed. */
struct policy_root {
    const struct policy_node *node;
    unsigned scopes;
};

/* The rules of one service: its table and everything that files define, as if all of that were for
 * this service. So a name that several services have is overridden for each of them, and rules that
 * a file adds are available to each. */
struct policy_set {
    const struct policy_table *table;
    const struct policy_entry *entries; /* by name */
    size_t entry_count;
    const struct policy_entry
        *fallback;                   /* used in place of rules that are not defined; NULL: none */
    const struct policy_root *roots; /* of the rules that requests check, in the order of rows */
};

struct policy {
    atomic_uint holders;
    struct arena *arena;
    bool enforce_scope;
    bool enforce_new_defaults;
    struct policy_set sets[POLICY_SERVICE_COUNT];
    struct policy_notes notes;
};

/* Builds the policy from the tables and the overrides, to which it keeps no pointers; the caller
 * holds it. NULL: err has one line. */
struct policy *policy_build(const struct policy_options *options,
                            const struct policy_overrides *overrides,
                            struct err *err) BERTH_MUST_CHECK;

void policy_hold(struct policy *policy);
void policy_release(struct policy *policy);

/* The entry with that name, or the one used in place of undefined rules, or NULL. */
const struct policy_entry *policy_find(const struct policy_set *set, struct slice name);

/* Of a name in a file or a table: the service that it belongs to in the first place. */
enum policy_service policy_service_of(const struct policy *policy, struct slice name);

/* See policy_check. Any thread that holds the policy. */
enum policy_verdict policy_decide(const struct policy *policy, enum policy_service service,
                                  unsigned rule, const struct identity *identity,
                                  const struct policy_target *target);

/* Whether a token with this identity has one of the scopes; 0 means any. */
bool policy_scope_fits(unsigned scopes, const struct identity *identity);

#endif
