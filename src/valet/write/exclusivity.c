/* Sums, by (project, tree, class), what a request adds and removes.
 *
 * Only what the request changes can grow, and only by the difference between what its own consumers
 * held before and are to hold. So a server that is rewritten, shrunk, moved away or handed to
 * another consumer of its project adds nothing, even if other projects' consumers were there first.
 * A tree is claimed if it is claimed before the request, or if the request adds the aggregate to
 * its root. The writer only. */
#include "valet/write/exclusivity.h"

#include "base/arena.h"
#include "base/sums.h"
#include "replica/provider_consumers.h"
#include "valet/state/hosts.h"

/* The request, with the traits that refusing() needs for each share, looked up once. */
struct look {
    const struct effects *effects;
    struct host_marks marks;
};

static struct look look_at(const struct effects *effects)
{
    return (struct look){effects, host_marks_of(effects->before)};
}

/* ---- who refuses whom ---- */

static const struct valet_group *refusing_member(const struct version *version,
                                                 const struct valet_group *group,
                                                 struct slice project)
{
    return group == NULL || version_valet_member(version, group->record.id, project) != NULL
               ? NULL
               : group;
}

/* By the root's aggregates before the request, whether or not it was a root then. */
static const struct valet_group *refused_by_aggregates(const struct version *version,
                                                       const struct provider *root,
                                                       struct slice project)
{
    const struct valet_group *group = NULL;
    for (uint32_t i = 0; i < root->aggregates->count && group == NULL; i++)
        group = refusing_member(
            version, host_group_of_aggregate(version, root->aggregates->numbers[i]), project);
    return group;
}

/* By aggregates that the request adds to the root. */
static const struct valet_group *refused_by_links(const struct effects *effects,
                                                  const struct effect_provider *root,
                                                  struct slice project)
{
    const struct valet_group *group = NULL;
    for (const struct effect_content *at = root->contents; at != NULL && group == NULL;
         at = at->next)
        if (at->change->kind == CHANGE_PROVIDER_AGGREGATE_INSERT)
            group = refusing_member(
                effects->before,
                version_valet_group_by_uuid(
                    effects->before, effects_aggregate_uuid(effects, at->change->link.other_id)),
                project);
    return group;
}

/* The group that claims the tree and of which the project is not a member; NULL: there is none. */
static const struct valet_group *refusing(const struct look *look, int64_t root_id,
                                          struct slice project)
{
    const struct effects *effects = look->effects;
    const struct version *version = effects->before;
    const struct provider *root = version_provider_by_id(version, root_id);
    const struct effect_provider *effect = effects_provider(effects, root_id);
    const struct valet_group *group = NULL;
    if (root != NULL && host_shares(&look->marks, root))
        return NULL;
    if (root != NULL && root->parent.v == NUMBER_NONE)
        group = host_refuses(version, &look->marks, root, project);
    else if (root != NULL)
        group = refused_by_aggregates(version, root, project);
    return group != NULL || effect == NULL ? group : refused_by_links(effects, effect, project);
}

static bool exclusivity_refuse(const struct effects *effects, int64_t root_id,
                               const struct valet_group *group, struct err *err)
{
    const struct provider *root = version_provider_by_id(effects->before, root_id);
    const struct effect_provider *effect = effects_provider(effects, root_id);
    struct slice name = effect != NULL && effect->row != NULL ? effect->row->name
                        : root == NULL                        ? SLICE_LIT("")
                                                              : provider_name(root);
    return err_set_join(err, 409, NULL, SLICE_LIT("Resource provider '"), name,
                        SLICE_LIT("' is held by exclusivity group '"),
                        record_text(&group->record, VALET_GROUP_NAME), SLICE_LIT("'."));
}

/* ---- consumers ---- */

/* Sums for a project (by `of`) in a tree: what is added minus what is removed. Additions use the
 * tree as it is after the request, removals the tree as it was before. */
static void exclusivity_add(struct sums *shares, int64_t root_id, const struct slice *project,
                            int64_t class_id, int64_t amount)
{
    sums_add(shares, root_id, (int64_t)project_hash(*project), class_id, amount, project);
}

static const struct slice *exclusivity_keep(const struct effects *effects, struct slice project)
{
    struct slice *kept = arena_alloc(effects->arena, sizeof(*kept));
    *kept = project;
    return kept;
}

static int64_t root_before(const struct version *version, struct provider_no no)
{
    return version_provider(version, version_provider(version, no)->root)->id;
}

static int64_t root_after(const struct effects *effects, struct provider_no no)
{
    const struct provider *provider = version_provider(effects->before, no);
    const struct effect_provider *effect = effects_provider(effects, provider->id);
    return effect != NULL ? effects_root_id(effects, effect) : root_before(effects->before, no);
}

