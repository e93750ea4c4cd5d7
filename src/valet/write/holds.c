/* Which holds a write drops, and which writes to holds are refused.
 *
 * Invariant: a hold and its real server are never both in the tree of the hold's host, so that no
 * server counts twice; and a server whose allocations elsewhere are rewritten does not affect its
 * hold. Without placements this costs one comparison for each request and one for each consumer.
 * The writer only. */
#include "valet/write/holds.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/sums.h"
#include "valet/state/hosts.h"
#include "valet/state/placement_location.h"

/* ---- holds to drop ---- */

struct drops {
    const struct plan *plan;
    struct claim *claims; /* NULL: none so far */
    const struct claim *given;
    size_t given_count;
    size_t count;
    const struct consumer **holds; /* to be dropped */
};

/* Whether the claim names a provider of that tree, or a host that its consumer is not on yet.
 * Shared storage does not count as a host. */
static bool comes_to(const struct version *version, const struct claim *claim,
                     const struct consumer *server, const struct provider *host)
{
    struct host_marks marks = host_marks_of(version);
    for (size_t i = 0; i < claim->provider_count; i++) {
        const struct provider *provider =
            version_provider_by_uuid(version, claim->providers[i].uuid);
        if (provider == NULL)
            continue; /* the claim is about to be refused */
        const struct provider *root = version_provider(version, provider->root);
        if (root == host || (host_is(&marks, root) && !placement_is_on(version, server, root)))
            return true;
    }
    return false;
}

static struct slice copy_name(const struct plan *plan, const struct catalog *catalog,
                              uint32_t number)
{
    return number == NUMBER_NONE
               ? (struct slice){0}
               : arena_copy(plan->arena, catalog_name(catalog_row_at(catalog, number)));
}

static void make_room(struct drops *drops)
{
    if (drops->claims != NULL)
        return;
    /* each claim is the server of at most two placements */
    size_t most = 3 * drops->given_count;
    drops->claims = arena_array(drops->plan->arena, most, sizeof(*drops->claims));
    drops->holds = arena_array(drops->plan->arena, 2 * drops->given_count, sizeof(*drops->holds));
    memcpy(drops->claims, drops->given, drops->given_count * sizeof(*drops->claims));
}

static int holds_compare_ids(const void *a, const void *b)
{
    int64_t one = (*(const struct consumer *const *)a)->id;
    int64_t other = (*(const struct consumer *const *)b)->id;
    return (one > other) - (one < other);
}

static void add_claim(struct drops *drops, const struct consumer *hold)
{
    const struct plan *plan = drops->plan;
    drops->claims[drops->count++] = (struct claim){
        .consumer = arena_copy(plan->arena, consumer_uuid(hold)),
        .project = copy_name(plan, &plan->version->projects, hold->project),
        .user = copy_name(plan, &plan->version->users, hold->user),
        .type = copy_name(plan, &plan->version->types, hold->type),
        .generation_rule = CLAIM_GENERATION_ANY,
    };
}

/* Sorts the holds; returns how many distinct ones there are. */
static size_t sort_holds(struct drops *drops, size_t found)
{
    size_t count = 0;
    qsort(drops->holds, found, sizeof(*drops->holds), holds_compare_ids);
    for (size_t i = 0; i < found; i++)
        if (count == 0 || drops->holds[i] != drops->holds[count - 1])
            drops->holds[count++] = drops->holds[i];
    return count;
}

/* Holds that the request names are written by their own claims. */
static void add_claims(struct drops *drops, size_t found)
{
    const struct version *version = drops->plan->version;
    found = sort_holds(drops, found);
    bool *is_named = arena_zalloc(drops->plan->arena, found * sizeof(*is_named));
    for (size_t i = 0; i < drops->given_count; i++) {
        const struct consumer *named = version_consumer(version, drops->claims[i].consumer);
        const struct consumer **at = NULL;
        if (named != NULL)
            at = bsearch(&named, drops->holds, found, sizeof(*drops->holds), holds_compare_ids);
        if (at == NULL)
            continue;
        drops->claims[i].provider_count = 0;
        is_named[at - drops->holds] = true;
    }
    for (size_t i = 0; i < found; i++)
        if (!is_named[i])
            add_claim(drops, drops->holds[i]);
}

