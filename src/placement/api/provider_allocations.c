/* What a provider is used for: GET /resource_providers/{uuid}/allocations and .../usages. With
 * a pinned version, on a worker or, of very many, the slow lane. */
#include <stdlib.h>

#include "api/text/latin1.h"
#include "base/json_write.h"
#include "placement/api/allocation_handlers.h"

enum { STEPS_OF_A_CONSUMER = 160, STEPS_OF_A_CLASS = 40 }; /* looked up, beside its text; sorted */

/* 404: `before`, the uuid, `between`, and that there is no such provider. */
static enum api_step refuse(struct api_request *request, const char *before, const char *between)
{
    struct slice uuid = latin1_text(request->arena, request->args[0]);
    err_set_join(&request->err, 404, NULL, slice_of(before), uuid, slice_of(between),
                 SLICE_LIT(": No resource provider with uuid "), uuid, SLICE_LIT(" found"));
    return API_DONE;
}

static void write_class(struct buf *out, const struct version *version, struct class_no class_no,
                        int64_t amount)
{
    json_write_string(out, catalog_name(catalog_row_at(&version->classes, class_no.v)));
    buf_append_lit(out, ": ");
    buf_append_int(out, amount);
}

/* One consumer's part of a provider's allocations; the consumer may have as many elsewhere as a
 * body holds. False: the budget is exhausted. */
static bool write_consumer(struct api_request *request, const struct consumer *consumer,
                           struct provider_no provider, struct budget *budget, size_t *counted)
{
    struct buf *out = api_out(request);
    json_write_string(out, consumer_uuid(consumer));
    buf_append_lit(out, ": {\"resources\": {");
    bool is_first = true;
    if (!budget_take(budget, STEPS_OF_A_CONSUMER + consumer->allocation_count))
        return false;
    for (uint32_t i = 0; i < consumer->allocation_count; i++) {
        const struct consumer_allocation *held = &consumer->allocation[i];
        if (held->provider.v != provider.v)
            continue;
        if (!is_first)
            buf_append_lit(out, ", ");
        is_first = false;
        write_class(out, request->version, held->class_no, held->used);
    }
    buf_append_char(out, '}');
    if (request->minor >= 28) {
        buf_append_lit(out, ", \"consumer_generation\": ");
        buf_append_int(out, consumer->generation);
    }
    buf_append_char(out, '}');
    return api_charge_text(request, budget, counted);
}

enum api_step handle_provider_allocations(struct api_request *request)
{
    const struct version *version = request->version;
    const struct provider *provider = version_provider_by_uuid(version, request->args[0]);
    if (provider == NULL)
        return refuse(request, "Resource provider '", "' not found");
    struct buf *out = api_out(request);
    struct budget budget = api_budget(request);
    size_t counted = 0;
    buf_append_lit(out, "{\"allocations\": {");
    int64_t modified_at_us = 0;
    struct ptree_iter iter;
    ptree_seek(&version->provider_consumers, provider->no.v, 0, &iter);
    for (const struct ptree_entry *entry;
         (entry = ptree_iter_get(&iter)) != NULL && entry->k1 == provider->no.v;
         ptree_iter_next(&iter)) {
        uint64_t value;
        check(ptree_find(&version->consumers, entry->value, entry->k2, &value));
        const struct consumer *consumer = (const struct consumer *)(uintptr_t)value;
        if (out->data[out->len - 1] == '}')
            buf_append_lit(out, ", ");
        if (!write_consumer(request, consumer, provider->no, &budget, &counted))
            return api_start_over(request);
        if (consumer->allocated_at_us > modified_at_us)
            modified_at_us = consumer->allocated_at_us;
    }
    buf_append_lit(out, "}, \"resource_provider_generation\": ");
    buf_append_int(out, provider->generation);
    buf_append_char(out, '}');
    api_answer_json(request, modified_at_us);
    return API_DONE;
}

struct class_use {
    int64_t class_id;
    const struct provider_inventory *inventory;
};

static int compare_uses(const void *a, const void *b)
{
    int64_t left = ((const struct class_use *)a)->class_id;
    int64_t right = ((const struct class_use *)b)->class_id;
    return left < right ? -1 : left > right;
}

enum api_step handle_provider_usages(struct api_request *request)
{
    const struct version *version = request->version;
    const struct provider *provider = version_provider_by_uuid(version, request->args[0]);
    if (provider == NULL)
        return refuse(request, "No resource provider with uuid ", " found");
    uint32_t count = provider->inventory_count;
    struct budget budget = api_budget(request);
    if (!budget_take(&budget, STEPS_OF_A_CLASS * (int64_t)count))
        return api_over_budget(request);
    struct class_use *uses = arena_array(request->arena, count, sizeof(struct class_use));
    for (uint32_t i = 0; i < count; i++) {
        const struct provider_inventory *inventory = &provider->inventory[i];
        uses[i].inventory = inventory;
        uses[i].class_id = catalog_row_at(&version->classes, inventory->class_no.v)->id;
    }
    qsort(uses, count, sizeof(*uses), compare_uses);
    struct buf *out = api_out(request);
    buf_append_lit(out, "{\"resource_provider_generation\": ");
    buf_append_int(out, provider->generation);
    buf_append_lit(out, ", \"usages\": {");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            buf_append_lit(out, ", ");
        write_class(out, version, uses[i].inventory->class_no, uses[i].inventory->used);
    }
    buf_append_lit(out, "}}");
    api_answer_json(request, 0);
    return API_DONE;
}
