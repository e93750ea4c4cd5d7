/* Looks up a trait in the list that the build embeds. Pure; any thread. */
#include "baremetal/api/input/standard_traits.h"

#include "base/search.h"

static int compare_name(int at, struct slice name)
{
    struct slice own = slice_of(baremetal_trait_names[at]);
    return slice_compare(&own, &name);
}

bool standard_traits_have(struct slice name)
{
    int at;
    SEARCH_LOWER(at, 0, baremetal_trait_names_count, compare_name(at, name) < 0);
    return at < baremetal_trait_names_count && compare_name(at, name) == 0;
}
