/* Looks a trait up in the list that the build embeds. Pure; any thread. */
#include "baremetal/api/input/standard_traits.h"

bool standard_traits_have(struct slice name)
{
    int from = 0;
    int to = baremetal_trait_names_count;
    while (from < to) {
        int middle = from + (to - from) / 2;
        struct slice at = slice_of(baremetal_trait_names[middle]);
        int order = slice_compare(&name, &at);
        if (order == 0)
            return true;
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return false;
}
