/* Decides claims: the amounts of each provider that each consumer receives.
 *
 * Every distinct provider of a request is one target with a copy of the amounts in its classes
 * (stock). Several consumers of one provider are therefore added up together, and a lookup costs
 * the same in a small request and in one of 16 MiB. Invariants: this file appends nothing to the
 * plan's changes (claim_write.c does that after all checks); no accepted write raises the use of a
 * class above its capacity. The writer only. */
#include "engine/claim.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "engine/rules.h"
#include "replica/usage.h"

void claim_begin(struct claim_set *set, const struct claim *claims, size_t claim_count,
                 enum claim_source source, size_t more_targets, const struct plan *plan,
                 struct err *err)
{
    *set = (struct claim_set){.plan = plan,
                              .err = err,
                              .source = source,
                              .given = claims,
                              .given_count = claim_count,
                              .claims = rules_amend(claims, &claim_count, plan)};
    claims = set->claims;
    set->claim_count = claim_count;
    set->consumers = arena_array(plan->arena, claim_count, sizeof(const struct consumer *));
    size_t named = 0;
    size_t rows = 0;
    size_t left = 0;
    for (size_t i = 0; i < claim_count; i++) {
        const struct claim *claim = &claims[i];
        set->consumers[i] = version_consumer(plan->version, claim->consumer);
        named += claim->provider_count;
        for (size_t p = 0; p < claim->provider_count; p++)
            rows += claim->providers[p].amount_count;
        if (claim->provider_count == 0 && set->consumers[i] != NULL)
            left += set->consumers[i]->allocation_count;
    }
    set->target_capacity = more_targets + named + left;
    set->targets = arena_array(plan->arena, set->target_capacity, sizeof(struct claim_target));
    set->target_map = hash_map_create(plan->arena, set->target_capacity);
    set->named = arena_array(plan->arena, named, sizeof(struct claim_target *));
    set->rows = arena_array(plan->arena, rows, sizeof(struct claim_row));
}

static bool refuse_generation(struct claim_set *set, const struct claim *claim,
                              const struct consumer *consumer)
{
    struct arena *arena = set->err->arena;
    struct slice expected = SLICE_LIT("null");
    if (consumer != NULL)
        expected = arena_printf(arena, "%d", consumer->generation);
    struct slice got = SLICE_LIT("None");
    if (claim->generation_rule == CLAIM_GENERATION_GIVEN)
        got = claim->generation_text.data != NULL
                  ? claim->generation_text
                  : arena_printf(arena, "%lld", (long long)claim->generation);
    err_set(set->err, 409, "placement.concurrent_update",
            "consumer generation conflict - expected %.*s but got %.*s", SLICE_ARG(expected),
            SLICE_ARG(got));
    return err_of_kind(set->err, REFUSED_CONSUMER_GENERATION);
}

bool claim_check_generations(struct claim_set *set)
{
    if (!rules_guard(set, set->plan))
        return false;
    for (size_t i = 0; i < set->claim_count; i++) {
        const struct claim *claim = &set->claims[i];
        const struct consumer *consumer = set->consumers[i];
        bool fits = true;
        if (claim->generation_rule == CLAIM_GENERATION_NULL)
            fits = consumer == NULL;
        else if (claim->generation_rule == CLAIM_GENERATION_GIVEN)
            fits = consumer != NULL && consumer->generation == claim->generation;
        if (!fits)
            return refuse_generation(set, claim, consumer);
    }
    return true;
}

/* The slot of the provider's target, or the free slot where it belongs. */
static struct hash_slot *target_slot(const struct claim_set *set, struct provider_no no)
{
    struct hash_slot *slot;
    HASH_MAP_FIND(slot, &set->target_map, hash_number(no.v), true); /* equal hashes mean equal
                                                                     * numbers */
    return slot;
}

