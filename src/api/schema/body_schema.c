/* Turns bytes into a validated document. Any thread. */
#include "api/schema/body_schema.h"

#include <math.h>
#include <stdlib.h>

#include "api/passage.h"
#include "api/request.h"
#include "api/schema/schema.h"
#include "api/text/json_heap.h"
#include "api/text/name_table.h"
#include "api/text/query_string.h"
#include "base/arena.h"
#include "query/budget.h"

/* jansson does not accept NULL, not even for an empty text. */
static const char *body_schema_text_of(struct slice text)
{
    return text.data == NULL ? "" : text.data;
}

static bool body_schema_refuse(struct err *err, const char *prefix,
                               const struct schema_failure *failure)
{
    struct slice text = schema_failure_text(err->arena, failure);
    size_t prefix_len = strlen(prefix);
    char *whole = arena_alloc(err->arena, prefix_len + text.len);
    memcpy(whole, prefix, prefix_len);
    memcpy(whole + prefix_len, text.data, text.len);
    return err_set_text(err, 400, NULL, (struct slice){whole, prefix_len + text.len});
}

bool body_schema_check(const json_t *document, const struct schema *schema, struct err *err)
{
    struct schema_failure failure;
    return schema_check(schema, document, false, &failure) ||
           body_schema_refuse(err, "JSON does not validate: ", &failure);
}

static json_t *load(struct slice body, bool is_wide, struct json_heap *heap, struct err *err)
{
    const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
    const char *nul = body.len == 0 ? NULL : memchr(body.data, '\0', body.len);
    if (nul != NULL) { /* the parser would drop a NUL byte that follows a number */
        err_set(err, 400, NULL, "Malformed JSON: a NUL byte at %zu", (size_t)(nul - body.data));
        return NULL;
    }
    json_error_t error;
    json_t *document = json_heap_parse(heap, body, flags, &error);
    if (document == NULL && is_wide && json_error_code(&error) == json_error_numeric_overflow) {
        json_heap_clear(heap);
        document = json_heap_parse(heap, body, flags | JSON_DECODE_INT_AS_REAL, &error);
    }
    if (document != NULL)
        return document;
    if (!json_heap_has_failed(heap, err))
        err_set(err, 400, NULL, "Malformed JSON: %s: line %d column %d", error.text, error.line,
                error.column);
    json_heap_clear(heap);
    return NULL;
}

json_t *body_schema_load(struct slice body, struct json_heap *heap, struct err *err)
{
    return load(body, false, heap, err);
}

json_t *body_schema_load_wide(struct slice body, struct json_heap *heap, struct err *err)
{
    return load(body, true, heap, err);
}

/* A text of small values takes about fifty nanoseconds for each byte. */
enum { STEPS_A_BYTE = 10 };

static bool body_schema_go_on(void *cls, size_t bytes)
{
    return budget_take(cls, (int64_t)bytes * STEPS_A_BYTE);
}

struct json_heap *body_schema_heap(struct api_request *request)
{
    if (request->passage->heap == NULL) {
        request->passage->heap =
            json_heap_create(request->arena, memory_another(&request->http->share),
                             request->http->body.len > HTTP_SMALL_BODY_BYTES);
        if (request->passage->pace != NULL)
            json_heap_set_pace(request->passage->heap,
                               (struct json_pace){body_schema_go_on, request->passage->pace});
    }
    return request->passage->heap;
}

/* The parser limits the depth itself, so the recursion is bounded. */
unsigned body_schema_nesting(json_t *value)
{
    unsigned most = 0;
    size_t i;
    json_t *part;
    json_array_foreach(value, i, part)
    {
        unsigned nesting = body_schema_nesting(part);
        most = nesting > most ? nesting : most;
    }
    for (void *at = json_object_iter(value); at != NULL; at = json_object_iter_next(value, at)) {
        unsigned nesting = body_schema_nesting(json_object_iter_value(at));
        most = nesting > most ? nesting : most;
    }
    return most + (json_is_object(value) || json_is_array(value) ? 1 : 0);
}

json_t *body_schema_parse(struct slice body, struct json_heap *heap, const struct schema *schema,
                          struct err *err)
{
    json_t *document = body_schema_load(body, heap, err);
    if (document != NULL && !body_schema_check(document, schema, err)) {
        json_decref(document);
        return NULL;
    }
    return document;
}

json_t *body_schema_read(struct api_request *request, const struct schema *schema)
{
    check(request->body == NULL);
    request->body =
        body_schema_parse(request->http->body, body_schema_heap(request), schema, &request->err);
    return request->body;
}

/* The parameters in rounds: first the last value of each name, then the second last of each, and so
 * on. */
struct rounds {
    const struct query_pair **pairs; /* round after round; within a round, the last in the query
                                      * comes first */
    size_t *ends;
    size_t count; /* at least one, which may be empty */
};

static struct rounds sort_rounds(struct arena *arena, const struct query_string *query)
{
    struct name_table seen = name_table_create(arena, query->count);
    uint32_t *round_of = arena_array(arena, query->count, sizeof(*round_of));
    struct rounds rounds = {arena_array(arena, query->count, sizeof(*rounds.pairs)),
                            arena_zalloc(arena, (query->count + 1) * sizeof(*rounds.ends)), 1};
    for (size_t i = query->count; i-- > 0;) {
        round_of[i] = (*name_table_at(&seen, query->pairs[i].name))++;
        rounds.ends[round_of[i] + 1]++;
        if (round_of[i] >= rounds.count)
            rounds.count = round_of[i] + 1;
    }
    /* ends[r] is where round r begins; it moves to the round's end while the round is filled */
    for (size_t r = 1; r < rounds.count; r++)
        rounds.ends[r] += rounds.ends[r - 1];
    for (size_t i = query->count; i-- > 0;)
        rounds.pairs[rounds.ends[round_of[i]]++] = &query->pairs[i];
    return rounds;
}

/* An object of the pairs [from, to); NULL: a text is not UTF-8. */
static json_t *object_of(const struct rounds *rounds, size_t from, size_t to)
{
    json_t *object = json_object();
    check(object != NULL);
    for (size_t i = from; i < to; i++) {
        struct slice name = rounds->pairs[i]->name;
        struct slice text = rounds->pairs[i]->value;
        json_t *value = json_stringn(body_schema_text_of(text), text.len);
        if (value == NULL ||
            json_object_setn_new(object, body_schema_text_of(name), name.len, value) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

bool body_schema_check_query(const struct query_string *query, const struct schema *schema,
                             struct err *err)
{
    struct rounds rounds = sort_rounds(err->arena, query);
    size_t from = 0;
    for (size_t r = 0; r < rounds.count; from = rounds.ends[r++]) {
        json_t *object = object_of(&rounds, from, rounds.ends[r]);
        struct schema_failure failure;
        bool valid = object != NULL && schema_check(schema, object, r > 0, &failure);
        if (object == NULL)
            err_set(err, 400, NULL, "Invalid query string parameters: not valid UTF-8");
        else if (!valid)
            body_schema_refuse(err, "Invalid query string parameters: ", &failure);
        json_decref(object);
        if (!valid)
            return false;
    }
    return true;
}

int64_t body_schema_integer(const json_t *value)
{
    if (json_is_integer(value))
        return json_integer_value(value);
    double real = json_real_value(value);
    if (real >= 0x1p63)
        return INT64_MAX;
    if (real <= -0x1p63)
        return INT64_MIN;
    return (int64_t)real;
}

double body_schema_number(const json_t *value)
{
    return json_number_value(value);
}

struct slice body_schema_text(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}
