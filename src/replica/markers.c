/* Decides by the traits alone; the product that set a marker knows its meaning. */
#include "replica/markers.h"

static bool has_trait(const struct version *version, const struct name_set *traits,
                      struct slice name)
{
    const struct catalog_row *row = catalog_find(&version->traits, name);
    return row != NULL && name_set_has(traits, row->number);
}

bool marker_has_traits(const struct version *version, const struct name_set *traits)
{
    return traits->count > 0 && (has_trait(version, traits, SLICE_LIT(VALET_RACK_TRAIT)) ||
                                 has_trait(version, traits, SLICE_LIT(VALET_ZONE_TRAIT)));
}
