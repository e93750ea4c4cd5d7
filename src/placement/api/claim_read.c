/* Reads claims. What a client may send for a consumer depends on the microversion: a list of
 * providers up to 1.11, an object since; owners from 1.8, the generation from 1.28, the type from
 * 1.38. Any thread. */
#include "placement/api/claim_read.h"

#include "api/schema/body_schema.h"
#include "base/arena.h"
#include "base/json_write.h"
#include "placement/api/placement_request.h"

struct slice claim_key(void *iter)
{
    return (struct slice){json_object_iter_key(iter), json_object_iter_key_len(iter)};
}

struct slice claim_number_text(struct arena *arena, const json_t *value)
{
    if (!json_is_real(value))
        return (struct slice){0};
    struct buf text = {0};
    json_write_double(&text, json_real_value(value));
    struct slice copy = arena_copy(arena, buf_slice(&text));
    buf_free(&text);
    return copy;
}

static const struct claim_amount *read_amounts(struct arena *arena, json_t *resources)
{
    struct claim_amount *amounts =
        arena_array(arena, json_object_size(resources), sizeof(struct claim_amount));
    size_t count = 0;
    for (void *iter = json_object_iter(resources); iter != NULL;
         iter = json_object_iter_next(resources, iter))
        amounts[count++] = (struct claim_amount){claim_key(iter),
                                                 body_schema_integer(json_object_iter_value(iter))};
    return amounts;
}

static void read_providers(struct arena *arena, json_t *by_provider, struct claim *claim)
{
    struct claim_provider *providers =
        arena_array(arena, json_object_size(by_provider), sizeof(struct claim_provider));
    size_t count = 0;
    for (void *iter = json_object_iter(by_provider); iter != NULL;
         iter = json_object_iter_next(by_provider, iter)) {
        json_t *resources = json_object_get(json_object_iter_value(iter), "resources");
        providers[count++] = (struct claim_provider){
            claim_key(iter), read_amounts(arena, resources), json_object_size(resources)};
    }
    claim->providers = providers;
    claim->provider_count = count;
}

/* Converts the list form to the object form. If a provider occurs twice, its last entry counts, at
 * the position of the first. */
static json_t *list_to_object(json_t *part)
{
    json_t *list = json_object_get(part, "allocations");
    json_t *by_provider = json_object();
    check(by_provider != NULL);
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        struct slice uuid =
            body_schema_text(json_object_get(json_object_get(item, "resource_provider"), "uuid"));
        check(json_object_setn(by_provider, uuid.data, uuid.len, item) == 0);
    }
    check(json_object_set_new(part, "allocations", by_provider) == 0);
    return by_provider;
}

static void read_generation(struct arena *arena, const json_t *value, struct claim *claim)
{
    claim->generation_rule = json_is_null(value) ? CLAIM_GENERATION_NULL : CLAIM_GENERATION_GIVEN;
    claim->generation = body_schema_integer(value);
    claim->generation_text = claim_number_text(arena, value);
}

struct claim claim_read(struct api_request *request, struct slice consumer, json_t *part)
{
    struct claim claim = {
        .consumer = consumer,
        .project = placement_settings(request)->incomplete_project_id,
        .user = placement_settings(request)->incomplete_user_id,
    };
    if (request->minor >= 8) {
        claim.project = body_schema_text(json_object_get(part, "project_id"));
        claim.user = body_schema_text(json_object_get(part, "user_id"));
    }
    if (request->minor >= 28)
        read_generation(request->arena, json_object_get(part, "consumer_generation"), &claim);
    if (request->minor >= 38)
        claim.type = body_schema_text(json_object_get(part, "consumer_type"));
    json_t *by_provider =
        request->minor < 12 ? list_to_object(part) : json_object_get(part, "allocations");
    read_providers(request->arena, by_provider, &claim);
    return claim;
}

struct claim *claim_read_all(struct api_request *request, json_t *by_consumer)
{
    struct claim *claims =
        arena_array(request->arena, json_object_size(by_consumer), sizeof(struct claim));
    size_t count = 0;
    for (void *iter = json_object_iter(by_consumer); iter != NULL;
         iter = json_object_iter_next(by_consumer, iter))
        claims[count++] = claim_read(request, claim_key(iter), json_object_iter_value(iter));
    return claims;
}

uint64_t claim_least_rows(const struct claim *claims, size_t count)
{
    uint64_t rows = count; /* one for the lookup of each consumer */
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < claims[i].provider_count; p++)
            rows += claims[i].providers[p].amount_count;
    return rows;
}
