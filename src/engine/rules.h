/* Rules: what must be true of every commit, whichever planner wrote it. The engine runs all rows of
 * one table over the effects of every request, so that no planner can forget a rule and no write
 * can bypass one. The table itself belongs to whoever starts the pipeline (products/rules.c): the
 * engine knows no product. Writer thread only, unless a function says otherwise. */
#ifndef BERTH_ENGINE_RULES_H
#define BERTH_ENGINE_RULES_H

#include "engine/effects.h"
#include "engine/plan.h"

struct claim;
struct claim_set;

enum foreign_write {
    FOREIGN_LOADED,   /* anybody may have written anything */
    FOREIGN_FOLLOWED, /* another berthd has, which keeps the same rules */
};

/* One product's rules. `context` is that of its row in the table. Every function may be NULL. */
struct rule {
    const char *name;

    /* Requests of this product may allocate what is reserved: bare metal nodes that are held are
     * reserved as well (ARCHITECTURE.md, invariant 8). */
    bool allocates_reserved;

    /* ---- claims, before they are decided; not for requests of the same product ---- */

    /* Returns the claims with those added that must be decided together with them. */
    const struct claim *(*amend)(void *context, const struct claim *claims, size_t *count,
                                 const struct plan *plan);
    /* Refuses claims before their generations are compared. The order in which clients see errors
     * is all that this decides: what it refuses, check_effects refuses too. */
    bool (*guard)(void *context, const struct claim_set *set);

    /* ---- every request, after it is planned ---- */

    /* Whether the request may be committed; false: err is set. Nothing has been applied yet. */
    bool (*check_effects)(void *context, const struct effects *effects, const struct plan *plan,
                          struct err *err);

    /* Notes what the request touches, before it is applied. NULL: nothing follows from it. */
    void *(*note)(void *context, const struct effects *effects, const struct plan *plan);
    /* After what was planned so far has been applied, and the plan's list is empty: appends what
     * follows next, in the same transaction. False: nothing more. */
    bool (*follow)(void *noted, const struct plan *plan);

    /* ---- what others wrote ---- */

    /* A version that contains others' writes takes the place of `before` (NULL: it is the first).
     * The arena is for what that needs. */
    void (*foreign)(void *context, enum foreign_write kind, const struct version *before,
                    const struct version *after, struct arena *arena);
    /* What is to be done about it with the next batch, as `note`; NULL: nothing. */
    void *(*make_up)(void *context, const struct plan *plan);
    /* It was committed, or there is no point in trying again. */
    void (*made_up)(void *context);

    /* ---- questions of other products, any thread ---- */

    /* Whether a write that gives the project more of the host (a root) would be refused. */
    bool (*refuses)(void *context, const struct version *version, const struct provider *host,
                    struct slice project);
    /* Whether the consumer gives way to a consumer of that uuid and project: it goes when that
     * one's allocations are written. */
    bool (*yields)(void *context, const struct version *version, const struct consumer *consumer,
                   struct slice uuid, struct slice project);
    /* Whether a consumer of that uuid is the product's own. */
    bool (*owns_consumer)(void *context, const struct version *version, struct slice uuid);
};

struct rules {
    size_t count;
    struct {
        const struct rule *rule;
        void *context; /* NULL, or what the rule's functions get */
    } rows[4];
};

/* The context of the row of that rule; NULL: there is no such row, or it has none. Any thread. */
void *rules_context(const struct rules *rules, const struct rule *rule);

/* Each runs the rows in their order. `rules` may be NULL: there are none. */
const struct claim *rules_amend(const struct claim *claims, size_t *count, const struct plan *plan);
bool rules_guard(const struct claim_set *set, const struct plan *plan) BERTH_MUST_CHECK;
bool rules_check(const struct effects *effects, const struct plan *plan,
                 struct err *err) BERTH_MUST_CHECK;

/* What follows from a request, of all rows. */
struct rules_noted {
    void *rows[4];
};
struct rules_noted rules_note(const struct effects *effects, const struct plan *plan);
bool rules_follow(const struct rules_noted *noted, const struct plan *plan);

void rules_foreign(const struct rules *rules, enum foreign_write kind, const struct version *before,
                   const struct version *after, struct arena *arena);
/* False: nothing is to be done. */
bool rules_make_up(struct rules_noted *noted, const struct plan *plan);
void rules_made_up(const struct rules *rules);

/* Any thread. */
bool rules_refuse_host(const struct rules *rules, const struct version *version,
                       const struct provider *host, struct slice project);
bool rules_let_yield(const struct rules *rules, const struct version *version,
                     const struct consumer *consumer, struct slice uuid, struct slice project);
bool rules_own_consumer(const struct rules *rules, const struct version *version,
                        struct slice uuid);

#endif
