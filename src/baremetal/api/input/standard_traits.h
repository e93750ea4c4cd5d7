/* The standard traits (data/), which a node or an allocation may have in addition to CUSTOM_ ones.
 */
#ifndef BERTH_BAREMETAL_API_INPUT_STANDARD_TRAITS_H
#define BERTH_BAREMETAL_API_INPUT_STANDARD_TRAITS_H

#include <stdbool.h>

#include "base/slice.h"

/* Generated; sorted by bytes. */
extern const char *const baremetal_trait_names[];
extern const int baremetal_trait_names_count;

bool standard_traits_have(struct slice name);

#endif
