/* Rules: what must be true of every commit, whichever planner wrote it. The engine runs all rows of
 * one table over the effects of every request, so no planner can forget a rule and no write can
 * bypass one. The code that starts the pipeline supplies the table (products/products.c): the
 * engine knows no product. The writer only, unless a function says otherwise. */
#ifndef BERTH_ENGINE_RULES_H
#define BERTH_ENGINE_RULES_H

#include "engine/effects.h"
#include "engine/plan.h"

struct claim;
struct claim_set;

enum foreign_write {
    FOREIGN_LOADED,   /* any program may have written anything */
    FOREIGN_FOLLOWED, /* another berthd wrote, which applies the same rules */
};

/* One product's rules. `context` is the context of the rule's row in the table. Every function may
 * be NULL. */
struct rule {
    const char *name;

    /* Requests of this product may allocate reserved amounts, because bare metal nodes that are
     * held are also reserved (ARCHITECTURE.md, invariant 8). */
    bool allocates_reserved;

    /* ---- claims, before they are decided; not called for requests of the same product ---- */

    /* Returns the claims together with those that must be decided with them. */
    const struct claim *(*amend)(void *context, const struct claim *claims, size_t *count,
                                 const struct plan *plan);
    /* Refuses claims before their generations are compared. This affects only the order in which
     * clients see errors: check_effects refuses whatever this refuses. */
    bool (*guard)(void *context, const struct claim_set *set);

    /* ---- every request, after it is planned ---- */

    /* Whether the request may be committed; false: err is set. Nothing has been applied yet. */
    bool (*check_effects)(void *context, const struct effects *effects, const struct plan *plan,
                          struct err *err);

    /* Notes what the request affects, before it is applied. NULL: it has no consequences. */
    void *(*note)(void *context, const struct effects *effects, const struct plan *plan);
    /* Called with an empty list, after the changes planned so far have been applied: appends the
     * next consequences, in the same transaction. False: there are no more. */
    bool (*follow)(void *noted, const struct plan *plan);

    /* ---- other processes' writes ---- */

    /* A version that contains other processes' writes replaces `before` (NULL: it is the first
     * version). The arena may be used for working memory. */
    void (*foreign)(void *context, enum foreign_write kind, const struct version *before,
                    const struct version *after, struct arena *arena);
    /* Whether there may be something to make up. */
    bool (*owes)(const void *context);
    /* Returns what the next batch must do about these writes, in the form in which `note` returns
     * it; NULL: nothing. */
    void *(*make_up)(void *context, const struct plan *plan);
    /* Called when that has been committed, or when trying again is pointless. */
    void (*made_up)(void *context);

    /* ---- queries by other products, any thread ---- */

    /* Whether a write that gives the project more of the host (a root provider) would be
     * refused. */
    bool (*refuses)(void *context, const struct version *version, const struct provider *host,
                    struct slice project);
    /* Whether the consumer gives way to a consumer with that uuid and project, that is, whether it
     * is deleted when that consumer's allocations are written. */
    bool (*yields)(void *context, const struct version *version, const struct consumer *consumer,
                   struct slice uuid, struct slice project);
    /* Whether a consumer with that uuid belongs to the product. */
    bool (*owns_consumer)(void *context, const struct version *version, struct slice uuid);
};

struct rules {
    size_t count;
    struct {
        const struct rule *rule;
        void *context; /* passed to the rule's functions; may be NULL */
    } rows[4];
};

/* The context of that rule's row; NULL: the table has no such row, or the row has no context. Any
 * thread. */
void *rules_context(const struct rules *rules, const struct rule *rule);

/* Each function runs the rows in their order. `rules` may be NULL: there are none. */
const struct claim *rules_amend(const struct claim *claims, size_t *count, const struct plan *plan);
bool rules_guard(const struct claim_set *set, const struct plan *plan) BERTH_MUST_CHECK;
bool rules_check(const struct effects *effects, const struct plan *plan,
                 struct err *err) BERTH_MUST_CHECK;

/* The notes of all rows about one request. */
struct rules_noted {
    void *rows[4];
};
struct rules_noted rules_note(const struct effects *effects, const struct plan *plan);
bool rules_follow(const struct rules_noted *noted, const struct plan *plan);

void rules_foreign(const struct rules *rules, enum foreign_write kind, const struct version *before,
                   const struct version *after, struct arena *arena);
/* False: there is nothing to do. */
bool rules_make_up(struct rules_noted *noted, const struct plan *plan);
void rules_made_up(const struct rules *rules);
/* Whether the next batch may have to do something about other processes' writes. */
bool rules_owe(const struct rules *rules);

/* Any thread. */
bool rules_refuse_host(const struct rules *rules, const struct version *version,
                       const struct provider *host, struct slice project);
bool rules_let_yield(const struct rules *rules, const struct version *version,
                     const struct consumer *consumer, struct slice uuid, struct slice project);
bool rules_own_consumer(const struct rules *rules, const struct version *version,
                        struct slice uuid);

#endif