/* Removes what the consumer held, and adds again the part that stays. */
static void add_held(struct sums *shares, const struct effects *effects,
                     const struct effect_consumer *consumer, const struct slice *after)
{
    const struct version *version = effects->before;
    const struct consumer *before = consumer->before;
    const struct slice *project = exclusivity_keep(
        effects, catalog_name(catalog_row_at(&version->projects, before->project)));
    for (uint32_t i = 0; i < before->allocation_count; i++) {
        const struct consumer_allocation *held = &before->allocation[i];
        int64_t class_id = catalog_row_at(&version->classes, held->class_no.v)->id;
        exclusivity_add(shares, root_before(version, held->provider), project, class_id,
                        -held->used);
        if (!consumer->is_released)
            exclusivity_add(shares, root_after(effects, held->provider), after, class_id,
                            held->used);
    }
}

static void add_consumer(struct sums *shares, const struct effects *effects,
                         const struct effect_consumer *consumer)
{
    const struct slice *after = exclusivity_keep(effects, effects_project(effects, consumer));
    if (consumer->before != NULL)
        add_held(shares, effects, consumer, after);
    for (const struct effect_allocation *got = consumer->gets; got != NULL; got = got->next)
        exclusivity_add(shares, effects_root_id(effects, &effects->providers[got->provider]), after,
                        got->row->class_id, got->row->used);
}

/* Whether a consumer gets something, or what is kept changes hands. */
static bool may_grow(const struct effects *effects)
{
    for (size_t i = 0; i < effects->consumer_count; i++)
        if (effects->consumers[i].gets != NULL ||
            (effects->consumers[i].row != NULL && !effects->consumers[i].is_released))
            return true;
    return false;
}

/* A quick check, which ends most requests: whether any tree on which a consumer gets something may
 * be claimed. */
static bool meets_claims(const struct effects *effects)
{
    const struct version *version = effects->before;
    for (size_t i = 0; i < effects->consumer_count; i++) {
        const struct effect_consumer *consumer = &effects->consumers[i];
        if (consumer->row != NULL && !consumer->is_released && consumer->before != NULL &&
            consumer->before->allocation_count > 0)
            return true; /* allocations that it keeps are not in the effects */
    }
    for (size_t i = 0; i < effects->provider_count; i++) {
        const struct effect_provider *effect = &effects->providers[i];
        if ((effect->on & EFFECT_AGGREGATE) != 0 || effect->row != NULL || effect->before == NULL)
            return true;
        const struct provider *root = version_provider(version, effect->before->root);
        if (host_claim_of(version, root).group != NULL)
            return true;
    }
    return false;
}

static bool check_consumers(const struct effects *effects, struct err *err)
{
    struct sums shares = {.arena = effects->arena};
    struct look look = look_at(effects);
    for (size_t i = 0; i < effects->consumer_count; i++)
        add_consumer(&shares, effects, &effects->consumers[i]);
    sums_end_sorted(&shares);
    for (size_t i = 0; i < shares.count; i++) {
        const struct sum *share = &shares.items[i];
        const struct slice *project = share->of;
        const struct valet_group *group =
            share->amount > 0 ? refusing(&look, share->key[0], *project) : NULL;
        if (group != NULL)
            return exclusivity_refuse(effects, share->key[0], group, err);
    }
    return true;
}

/* ---- providers that come into another tree ---- */

/* Allocations on the provider move with it: those of non-members are more in the new tree.
 * Consumers that the request itself writes are summed with their new allocations. */
static bool check_moved(const struct look *look, const struct effect_provider *moved,
                        struct err *err)
{
    const struct effects *effects = look->effects;
    const struct version *version = effects->before;
    int64_t root_id = effects_root_id(effects, moved);
    uint32_t last = NUMBER_NONE;
    struct provider_consumers walk;
    const struct consumer *consumer;
    provider_consumers_of(&walk, version, moved->before->no);
    while ((consumer = provider_consumers_next(&walk)) != NULL) {
        if (consumer->project == last || effects_consumer(effects, consumer->id) != NULL)
            continue;
        last = consumer->project;
        const struct valet_group *group = refusing(
            look, root_id, catalog_name(catalog_row_at(&version->projects, consumer->project)));
        if (group != NULL)
            return exclusivity_refuse(effects, root_id, group, err);
    }
    return true;
}

static bool check_providers(const struct effects *effects, struct err *err)
{
    struct look look = look_at(effects);
    for (size_t i = 0; i < effects->provider_count; i++) {
        const struct effect_provider *effect = &effects->providers[i];
        if (effect->before != NULL && effect->row != NULL &&
            effects_root_id(effects, effect) != root_before(effects->before, effect->before->no) &&
            !check_moved(&look, effect, err))
            return false;
    }
    return true;
}

/* Not inline, so that a request costs nothing if there are no groups. */
__attribute__((noinline)) static bool check_claims(const struct effects *effects, struct err *err)
{
    if (effects_have(effects, CHANGE_PROVIDER_UPDATE) && !check_providers(effects, err))
        return false;
    return !may_grow(effects) || !meets_claims(effects) || check_consumers(effects, err);
}

bool exclusivity_check(const struct effects *effects, struct err *err)
{
    return !version_has_valet_groups(effects->before) || check_claims(effects, err);
}