static size_t find_hold(struct drops *drops, const struct claim *claim,
                        const struct valet_placement *placement, size_t found)
{
    const struct version *version = drops->plan->version;
    const struct consumer *hold = placement == NULL ? NULL : placement_hold(version, placement);
    const struct valet_plan *owner = hold == NULL ? NULL : placement_plan(version, placement);
    if (hold == NULL || claim->provider_count == 0 ||
        !placement_takes_server(owner, claim->project))
        return found;
    const struct consumer *server = placement_server_by(version, owner, claim->consumer);
    if (server != NULL && !comes_to(version, claim, server, placement_host_of(version, hold)))
        return found;
    make_room(drops);
    drops->holds[found] = hold;
    return found + 1;
}

const struct claim *holds_add_drops(const struct claim *claims, size_t *count,
                                    const struct plan *plan)
{
    if (!version_has_valet_placements(plan->version))
        return claims;
    struct drops drops = {.plan = plan, .given = claims, .given_count = *count, .count = *count};
    size_t found = 0;
    for (size_t i = 0; i < *count; i++) {
        struct slice uuid = claims[i].consumer;
        const struct valet_placement *by_resource =
            version_valet_placement_by_resource(plan->version, uuid);
        const struct valet_placement *by_orchestration =
            version_valet_placement_by_orchestration(plan->version, uuid);
        found = find_hold(&drops, &claims[i], by_resource, found);
        if (by_orchestration != by_resource)
            found = find_hold(&drops, &claims[i], by_orchestration, found);
    }
    if (found == 0)
        return claims;
    add_claims(&drops, found);
    *count = drops.count;
    return drops.claims;
}

/* ---- refused writes ---- */

static bool is_hold_type(struct slice type)
{
    return type.data != NULL && slice_equal(type, SLICE_LIT(VALET_HOLD_TYPE));
}

static bool is_hold(const struct version *version, struct slice uuid,
                    const struct consumer *consumer)
{
    if (consumer != NULL && consumer_is_hold(version, consumer))
        return true;
    return version_has_valet_placements(version) &&
           version_valet_placement_by_uuid(version, uuid) != NULL;
}

/* For a class in a tree: what is added minus what is removed. */
static void add_portion(struct sums *portions, uint32_t root, uint32_t class_number, int64_t amount)
{
    sums_add(portions, root, class_number, 0, amount, NULL);
}

static void add_held(struct sums *portions, const struct version *version,
                     const struct consumer *hold)
{
    for (uint32_t i = 0; i < hold->allocation_count; i++) {
        const struct consumer_allocation *old = &hold->allocation[i];
        add_portion(portions, version_provider(version, old->provider)->root.v, old->class_no.v,
                    -old->used);
    }
}

/* Whether each tree has the same amount of each class as before. */
static bool is_balanced(struct sums *portions)
{
    sums_end(portions);
    for (size_t i = 0; i < portions->count; i++)
        if (portions->items[i].amount != 0)
            return false;
    return true;
}

static bool claim_moves_within_trees(const struct version *version, const struct claim *claim,
                                     const struct consumer *hold, struct arena *arena)
{
    struct sums portions = {.arena = arena};
    add_held(&portions, version, hold);
    for (size_t i = 0; i < claim->provider_count; i++) {
        const struct claim_provider *named = &claim->providers[i];
        const struct provider *provider = version_provider_by_uuid(version, named->uuid);
        for (size_t k = 0; k < named->amount_count; k++) {
            const struct catalog_row *row =
                catalog_find(&version->classes, named->amounts[k].class_name);
            if (provider == NULL || row == NULL || named->amounts[k].amount > INT32_MAX)
                return false;
            add_portion(&portions, provider->root.v, row->number, named->amounts[k].amount);
        }
    }
    return is_balanced(&portions);
}

