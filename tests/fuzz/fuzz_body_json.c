/* Schemas: the first byte selects two, the rest is used as a document for one and as a query string
 * for the other. Besides not crashing, errors must have a limited length, and the values of an
 * accepted document must be readable. */
#include "api/passage.h"
#include "api/request.h"
#include "api/schema/body_schema.h"
#include "api/schema/tables.h"
#include "api/text/json_heap.h"
#include "api/text/python_repr.h"
#include "api/text/query_string.h"
#include "base/arena.h"
#include "fuzz.h"

static const struct schema *const SCHEMAS[] = {
    &SCHEMA_PROVIDER_CREATE_1_14,
    &SCHEMA_AGGREGATES_1_1,
    &SCHEMA_AGGREGATES_1_19,
    &SCHEMA_PROVIDER_TRAITS,
    &SCHEMA_CLASS,
    &SCHEMA_INVENTORY_CREATE,
    &SCHEMA_INVENTORIES,
    &SCHEMA_ALLOCATION_1_8,
    &SCHEMA_ALLOCATION_1_12,
    &SCHEMA_ALLOCATION_1_38,
    &SCHEMA_ALLOCATIONS_1_38,
    &SCHEMA_RESHAPER_1_38,
    &SCHEMA_PROVIDER_CREATE_1_0,
    &SCHEMA_PROVIDER_UPDATE_1_0,
    &SCHEMA_PROVIDER_UPDATE_1_14,
    &SCHEMA_CUSTOM_TRAIT,
    &SCHEMA_INVENTORY_UPDATE,
    &SCHEMA_ALLOCATION_1_0,
    &SCHEMA_ALLOCATION_1_28,
    &SCHEMA_ALLOCATION_1_34,
    &SCHEMA_ALLOCATIONS_1_13,
    &SCHEMA_ALLOCATIONS_1_28,
    &SCHEMA_ALLOCATIONS_1_34,
    &SCHEMA_RESHAPER_1_30,
    &SCHEMA_RESHAPER_1_34,
};

static const struct schema *const QUERY_SCHEMAS[] = {
    &SCHEMA_CANDIDATES_QUERY_1_36, &SCHEMA_PROVIDERS_QUERY_1_0,   &SCHEMA_PROVIDERS_QUERY_1_3,
    &SCHEMA_PROVIDERS_QUERY_1_4,   &SCHEMA_PROVIDERS_QUERY_1_14,  &SCHEMA_PROVIDERS_QUERY_1_18,
    &SCHEMA_TRAITS_QUERY,          &SCHEMA_USAGES_QUERY_1_9,      &SCHEMA_USAGES_QUERY_1_38,
    &SCHEMA_CANDIDATES_QUERY_1_10, &SCHEMA_CANDIDATES_QUERY_1_16, &SCHEMA_CANDIDATES_QUERY_1_17,
    &SCHEMA_CANDIDATES_QUERY_1_21, &SCHEMA_CANDIDATES_QUERY_1_25, &SCHEMA_CANDIDATES_QUERY_1_31,
    &SCHEMA_CANDIDATES_QUERY_1_33, &SCHEMA_CANDIDATES_QUERY_1_35,
};

#define CHOOSE(list, byte) (list)[(byte) % (sizeof(list) / sizeof((list)[0]))]

/* The same bytes as a query string. */
static void check_query(struct arena *arena, struct slice text, const struct schema *schema)
{
    struct query_string query = query_string_parse(arena, text);
    struct err err = {.arena = arena};
    if (!body_schema_check_query(&query, schema, &err))
        check(err.status == 400 && err.message.len > 0 && err.message.len < 1 << 16);
    else
        check(query.is_utf8);
}

/* The quotation of a value is short. */
static void quote(const json_t *value)
{
    struct buf out = {0};
    python_str_json(&out, value);
    check(out.len < 1 << 15);
    buf_free(&out);
}

static void read_values(json_t *value)
{
    quote(value);
    (void)body_schema_integer(value);
    (void)body_schema_number(value);
    check(json_is_string(value) == (body_schema_text(value).data != NULL));
    json_t *part;
    size_t i;
    json_array_foreach(value, i, part) read_values(part);
    for (void *at = json_object_iter(value); at != NULL; at = json_object_iter_next(value, at))
        read_values(json_object_iter_value(at));
}

/* Whichever of several failures is reported, the same documents are valid. */
static void check_in_order(const json_t *document, const struct schema *schema)
{
    struct schema_failure failure;
    check(document == NULL || schema_check_in_order(schema, document, &failure));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena *arena = arena_create();
    struct http_exchange exchange = {.body = {(const char *)data + 1, size - 1}, .arena = arena};
    struct api_passage passage = {0};
    struct api_request request = {
        .http = &exchange, .arena = arena, .passage = &passage, .err = {.arena = arena}};
    json_t *document = body_schema_read(&request, CHOOSE(SCHEMAS, data[0]));
    if (document == NULL)
        check(request.err.status == 400 && request.err.message.len > 0 &&
              request.err.message.len < 1 << 16);
    else
        read_values(document);
    check(document == NULL || body_schema_nesting(document) <= size);
    check_in_order(document, CHOOSE(SCHEMAS, data[0]));
    json_decref(document);
    json_heap_clear(passage.heap);
    check_query(arena, exchange.body, CHOOSE(QUERY_SCHEMAS, data[0]));
    arena_destroy(arena);
    return 0;
}
