/* Claims: what consumers hold after a write of allocations, through any API, and the steps that
 * decide a claim on the newest version. The order of the steps is the order in which the Python
 * service reports errors (placement spec, Order of checks and Generations). */
#ifndef BERTH_ENGINE_CLAIM_H
#define BERTH_ENGINE_CLAIM_H

#include "base/hash_map.h"
#include "engine/plan.h"

struct claim_amount {
    struct slice class_name;
    int64_t amount; /* at least 1; amounts that are too large may be INT64_MAX */
};

struct claim_provider {
    struct slice uuid;
    const struct claim_amount *amounts; /* no class occurs twice */
    size_t amount_count;                /* at least 1 */
};

enum claim_generation_rule {
    CLAIM_GENERATION_ANY,  /* before 1.28: not checked */
    CLAIM_GENERATION_NULL, /* the consumer must be new */
    CLAIM_GENERATION_GIVEN,
};

/* One consumer's new allocations; they replace everything that it holds. Texts outlive the plan. */
struct claim {
    struct slice consumer; /* the uuid as it will be stored */
    struct slice project;
    struct slice user;
    struct slice type; /* data == NULL: none for a new consumer, unchanged for an existing one */
    enum claim_generation_rule generation_rule;
    int64_t generation;
    struct slice generation_text;           /* as shown in messages; data == NULL: the number */
    const struct claim_provider *providers; /* no uuid occurs twice */
    size_t provider_count;                  /* 0: the consumer gives up everything */
};

/* The source of a claim: APIs use different texts for some errors. */
enum claim_source { CLAIM_BY_PUT, CLAIM_BY_POST, CLAIM_BY_RESHAPER };

/* One class of a provider: its inventory and how its use would change. */
struct claim_stock {
    const struct inventory_figures *figures;
    struct class_no class_no;
    bool is_going;  /* the reshaper deletes this inventory at the end */
    bool is_new;    /* the reshaper adds it */
    int64_t before; /* used at present */
    int64_t after;  /* used without the old allocations and with the new ones so far */
};

/* A provider that the request names, or that a consumer leaves because it gives up everything. */
struct claim_target {
    const struct provider *provider;
    struct claim_stock *stock; /* NULL until a claim names the provider */
    size_t stock_count;
    unsigned generation_steps; /* more than one for the reshaper; otherwise 0 */
    bool is_named;
};

struct claim_row {
    struct claim_target *target;
    struct claim_stock *stock; /* NULL: the provider has no inventory of the class */
    const struct catalog_row *class_row;
    int64_t amount;
};

/* One request that is being decided; everything is in the batch's arena. */
struct claim_set {
    const struct plan *plan;
    struct err *err;
    enum claim_source source;
    const struct claim *given; /* the claims of the request */
    size_t given_count;
    const struct claim *claims; /* the same, followed by those that rules added */
    size_t claim_count;
    bool raises_left; /* also raises the generations of providers that consumers leave for others */
    const struct consumer **consumers; /* one for each claim; NULL: a new consumer */
    struct claim_target *targets;
    size_t target_count;
    size_t target_capacity;
    struct hash_map target_map;  /* keyed by the provider's number */
    struct claim_target **named; /* one for each provider entry of the claims, in order */
    struct claim_row *rows;      /* one for each amount, in order */
    size_t row_count;
};

/* The amount allocated of a class of which the target has no inventory: 0 unless another program
 * writes to the database. */
int64_t claim_stray_use(const struct claim_target *target, struct class_no class_no,
                        const struct version *version);

/* Adds the claims that the rules require to be decided together with these (rules.h), and looks up
 * the consumers. `more_targets`: how many providers the caller will add with claim_target_of. */
void claim_begin(struct claim_set *set, const struct claim *claims, size_t claim_count,
                 enum claim_source source, size_t more_targets, const struct plan *plan,
                 struct err *err);

/* Step 1: applies the rules' early refusals (409) and compares the consumers' generations (409). */
bool claim_check_generations(struct claim_set *set) BERTH_MUST_CHECK;

/* Step 2: looks up the providers (400). */
bool claim_find_providers(struct claim_set *set) BERTH_MUST_CHECK;

/* Step 3: checks classes (400), inventories, units and capacity (409; candidates spec, items 15 and
 * 16: a write that does not raise the use of a class always fits). */
bool claim_check_amounts(struct claim_set *set) BERTH_MUST_CHECK;

/* Step 4: appends the changes; this cannot fail. */
void claim_write(struct claim_set *set);

/* The provider's target, created if missing. */
struct claim_target *claim_target_of(struct claim_set *set, const struct provider *provider);

/* The existing target; NULL: there is none. */
struct claim_target *claim_target_at(const struct claim_set *set, struct provider_no no);

/* The stock of that class, or NULL. Stock of more than CLAIM_STOCK_SCAN classes is sorted by class
 * number (claim_stock_sort). */
enum { CLAIM_STOCK_SCAN = 32 };
struct claim_stock *claim_stock_of(const struct claim_target *target, struct class_no class_no);
void claim_stock_sort(struct claim_target *target);

/* Fills the target's stock from the provider's current inventories. `more`: how many further
 * entries to reserve. */
void claim_stock_fill(struct claim_set *set, struct claim_target *target, size_t more);

/* Sets the error "No such resource class X." with the text of the source. Returns false. */
bool claim_refuse_class(struct claim_set *set, struct slice class_name);

#endif
