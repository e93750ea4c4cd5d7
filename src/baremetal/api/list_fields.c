/* Pure; any thread. */
#include "baremetal/api/list_fields.h"

enum {
    MINOR_OF_FIELDS = 8,
    MINOR_OF_DETAIL = 43,
};

bool list_fields_read(struct list_fields *asked, const struct query_string *query,
                      struct arena *arena, struct err *err)
{
    struct argument fields = argument_find(arena, query, "fields");
    struct argument detail = argument_find(arena, query, "detail");
    *asked = (struct list_fields){.has_fields = fields.is_there, .has_detail = detail.is_there};
    return argument_words(&fields, &asked->words, err) &&
           argument_boolean(&detail, &asked->is_detailed, err);
}

bool list_fields_check_version(const struct list_fields *asked, unsigned minor, struct err *err)
{
    return !asked->has_fields || minor >= MINOR_OF_FIELDS ||
           err_set(err, 406, NULL, "Request not acceptable.");
}

bool list_fields_check_detail(const struct list_fields *asked, unsigned minor, struct err *err)
{
    if (asked->has_detail && minor < MINOR_OF_DETAIL)
        return err_set(err, 400, NULL, "Invalid query parameter ?detail=%s received.",
                       asked->is_detailed ? "True" : "False");
    return !asked->has_fields || !asked->is_detailed ||
           err_set(err, 400, NULL, "Can not specify ?detail=True and fields in the same request.");
}