struct claim_target *claim_target_of(struct claim_set *set, const struct provider *provider)
{
    struct hash_slot *slot = target_slot(set, provider->no);
    if (hash_slot_is_free(slot)) {
        check(set->target_count < set->target_capacity);
        set->targets[set->target_count] = (struct claim_target){.provider = provider};
        hash_slot_put(slot, hash_number(provider->no.v), (uint32_t)set->target_count++);
    }
    return &set->targets[hash_slot_item(slot)];
}

struct claim_target *claim_target_at(const struct claim_set *set, struct provider_no no)
{
    const struct hash_slot *slot = target_slot(set, no);
    return hash_slot_is_free(slot) ? NULL : &set->targets[hash_slot_item(slot)];
}

int64_t claim_stray_use(const struct claim_target *target, struct class_no class_no,
                        const struct version *version)
{
    return usage_stray(version, target->provider->no, class_no);
}

static int compare_stock(const void *a, const void *b)
{
    uint32_t left = ((const struct claim_stock *)a)->class_no.v;
    uint32_t right = ((const struct claim_stock *)b)->class_no.v;
    return left < right ? -1 : left > right;
}

void claim_stock_sort(struct claim_target *target)
{
    if (target->stock_count > CLAIM_STOCK_SCAN)
        qsort(target->stock, target->stock_count, sizeof(*target->stock), compare_stock);
}

void claim_stock_fill(struct claim_set *set, struct claim_target *target, size_t more)
{
    const struct provider *provider = target->provider;
    target->stock_count = provider->inventory_count;
    target->stock =
        arena_array(set->plan->arena, target->stock_count + more, sizeof(struct claim_stock));
    for (size_t i = 0; i < target->stock_count; i++)
        target->stock[i] = (struct claim_stock){
            .figures = &provider->inventory[i].figures,
            .class_no = provider->inventory[i].class_no,
            .before = provider->inventory[i].used,
            .after = provider->inventory[i].used,
        };
    claim_stock_sort(target);
}

struct claim_stock *claim_stock_of(const struct claim_target *target, struct class_no class_no)
{
    if (target->stock_count > CLAIM_STOCK_SCAN) {
        struct claim_stock key = {.class_no = class_no};
        return bsearch(&key, target->stock, target->stock_count, sizeof(key), compare_stock);
    }
    for (size_t i = 0; i < target->stock_count; i++)
        if (target->stock[i].class_no.v == class_no.v)
            return &target->stock[i];
    return NULL;
}

/* A consumer that gives up everything raises the generations of the providers that it leaves; a
 * consumer that moves to other providers does not. */
static void name_left_providers(struct claim_set *set, const struct consumer *consumer)
{
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct provider *provider =
            version_provider(set->plan->version, consumer->allocation[i].provider);
        claim_target_of(set, provider)->is_named = true;
    }
}

bool claim_find_providers(struct claim_set *set)
{
    struct claim_target **named = set->named;
    for (size_t i = 0; i < set->claim_count; i++) {
        const struct claim *claim = &set->claims[i];
        if (claim->provider_count == 0 && set->consumers[i] != NULL)
            name_left_providers(set, set->consumers[i]);
        for (size_t p = 0; p < claim->provider_count; p++) {
            struct slice uuid = claim->providers[p].uuid;
            const struct provider *provider = version_provider_by_uuid(set->plan->version, uuid);
            if (provider == NULL)
                return err_set(set->err, 400, NULL,
                               "Allocation for resource provider '%.*s' that does not exist.",
                               SLICE_ARG(uuid));
            struct claim_target *target = claim_target_of(set, provider);
            target->is_named = true;
            *named++ = target;
        }
    }
    return true;
}

bool claim_refuse_class(struct claim_set *set, struct slice class_name)
{
    switch (set->source) {
    case CLAIM_BY_PUT:
        return err_set(set->err, 400, NULL,
                       "Unable to allocate inventory for consumer %.*s: No such resource class "
                       "%.*s.",
                       SLICE_ARG(set->claims[0].consumer), SLICE_ARG(class_name));
    case CLAIM_BY_POST:
        return err_set(set->err, 400, NULL,
                       "Unable to allocate inventory No such resource class %.*s.",
                       SLICE_ARG(class_name));
    case CLAIM_BY_RESHAPER:
        break;
    }
    /* the only API whose schema accepts any name */
    return err_set_join(set->err, 400, NULL,
                        SLICE_LIT("malformed reshaper data: No such resource class "), class_name,
                        SLICE_LIT("."));
}

