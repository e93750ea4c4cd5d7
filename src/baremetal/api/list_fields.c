/* Pure; any thread. */
#include "baremetal/api/list_fields.h"

enum {
    MINOR_OF_FIELDS = 8,
    MINOR_OF_DETAIL = 43,
};

bool list_fields_read(struct list_fields *requested, const struct query_string *query,
                      struct arena *arena, struct err *err)
{
    struct argument fields = argument_find(arena, query, "fields");
    struct argument detail = argument_find(arena, query, "detail");
    *requested = (struct list_fields){.has_fields = fields.is_there, .has_detail = detail.is_there};
    return argument_words(&fields, &requested->words, err) &&
           argument_boolean(&detail, &requested->is_detailed, err);
}

bool list_fields_check_version(const struct list_fields *requested, unsigned minor, struct err *err)
{
    return !requested->has_fields || minor >= MINOR_OF_FIELDS ||
           err_set(err, 406, NULL, "Request not acceptable.");
}

bool list_fields_check_detail(const struct list_fields *requested, unsigned minor, struct err *err)
{
    if (requested->has_detail && minor < MINOR_OF_DETAIL)
        return err_set(err, 400, NULL, "Invalid query parameter ?detail=%s received.",
                       requested->is_detailed ? "True" : "False");
    return !requested->has_fields || !requested->is_detailed ||
           err_set(err, 400, NULL, "Can not specify ?detail=True and fields in the same request.");
}
