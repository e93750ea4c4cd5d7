/* Maps ids of rows to the version's numbers. Writer only. */
#include "replica/apply_internal.h"

struct provider_no apply_provider_no(const struct edit *edit, int64_t id)
{
    uint64_t number;
    check(ptree_find(&edit->version->provider_by_id, (uint64_t)id, 0, &number));
    return (struct provider_no){(uint32_t)number};
}

struct class_no apply_class_no(const struct edit *edit, int64_t id)
{
    const struct catalog_row *row = catalog_find_id(&edit->version->classes, id);
    check(row != NULL);
    return (struct class_no){row->number};
}