static bool find_classes(struct claim_set *set)
{
    struct claim_target **named = set->named;
    for (size_t i = 0; i < set->claim_count; i++) {
        const struct claim *claim = &set->claims[i];
        for (size_t p = 0; p < claim->provider_count; p++) {
            const struct claim_provider *provider = &claim->providers[p];
            struct claim_target *target = *named++;
            if (target->stock == NULL)
                claim_stock_fill(set, target, 0);
            for (size_t a = 0; a < provider->amount_count; a++) {
                const struct claim_amount *amount = &provider->amounts[a];
                const struct catalog_row *class_row =
                    catalog_find(&set->plan->version->classes, amount->class_name);
                if (class_row == NULL)
                    return claim_refuse_class(set, amount->class_name);
                set->rows[set->row_count++] = (struct claim_row){
                    .target = target,
                    .stock = claim_stock_of(target, (struct class_no){class_row->number}),
                    .class_row = class_row,
                    .amount = amount->amount,
                };
            }
        }
    }
    return true;
}

/* The consumers' old allocations do not count against their new ones. */
static void release_old(struct claim_set *set)
{
    for (size_t i = 0; i < set->claim_count; i++) {
        const struct consumer *consumer = set->consumers[i];
        for (uint32_t a = 0; consumer != NULL && a < consumer->allocation_count; a++) {
            const struct consumer_allocation *old = &consumer->allocation[a];
            const struct claim_target *target = claim_target_at(set, old->provider);
            struct claim_stock *stock =
                target == NULL ? NULL : claim_stock_of(target, old->class_no);
            if (stock != NULL)
                stock->after -= old->used;
        }
    }
}

/* The classes that the request concerns, including those that a cleared consumer releases. */
static bool *requested_classes(const struct claim_set *set)
{
    bool *requested = arena_zalloc(set->plan->arena, set->plan->version->classes.limit);
    for (size_t i = 0; i < set->row_count; i++)
        requested[set->rows[i].class_row->number] = true;
    for (size_t i = 0; i < set->claim_count; i++) {
        const struct consumer *consumer = set->consumers[i];
        if (set->claims[i].provider_count > 0 || consumer == NULL)
            continue;
        for (uint32_t a = 0; a < consumer->allocation_count; a++)
            requested[consumer->allocation[a].class_no.v] = true;
    }
    return requested;
}

static void list_append(struct buf *list, struct slice name)
{
    if (list->len > 0)
        buf_append_lit(list, ", ");
    buf_append_slice(list, name);
}

/* Providers with no inventory of the requested classes are refused together, before any other
 * check. */
static bool check_holders(struct claim_set *set)
{
    bool *requested = requested_classes(set);
    struct buf holders = {0};
    for (size_t i = 0; i < set->target_count; i++) {
        const struct claim_target *target = &set->targets[i];
        bool holds = !target->is_named || target->stock == NULL;
        for (size_t s = 0; s < target->stock_count && !holds; s++)
            holds = requested[target->stock[s].class_no.v];
        if (!holds)
            list_append(&holders, provider_uuid(target->provider));
    }
    if (holders.len == 0)
        return true;
    struct buf classes = {0};
    struct ptree_iter iter;
    ptree_seek(&set->plan->version->classes.by_id, 0, 0, &iter);
    for (const struct ptree_entry *entry; (entry = ptree_iter_get(&iter)) != NULL;
         ptree_iter_next(&iter))
        if (requested[entry->value])
            list_append(&classes, catalog_name(catalog_row_at(&set->plan->version->classes,
                                                              (uint32_t)entry->value)));
    err_set(set->err, 409, NULL,
            "Unable to allocate inventory: Inventory for '%.*s' on resource provider '%.*s' "
            "invalid.",
            SLICE_ARG(buf_slice(&classes)), SLICE_ARG(buf_slice(&holders)));
    buf_free(&classes);
    buf_free(&holders);
    return err_of_kind(set->err, REFUSED_CAPACITY);
}

