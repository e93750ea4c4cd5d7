/* Memory does not have rows that were left out at the load, and holds names apart that the database
 * takes for one another, but the database would refuse a second row with such a name. The error
 * texts are those for a known name. */
#include "placement/write/taken_names.h"

bool taken_names_refuse(const char *what, struct slice text, struct err *err)
{
    return err_set_join(err, 409, "placement.duplicate_name",
                        SLICE_LIT("Conflicting resource provider "), slice_of(what), text,
                        SLICE_LIT(" already exists."));
}

/* Whether the database takes the text for that of another provider. */
static bool is_alike(const struct effect_provider *effect, unsigned field, struct slice text,
                     const struct plan *plan)
{
    struct store_alike alike;
    if (!store_find_alike(plan->store, CHANGE_PROVIDER_INSERT, field, text, &alike) ||
        alike.id == effect->id)
        return false;
    const struct provider *other = version_provider_by_id(plan->version, alike.id);
    return other != NULL &&
           slice_equal(field == 0 ? provider_name(other) : provider_uuid(other), alike.text);
}

static bool check_provider(const struct effect_provider *effect, const struct plan *plan,
                           struct err *err)
{
    struct slice name = effect->row->name;
    bool is_new = effect->before == NULL;
    if (is_new && is_alike(effect, 1, effect->row->uuid, plan))
        return taken_names_refuse("uuid: ", effect->row->uuid, err);
    if ((!is_new && slice_equal(name, provider_name(effect->before))) ||
        (!store_is_taken(plan->store, CHANGE_PROVIDER_INSERT, 0, name) &&
         !is_alike(effect, 0, name, plan)))
        return true;
    return taken_names_refuse(is_new ? "name: " : "", name, err);
}

/* As for a known consumer that the client takes for a new one. */
static bool check_alike_consumer(struct slice uuid, const struct plan *plan, struct err *err)
{
    struct store_alike alike;
    if (!store_find_alike(plan->store, CHANGE_CONSUMER_INSERT, 0, uuid, &alike))
        return true;
    const struct consumer *other = version_consumer(plan->version, alike.text);
    if (other == NULL)
        return true;
    err_set(err, 409, "placement.concurrent_update",
            "consumer generation conflict - expected %d but got None", other->generation);
    return err_of_kind(err, REFUSED_CONSUMER_GENERATION);
}

static bool check_consumer(const struct effect_consumer *effect, const struct plan *plan,
                           struct err *err)
{
    if (!check_alike_consumer(effect->uuid, plan, err))
        return false;
    return !store_is_taken(plan->store, CHANGE_CONSUMER_INSERT, 0, effect->uuid) ||
           err_set_join(err, 409, "placement.concurrent_update", SLICE_LIT("The consumer "),
                        effect->uuid,
                        SLICE_LIT(" has a row in the database that this service cannot read."));
}

bool taken_names_check(const struct effects *effects, const struct plan *plan, struct err *err)
{
    if (effects_have(effects, CHANGE_PROVIDER_INSERT) ||
        effects_have(effects, CHANGE_PROVIDER_UPDATE))
        for (size_t i = 0; i < effects->provider_count; i++)
            if (effects->providers[i].row != NULL &&
                !check_provider(&effects->providers[i], plan, err))
                return false;
    for (size_t i = 0; effects_have(effects, CHANGE_CONSUMER_INSERT) && i < effects->consumer_count;
         i++)
        if (effects->consumers[i].before == NULL && effects->consumers[i].row != NULL &&
            !check_consumer(&effects->consumers[i], plan, err))
            return false;
    return true;
}
