/* POST /reshaper. Parsed and validated on a worker; placement/write/plan_reshaper.c decides. */
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/write.h"
#include "base/arena.h"
#include "placement/api/allocation_handlers.h"
#include "placement/api/claim_read.h"
#include "placement/write/plan_reshaper.h"

static int32_t figure(const json_t *inventory, const char *name, int32_t otherwise)
{
    const json_t *value = json_object_get(inventory, name);
    return value == NULL ? otherwise : (int32_t)body_schema_integer(value);
}

static struct inventory_figures read_figures(const json_t *inventory)
{
    const json_t *ratio = json_object_get(inventory, "allocation_ratio");
    return (struct inventory_figures){
        .total = figure(inventory, "total", 0),
        .reserved = figure(inventory, "reserved", 0),
        .min_unit = figure(inventory, "min_unit", 1),
        .max_unit = figure(inventory, "max_unit", INT32_MAX),
        .step_size = figure(inventory, "step_size", 1),
        .allocation_ratio = ratio == NULL ? 1.0 : body_schema_number(ratio),
    };
}

/* The schema does not validate values under class names that do not match the pattern. No class has
 * such a name, so the planner refuses them whatever their value. */
static const struct reshape_inventory *read_inventories(struct arena *arena, json_t *by_class)
{
    struct reshape_inventory *inventories =
        arena_array(arena, json_object_size(by_class), sizeof(struct reshape_inventory));
    size_t count = 0;
    for (void *iter = json_object_iter(by_class); iter != NULL;
         iter = json_object_iter_next(by_class, iter))
        inventories[count++] =
            (struct reshape_inventory){claim_key(iter), read_figures(json_object_iter_value(iter))};
    return inventories;
}

static const struct reshape_provider *read_providers(struct arena *arena, json_t *by_provider)
{
    struct reshape_provider *providers =
        arena_array(arena, json_object_size(by_provider), sizeof(struct reshape_provider));
    size_t count = 0;
    for (void *iter = json_object_iter(by_provider); iter != NULL;
         iter = json_object_iter_next(by_provider, iter)) {
        json_t *wanted = json_object_iter_value(iter);
        json_t *generation = json_object_get(wanted, "resource_provider_generation");
        json_t *inventories = json_object_get(wanted, "inventories");
        providers[count++] = (struct reshape_provider){
            .uuid = claim_key(iter),
            .generation = body_schema_integer(generation),
            .generation_text = claim_number_text(arena, generation),
            .inventories = read_inventories(arena, inventories),
            .inventory_count = json_object_size(inventories),
        };
    }
    return providers;
}

static uint64_t least_rows(const struct reshape *reshape)
{
    uint64_t rows = claim_least_rows(reshape->claims, reshape->claim_count);
    for (size_t i = 0; i < reshape->provider_count; i++)
        rows += reshape->providers[i].inventory_count;
    return rows;
}

static bool plan_reshape(struct pipeline_request *write, const struct plan *plan)
{
    return plan_reshaper(api_request_of(write)->state, plan, &write->err);
}

static const struct schema *schema_for(unsigned minor)
{
    if (minor >= 38)
        return &SCHEMA_RESHAPER_1_38;
    return minor >= 34 ? &SCHEMA_RESHAPER_1_34 : &SCHEMA_RESHAPER_1_30;
}

enum api_step handle_placement_reshaper_apply(struct api_request *request)
{
    json_t *body = body_schema_read(request, schema_for(request->minor));
    if (body == NULL)
        return API_DONE;
    json_t *by_provider = json_object_get(body, "inventories");
    json_t *by_consumer = json_object_get(body, "allocations");
    struct reshape *reshape = arena_alloc(request->arena, sizeof(*reshape));
    *reshape = (struct reshape){
        .providers = read_providers(request->arena, by_provider),
        .provider_count = json_object_size(by_provider),
        .claims = claim_read_all(request, by_consumer),
        .claim_count = json_object_size(by_consumer),
    };
    request->state = reshape;
    request->write->plan = plan_reshape;
    request->write->least_rows = least_rows(reshape);
    return API_WRITE;
}