/* Whether project, user and type (data == NULL: unchanged) are the hold's. */
static bool is_owner(const struct version *version, const struct consumer *hold,
                     struct slice project, struct slice user, struct slice type)
{
    return project_equal(project,
                         catalog_name(catalog_row_at(&version->projects, hold->project))) &&
           slice_equal(user, catalog_name(catalog_row_at(&version->users, hold->user))) &&
           (type.data == NULL ||
            (hold->type != NUMBER_NONE &&
             slice_equal(type, catalog_name(catalog_row_at(&version->types, hold->type)))));
}

static bool may_claim(const struct claim_set *set, const struct claim *claim,
                      const struct consumer *consumer)
{
    const struct version *version = set->plan->version;
    bool was_hold = is_hold(version, claim->consumer, consumer);
    if (!was_hold && !is_hold_type(claim->type))
        return true;
    if (set->source != CLAIM_BY_RESHAPER)
        return claim->provider_count == 0 && (was_hold || consumer == NULL);
    return was_hold && consumer != NULL &&
           is_owner(version, consumer, claim->project, claim->user, claim->type) &&
           claim_moves_within_trees(version, claim, consumer, set->plan->arena);
}

static bool holds_refuse(struct slice uuid, struct err *err)
{
    return err_set_join(err, 409, NULL, SLICE_LIT("Consumer "), uuid,
                        SLICE_LIT(" is kept for a placement of Valet."));
}

bool holds_guard(const struct claim_set *set)
{
    for (size_t i = 0; i < set->given_count; i++)
        if (!may_claim(set, &set->given[i], set->consumers[i]))
            return holds_refuse(set->given[i].consumer, set->err);
    return true;
}

/* ---- the same by effects ---- */

static bool effect_moves_within_trees(const struct effects *effects,
                                      const struct effect_consumer *consumer)
{
    const struct version *version = effects->before;
    struct sums portions = {.arena = effects->arena};
    if (consumer->is_released)
        add_held(&portions, version, consumer->before);
    for (const struct effect_allocation *got = consumer->gets; got != NULL; got = got->next) {
        const struct provider *root = version_provider_by_id(
            version, effects_root_id(effects, &effects->providers[got->provider]));
        const struct catalog_row *row = catalog_find_id(&version->classes, got->row->class_id);
        if (root == NULL || row == NULL)
            return false;
        add_portion(&portions, root->no.v, row->number, got->row->used);
    }
    return is_balanced(&portions);
}

static bool may_write(const struct effects *effects, const struct effect_consumer *consumer)
{
    const struct version *version = effects->before;
    struct slice type = effects_type(effects, consumer);
    bool was_hold = is_hold(version, consumer->uuid, consumer->before);
    if (!was_hold && !is_hold_type(type))
        return true;
    if (!effects_holds_something(consumer))
        return was_hold || consumer->before == NULL;
    return was_hold && consumer->before != NULL &&
           is_owner(version, consumer->before, effects_project(effects, consumer),
                    effects_user(effects, consumer), type) &&
           effect_moves_within_trees(effects, consumer);
}

bool holds_check(const struct effects *effects, struct err *err)
{
    const struct version *version = effects->before;
    if (!version_has_valet_placements(version) &&
        catalog_find(&version->types, SLICE_LIT(VALET_HOLD_TYPE)) == NULL &&
        !effects_have(effects, CHANGE_CONSUMER_TYPE_INSERT))
        return true;
    for (size_t i = 0; i < effects->consumer_count; i++)
        if (!may_write(effects, &effects->consumers[i]))
            return holds_refuse(effects->consumers[i].uuid, err);
    return true;
}