static bool refuse_amount(struct claim_set *set, const struct claim_row *row, const char *why)
{
    err_set(set->err, 409, NULL,
            "Unable to allocate inventory: Unable to create allocation for '%.*s' on "
            "resource provider '%.*s'. The requested amount would %s.",
            SLICE_ARG(catalog_name(row->class_row)),
            SLICE_ARG(provider_uuid(row->target->provider)), why);
    return err_of_kind(set->err, REFUSED_CAPACITY);
}

/* The reasons are the log lines of the Python service, which operators search for. */
static bool refuse_unit(struct claim_set *set, const struct claim_row *row)
{
    const struct inventory_figures *figures = row->stock->figures;
    refuse_amount(set, row, "violate inventory constraints");
    return err_reason(set->err,
                      "Allocation for %.*s on resource provider %.*s violates min_unit, max_unit, "
                      "or step_size. Requested: %lld, min_unit: %d, max_unit: %d, step_size: %d",
                      SLICE_ARG(catalog_name(row->class_row)),
                      SLICE_ARG(provider_uuid(row->target->provider)), (long long)row->amount,
                      figures->min_unit, figures->max_unit, figures->step_size);
}

/* `Used` is what other consumers use: it excludes what the request releases and what it
 * requests. */
static bool refuse_capacity(struct claim_set *set, const struct claim_row *row)
{
    const struct inventory_figures *figures = row->stock->figures;
    int64_t used = row->stock->after;
    for (const struct claim_row *requested = set->rows; requested <= row; requested++)
        if (requested->stock == row->stock)
            used -= requested->amount;
    struct buf capacity = {0};
    json_write_double(&capacity,
                      ((double)figures->total - figures->reserved) * figures->allocation_ratio);
    refuse_amount(set, row, "exceed the capacity");
    err_reason(set->err,
               "Over capacity for %.*s on resource provider %.*s. Needed: %lld, Used: %lld, "
               "Capacity: %.*s",
               SLICE_ARG(catalog_name(row->class_row)),
               SLICE_ARG(provider_uuid(row->target->provider)), (long long)row->amount,
               (long long)used, SLICE_ARG(buf_slice(&capacity)));
    buf_free(&capacity);
    return false;
}

static bool check_row(struct claim_set *set, const struct claim_row *row)
{
    struct claim_stock *stock = row->stock;
    if (stock == NULL) {
        err_set(set->err, 409, NULL,
                "Unable to allocate inventory: Inventory for '%.*s' on resource provider '%.*s' "
                "invalid.",
                SLICE_ARG(catalog_name(row->class_row)),
                SLICE_ARG(provider_uuid(row->target->provider)));
        err_of_kind(set->err, REFUSED_CAPACITY);
        return err_reason(set->err,
                          "Resource provider %.*s has no inventory of %.*s. Requested: %lld",
                          SLICE_ARG(provider_uuid(row->target->provider)),
                          SLICE_ARG(catalog_name(row->class_row)), (long long)row->amount);
    }
    if (!capacity_unit_fits(stock->figures, row->amount))
        return refuse_unit(set, row);
    stock->after += row->amount;
    if (stock->after > capacity_of(stock->figures) && stock->after > stock->before)
        return refuse_capacity(set, row);
    return true;
}

bool claim_check_amounts(struct claim_set *set)
{
    if (!find_classes(set))
        return false;
    release_old(set);
    bool all_held = true;
    for (size_t i = 0; i < set->row_count; i++)
        all_held &= set->rows[i].stock != NULL;
    if (!all_held && !check_holders(set))
        return false;
    for (size_t i = 0; i < set->row_count; i++)
        if (!check_row(set, &set->rows[i]))
            return false;
    return true;
}
