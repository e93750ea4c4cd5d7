/* Bodies: the first byte chooses the schema, the rest is the document. Besides not crashing, a
 * refusal has a bounded text and an accepted document's values can be read. */
#include "api/body_schema.h"
#include "api/query_string.h"
#include "api/schema_tables.h"
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

/* The same bytes as one query parameter whose name ends at the first '='. */
static void check_query(struct arena *arena, struct slice text)
{
    const char *equals = text.len == 0 ? NULL : memchr(text.data, '=', text.len);
    size_t name_len = equals == NULL ? text.len : (size_t)(equals - text.data);
    struct query_pair pairs[2] = {
        {{text.data, name_len}, slice_skip(text, equals == NULL ? name_len : name_len + 1)},
        {SLICE_LIT("limit"), SLICE_LIT("1")},
    };
    struct query_string query = {.pairs = pairs, .count = 2, .is_utf8 = true};
    struct err err = {.arena = arena};
    if (!body_schema_check_query(&query, &SCHEMA_CANDIDATES_QUERY_1_36, &err))
        check(err.status == 400);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct slice body = {(const char *)data + 1, size - 1};
    json_t *document =
        body_schema_parse(body, SCHEMAS[data[0] % (sizeof(SCHEMAS) / sizeof(SCHEMAS[0]))], &err);
    if (document == NULL)
        check(err.status == 400 && err.message.len > 0 && err.message.len < 1 << 16);
    json_decref(document);
    check_query(arena, body);
    arena_destroy(arena);
    return 0;
}
