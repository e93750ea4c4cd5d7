/* Claims: what consumers are to hold after a write of allocations, whichever door it came by, and
 * the steps in which one is decided on the newest version. The order of the steps is the order in
 * which the Python service finds faults (placement spec, Order of checks and Generations). */
#ifndef BERTH_ENGINE_CLAIM_H
#define BERTH_ENGINE_CLAIM_H

#include "base/hash_map.h"
#include "engine/plan.h"

struct claim_amount {
    struct slice class_name;
    int64_t amount; /* at least 1; anything that is too large may come as INT64_MAX */
};

struct claim_provider {
    struct slice uuid;
    const struct claim_amount *amounts; /* classes differ */
    size_t amount_count;                /* at least 1 */
};

enum claim_generation_rule {
    CLAIM_GENERATION_ANY,  /* before 1.28: not checked */
    CLAIM_GENERATION_NULL, /* the consumer is to be new */
    CLAIM_GENERATION_GIVEN,
};

/* One consumer's new allocations; they replace whatever it holds. Texts outlive the plan. */
struct claim {
    struct slice consumer; /* the uuid as it is to be stored */
    struct slice project;
    struct slice user;
    struct slice type; /* data == NULL: a new consumer has none, an old one keeps its own */
    enum claim_generation_rule generation_rule;
    int64_t generation;
    struct slice generation_text; /* how a message shows it; data == NULL: as the number */
    const struct claim_provider *providers; /* uuids differ */
    size_t provider_count;                  /* 0: holds nothing any more */
};

/* The doors word some errors differently. */
enum claim_door { CLAIM_BY_PUT, CLAIM_BY_POST, CLAIM_BY_RESHAPER };

/* One class of a provider: its inventory and how its use would change. */
struct claim_stock {
    const struct inventory_figures *figures;
    struct class_no class_no;
    bool is_going;  /* the reshaper drops this inventory in the end */
    bool is_new;    /* the reshaper brings it */
    int64_t before; /* used, as it is */
    int64_t after;  /* used, with the old allocations gone and the new ones there so far */
};

/* A provider that the request names, or that a consumer leaves with nothing. */
struct claim_target {
    const struct provider *provider;
    struct claim_stock *stock; /* NULL until a claim names the provider */
    size_t stock_count;
    unsigned generation_steps; /* more than one, as the reshaper wants it; else 0 */
    bool is_named;
};

struct claim_row {
    struct claim_target *target;
    struct claim_stock *stock; /* NULL: the provider has no inventory of the class */
    const struct catalog_row *class_row;
    int64_t amount;
};

/* One request on its way; everything is in the batch's arena. */
struct claim_set {
    const struct plan *plan;
    struct err *err;
    enum claim_door door;
    const struct claim *given; /* as the request has them */
    size_t given_count;
    const struct claim *claims; /* the same, and behind them those that rules have added */
    size_t claim_count;
    bool raises_left; /* the generations also of providers that consumers leave for others */
    const struct consumer **consumers; /* per claim; NULL: new */
    struct claim_target *targets;
    size_t target_count;
    size_t target_capacity;
    struct hash_map target_map;  /* of the provider's number */
    struct claim_target **named; /* per provider entry of the claims, in order */
    struct claim_row *rows;      /* per amount, in order */
    size_t row_count;
};

/* What is allocated of a class that the target has no inventory of: nothing, unless somebody else
 * writes the database. */
int64_t claim_stray_use(const struct claim_target *target, struct class_no class_no,
                        const struct version *version);

/* Adds what the rules want decided together with the claims (rules.h), and looks the consumers up.
 * `more_targets`: how many providers the caller will add by claim_target_of. */
void claim_begin(struct claim_set *set, const struct claim *claims, size_t claim_count,
                 enum claim_door door, size_t more_targets, const struct plan *plan,
                 struct err *err);

/* Step 1: what the rules refuse at once (409); compares the consumers' generations (409). */
bool claim_check_generations(struct claim_set *set) BERTH_MUST_CHECK;

/* Step 2: looks the providers up (400). */
bool claim_find_providers(struct claim_set *set) BERTH_MUST_CHECK;

/* Step 3: classes (400), inventories, units and capacity (409; candidates spec, items 15 and 16:
 * what leaves the use of a class no higher than before always fits). */
bool claim_check_amounts(struct claim_set *set) BERTH_MUST_CHECK;

/* Step 4: appends the changes; nothing can fail any more. */
void claim_write(struct claim_set *set);

/* The provider's target, made if it is not there. */
struct claim_target *claim_target_of(struct claim_set *set, const struct provider *provider);

/* The target that is there; NULL: there is none. */
struct claim_target *claim_target_at(const struct claim_set *set, struct provider_no no);

/* The stock of that class, or NULL. Stock of more than CLAIM_STOCK_SCAN classes is sorted by class
 * number (claim_stock_sort). */
enum { CLAIM_STOCK_SCAN = 32 };
struct claim_stock *claim_stock_of(const struct claim_target *target, struct class_no class_no);
void claim_stock_sort(struct claim_target *target);

/* The provider's inventories as they are. `more`: room behind them. */
void claim_stock_fill(struct claim_set *set, struct claim_target *target, size_t more);

/* "No such resource class X." in the words of the door. Returns false. */
bool claim_refuse_class(struct claim_set *set, struct slice class_name);

#endif
