/* Determines the places of some providers without reading all of them. */
#ifndef BERTH_STORE_ANCESTORS_H
#define BERTH_STORE_ANCESTORS_H

#include "store/row_reader.h"
#include "store/tree_order.h"

/* Reads the ancestors of the providers in the list, a generation at a time, and adds both to
 * `forest`, which is initialised with zeros. The list has a CHANGE_PROVIDER_INSERT for each, as
 * read. False: err is set. */
bool ancestors_read(const struct row_reader *reader, const struct change_list *providers,
                    struct tree_order *forest, struct err *err) BERTH_MUST_CHECK;

#endif
