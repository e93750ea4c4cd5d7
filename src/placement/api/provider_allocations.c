/* The allocations and usages of a provider: GET /resource_providers/{uuid}/allocations and
 * .../usages. On a worker, with a pinned version; a long list of allocations is read on the slow
 * lane and written in pieces as its client reads. */
#include <stdlib.h>

#include "api/charge.h"
#include "api/request.h"
#include "api/text/latin1.h"
#include "base/json_write.h"
#include "placement/api/allocation_handlers.h"
#include "replica/provider_consumers.h"

enum {
    WRITTEN_AT_ONCE = 1000,    /* consumers; more are written in pieces */
    STEPS_OF_A_CONSUMER = 160, /* of the budget, to find and write one */
    STEPS_OF_A_CLASS = 40,
    STEPS_OF_A_PIECE = 200000, /* an upper bound, however short the resulting text is */
};

/* 404: `before`, the uuid, `between`, and that there is no such provider. */
static enum api_step provider_allocations_refuse(struct api_request *request, const char *before,
                                                 const char *between)
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

/* Writes one consumer's part of a provider's allocations. The consumer may have as many allocations
 * elsewhere as fit in a body. */
static void write_consumer(struct api_request *request, const struct consumer *consumer,
                           struct provider_no provider)
{
    struct buf *out = api_out(request);
    json_write_string(out, consumer_uuid(consumer));
    buf_append_lit(out, ": {\"resources\": {");
    bool is_first = true;
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
}

struct provider_list {
    const struct provider *provider;
    struct provider_consumers left; /* still to be written */
    bool has_written;
};

/* Writes the remaining consumers until a piece is full; answers that are not in pieces have no
 * limit. */
static bool write_more(struct api_request *request)
{
    struct provider_list *list = request->stream.state;
    struct buf *out = api_out(request);
    bool is_whole = request->stream.more == NULL;
    int64_t steps = 0;
    const struct consumer *consumer;
    while ((consumer = provider_consumers_next(&list->left)) != NULL) {
        if (list->has_written)
            buf_append_lit(out, ", ");
        list->has_written = true;
        write_consumer(request, consumer, list->provider->no);
        steps += STEPS_OF_A_CONSUMER + (int64_t)consumer->allocation_count;
        if (!is_whole && (out->len >= request->stream.piece_bytes || steps > STEPS_OF_A_PIECE))
            return true;
    }
    buf_append_lit(out, "}, \"resource_provider_generation\": ");
    buf_append_int(out, list->provider->generation);
    buf_append_char(out, '}');
    return false;
}

/* Determines when the newest of them was written, and how many there are. False: there are too many
 * for this thread, or the client has disconnected. */
static bool look_at_all(struct api_request *request, const struct provider *provider,
                        int64_t *modified_at_us, size_t *count)
{
    struct budget budget = api_budget(request);
    struct provider_consumers walk;
    const struct consumer *consumer;
    provider_consumers_of(&walk, request->version, provider->no);
    while ((consumer = provider_consumers_next(&walk)) != NULL) {
        if (!budget_take(&budget, STEPS_OF_A_CONSUMER + (int64_t)consumer->allocation_count))
            return false;
        if (consumer->allocated_at_us > *modified_at_us)
            *modified_at_us = consumer->allocated_at_us;
        ++*count;
    }
    return true;
}

enum api_step handle_placement_provider_allocations_list(struct api_request *request)
{
    const struct version *version = request->version;
    const struct provider *provider = version_provider_by_uuid(version, request->args[0]);
    if (provider == NULL)
        return provider_allocations_refuse(request, "Resource provider '", "' not found");
    int64_t modified_at_us = 0;
    size_t count = 0;
    if (!look_at_all(request, provider, &modified_at_us, &count))
        return api_over_budget(request);
    struct provider_list *list = arena_zalloc(request->arena, sizeof(*list));
    list->provider = provider;
    provider_consumers_of(&list->left, version, provider->no);
    request->stream.state = list;
    buf_append_lit(api_out(request), "{\"allocations\": {");
    if (count > WRITTEN_AT_ONCE)
        request->stream.more = write_more;
    else
        check(!write_more(request));
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

enum api_step handle_placement_provider_usages_show(struct api_request *request)
{
    const struct version *version = request->version;
    const struct provider *provider = version_provider_by_uuid(version, request->args[0]);
    if (provider == NULL)
        return provider_allocations_refuse(request, "No resource provider with uuid ", " found");
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
