/* Memory does not have rows that were left out at the load, but the database would refuse a second
 * row with the same name. The error texts are those for a known name. */
#include "placement/write/taken_names.h"

bool taken_names_refuse(const char *what, struct slice text, struct err *err)
{
    return err_set_join(err, 409, "placement.duplicate_name",
                        SLICE_LIT("Conflicting resource provider "), slice_of(what), text,
                        SLICE_LIT(" already exists."));
}

static bool check_provider(const struct effect_provider *effect, const struct plan *plan,
                           struct err *err)
{
    struct slice name = effect->row->name;
    bool is_new = effect->before == NULL;
    if ((!is_new && slice_equal(name, provider_name(effect->before))) ||
        !store_is_taken(plan->store, CHANGE_PROVIDER_INSERT, 0, name))
        return true;
    return taken_names_refuse(is_new ? "name: " : "", name, err);
}

static bool check_consumer(const struct effect_consumer *effect, const struct plan *plan,
                           struct err *err)
{
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
