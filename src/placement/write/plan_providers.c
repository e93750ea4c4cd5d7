/* Providers: names and uuids are unique; a provider's parent exists and is not one of its
 * descendants. A provider moves with its subtree, whose rows all name the root. The writer
 * only. */
#include "placement/write/plan_providers.h"

#include "base/arena.h"
#include "engine/provider_changes.h"
#include "placement/write/taken_names.h"
#include "replica/provider_consumers.h"

const struct provider *plan_provider_find(const struct version *version, struct slice uuid,
                                          struct err *err)
{
    const struct provider *provider = version_provider_by_uuid(version, uuid);
    if (provider == NULL)
        err_set_join(err, 404, NULL, SLICE_LIT("No resource provider with uuid "), uuid,
                     SLICE_LIT(" found"));
    return provider;
}

bool plan_generation_is(const struct provider *provider, int64_t generation, struct err *err)
{
    if (provider->generation == generation)
        return true;
    err_set(err, 409, "placement.concurrent_update",
            "Resource provider's generation already changed. Please update the generation "
            "and try again.");
    return err_of_kind(err, REFUSED_PROVIDER_GENERATION);
}

static struct slice root_uuid_of(const struct version *version, const struct provider *provider,
                                 struct err *err)
{
    return arena_copy(err->arena, provider_uuid(version_provider(version, provider->root)));
}

static bool refuse_create(struct slice uuid, struct slice name, struct slice reason,
                          struct err *err)
{
    return err_set_join(err, 400, NULL, SLICE_LIT("Unable to create resource provider \""), name,
                        SLICE_LIT("\", "), uuid,
                        SLICE_LIT(": Object action create failed because: "), reason);
}

static bool check_duplicates(const struct version *version, struct slice uuid, struct slice name,
                             struct err *err)
{
    if (version_provider_by_uuid(version, uuid) != NULL)
        return taken_names_refuse("uuid: ", uuid, err);
    if (version_provider_by_name(version, name) != NULL)
        return taken_names_refuse("name: ", name, err);
    return true;
}

bool plan_provider_create(struct slice uuid, struct slice name, struct slice parent_uuid,
                          const struct plan *plan, struct planned_provider *result, struct err *err)
{
    const struct version *version = plan->version;
    if (name.len == 0)
        return refuse_create(uuid, name, SLICE_LIT("name is required"), err);
    const struct provider *parent = NULL;
    if (parent_uuid.data != NULL) {
        if (slice_equal(parent_uuid, uuid))
            return refuse_create(uuid, name,
                                 SLICE_LIT("parent provider UUID cannot be same as UUID. Please "
                                           "set parent provider UUID to None if there is no "
                                           "parent."),
                                 err);
        parent = version_provider_by_uuid(version, parent_uuid);
        if (parent == NULL)
            return refuse_create(uuid, name, SLICE_LIT("parent provider UUID does not exist."),
                                 err);
    }
    if (!check_duplicates(version, uuid, name, err))
        return false;

    int64_t id = store_next_id(plan->store, STORE_PROVIDERS);
    struct change *change = change_append(plan->changes, CHANGE_PROVIDER_INSERT);
    change->created_at_us = plan->now_us;
    change->provider = (struct change_provider){
        .id = id,
        .parent_id = parent == NULL ? 0 : parent->id,
        .root_id = parent == NULL ? id : version_provider(version, parent->root)->id,
        .uuid = uuid,
        .name = name,
    };
    *result = (struct planned_provider){
        .uuid = uuid,
        .name = name,
        .parent_uuid = parent_uuid,
        .root_uuid = parent == NULL ? uuid : root_uuid_of(version, parent, err),
    };
    return true;
}

static bool refuse_update(const struct provider *provider, struct slice reason, struct err *err)
{
    return err_set_join(err, 400, NULL, SLICE_LIT("Unable to save resource provider "),
                        provider_uuid(provider), SLICE_LIT(": Object action "), reason);
}

static bool is_in_subtree(const struct version *version, const struct provider *provider,
                          const struct provider *top)
{
    struct slot_no slot = version_slot(version, provider->no);
    struct slot_no first = version_slot(version, top->no);
    return slot.v >= first.v && slot.v < version_place(version, first)->end;
}

