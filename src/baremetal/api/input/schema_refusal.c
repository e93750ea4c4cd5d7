/* Pure; any thread. */
#include "baremetal/api/input/schema_refusal.h"

#include "base/arena.h"

bool schema_refusal_check(const struct schema *schema, const json_t *document, const char *argument,
                          struct err *err)
{
    struct schema_failure failure;
    if (schema_check(schema, document, false, &failure))
        return true;
    struct slice message = schema_failure_message(err->arena, &failure);
    struct schema_failure cause;
    if (!schema_root_cause(&failure, &cause))
        return err_set_join(err, 400, NULL, SLICE_LIT("Schema error for "), slice_of(argument),
                            SLICE_LIT(": "), message);
    return err_set_join(err, 400, NULL, SLICE_LIT("Schema error for "), slice_of(argument),
                        SLICE_LIT(": "), message, SLICE_LIT(". Possible root cause: "),
                        schema_failure_message(err->arena, &cause));
}