/* Finds the requested parent (NULL: none) and checks whether the provider may move there. */
static bool find_new_parent(const struct plan_provider_update *update,
                            const struct version *version, const struct provider *provider,
                            const struct provider **parent, struct err *err)
{
    bool has_one = provider->parent.v != NUMBER_NONE;
    *parent = has_one ? version_provider(version, provider->parent) : NULL;
    if (!update->has_parent)
        return true;
    if (update->parent_uuid.data == NULL) {
        *parent = NULL;
        if (has_one && !update->may_move)
            return refuse_update(provider,
                                 SLICE_LIT("update failed because: un-parenting a provider is not "
                                           "currently allowed."),
                                 err);
        return true;
    }
    *parent = version_provider_by_uuid(version, update->parent_uuid);
    if (*parent == NULL)
        return refuse_update(
            provider, SLICE_LIT("create failed because: parent provider UUID does not exist."),
            err);
    if (has_one && (*parent)->no.v != provider->parent.v && !update->may_move)
        return refuse_update(provider,
                             SLICE_LIT("update failed because: re-parenting a provider is not "
                                       "currently allowed."),
                             err);
    if (is_in_subtree(version, *parent, provider))
        return refuse_update(provider,
                             SLICE_LIT("update failed because: creating loop in the provider tree "
                                       "is not allowed."),
                             err);
    return true;
}

static struct change *append_update(const struct plan *plan, const struct provider *provider,
                                    struct slice name, int64_t parent_id, int64_t root_id)
{
    struct change *change = change_append(plan->changes, CHANGE_PROVIDER_UPDATE);
    change->updated_at_us = plan->now_us;
    change->provider = (struct change_provider){
        .id = provider->id,
        .parent_id = parent_id,
        .root_id = root_id,
        .generation = provider->generation,
        .uuid = arena_copy(plan->arena, provider_uuid(provider)),
        .name = name,
    };
    return change;
}

/* Gives all descendants of the provider its new root. */
static void append_descendants(const struct plan *plan, const struct provider *provider,
                               int64_t root_id)
{
    const struct version *version = plan->version;
    struct slot_no slot = version_slot(version, provider->no);
    uint32_t end = version_place(version, slot)->end;
    for (slot.v++; slot.v < end && !plan_is_too_large(plan); slot.v++) {
        const struct provider *below = version_place(version, slot)->provider;
        int64_t parent_id = version_provider(version, below->parent)->id;
        struct slice name = arena_copy(plan->arena, provider_name(below));
        append_update(plan, below, name, parent_id, root_id)->is_root_only = true;
    }
}

bool plan_provider_update(const struct plan_provider_update *update, const struct plan *plan,
                          struct planned_provider *result, struct err *err)
{
    const struct version *version = plan->version;
    const struct provider *provider = plan_provider_find(version, update->uuid, err);
    const struct provider *parent;
    if (provider == NULL || !find_new_parent(update, version, provider, &parent, err))
        return false;
    const struct provider *namesake = version_provider_by_name(version, update->name);
    if (namesake != NULL && namesake->no.v != provider->no.v)
        return taken_names_refuse("", update->name, err);

    const struct provider *root =
        parent == NULL ? provider : version_provider(version, parent->root);
    uint32_t parent_no = parent == NULL ? NUMBER_NONE : parent->no.v;
    bool moves = parent_no != provider->parent.v;
    if (moves || namesake == NULL)
        append_update(plan, provider, update->name, parent == NULL ? 0 : parent->id, root->id);
    if (root->no.v != provider->root.v)
        append_descendants(plan, provider, root->id);
    *result = (struct planned_provider){
        .uuid = update->uuid,
        .name = update->name,
        .root_uuid = arena_copy(err->arena, provider_uuid(root)),
        .generation = provider->generation,
    };
    if (parent != NULL)
        result->parent_uuid = arena_copy(err->arena, provider_uuid(parent));
    return true;
}

static bool has_allocations(const struct version *version, const struct provider *provider)
{
    struct provider_consumers walk;
    provider_consumers_of(&walk, version, provider->no);
    return provider_consumers_next(&walk) != NULL;
}

bool plan_provider_delete(struct slice uuid, const struct plan *plan, struct err *err)
{
    const struct version *version = plan->version;
    const struct provider *provider = version_provider_by_uuid(version, uuid);
    if (provider == NULL)
        return err_set_join(err, 404, NULL, SLICE_LIT("No resource provider with uuid "), uuid,
                            SLICE_LIT(" found for delete"));
    struct slot_no slot = version_slot(version, provider->no);
    if (version_place(version, slot)->end > slot.v + 1)
        return err_set_join(err, 409, "placement.resource_provider.cannot_delete_parent",
                            SLICE_LIT("Unable to delete parent resource provider "), uuid,
                            SLICE_LIT(": It has child resource providers."));
    if (has_allocations(version, provider))
        return err_set_join(err, 409, "placement.resource_provider.inuse",
                            SLICE_LIT("Unable to delete resource provider "), uuid,
                            SLICE_LIT(": Resource provider has allocations."));
    provider_append_delete(provider, plan);
    return true;
}
