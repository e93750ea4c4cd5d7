/* Parses a document, and words the errors for one that does not fit its schema. */
#include "valet/api/body.h"

#include "api/schema/body_schema.h"
#include "base/arena.h"
#include "valet/api/body_schemas.h"

json_t *body_parse(struct slice bytes, struct json_heap *heap, struct err *err)
{
    if (bytes.len == 0) {
        err_set(err, 400, NULL, "The body is empty, and a JSON object is needed.");
        return NULL;
    }
    json_t *document = body_schema_load_wide(bytes, heap, err);
    if (document == NULL)
        return NULL;
    if (!json_is_object(document))
        err_set(err, 400, NULL, "The body is no JSON object.");
    else if (body_schema_nesting(document) > BODY_NESTING_MAX)
        err_set(err, 400, NULL, "The body is nested deeper than %d.", BODY_NESTING_MAX);
    else
        return document;
    json_decref(document);
    return NULL;
}

json_t *body_read(struct api_request *request)
{
    check(request->body == NULL);
    request->body = body_parse(request->http->body, body_schema_heap(request), &request->err);
    return request->body;
}

static struct slice unknown_key(const struct schema_failure *failure)
{
    json_t *object = (json_t *)(uintptr_t)failure->value; /* jansson's iterators are not const */
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        struct slice key = {json_object_iter_key(at), json_object_iter_key_len(at)};
        if (!schema_allows_property(failure->schema, key))
            return key;
    }
    check(false);
    return (struct slice){0};
}

static struct slice type_words(unsigned type)
{
    return type == SCHEMA_OBJECT  ? SLICE_LIT("is not an object")
           : type == SCHEMA_ARRAY ? SLICE_LIT("is not a list")
                                  : SLICE_LIT("is not a string");
}

/* For a text that is none of the permitted values. */
static struct slice choice_words(const struct schema *choice)
{
    if (choice == &BODY_GROUP_TYPE)
        return SLICE_LIT("is not exclusivity, the only type there is");
    if (choice == &BODY_RESERVE_CHOICE)
        return SLICE_LIT("is neither reserve nor replan");
    check(choice == &BODY_PLAN_CHOICE);
    return SLICE_LIT("is neither migrate nor update");
}

/* What is wrong with a member. */
static struct slice member_words(const struct schema_failure *failure, struct arena *arena)
{
    const struct schema_keyword *keyword = failure->keyword;
    switch (keyword->kind) {
    case SCHEMA_REQUIRED:
        return SLICE_LIT("is missing");
    case SCHEMA_TYPE:
        return type_words(keyword->types);
    case SCHEMA_MIN_LENGTH:
        return SLICE_LIT("is empty");
    case SCHEMA_MAX_LENGTH:
        return arena_printf(arena, "%shas more than %zu characters",
                            failure->path_len > 1 ? "one " : "", keyword->count);
    case SCHEMA_MIN_ITEMS:
        return SLICE_LIT("is not a list of one string");
    case SCHEMA_MAX_ITEMS:
        return keyword->count == 1 ? SLICE_LIT("is not a list of one string")
                                   : arena_printf(arena, "there are more than %zu", keyword->count);
    case SCHEMA_ENUM:
        return choice_words(failure->schema);
    default:
        check(false);
        return (struct slice){0};
    }
}

/* Lists of names also appear in stacks, and have the same error texts there. */
static bool refuse_names(const char *member, const struct schema_failure *failure, struct err *err)
{
    if (failure->keyword->kind == SCHEMA_MAX_LENGTH)
        return err_set(err, 400, NULL, "%s: one has more than %zu characters", member,
                       failure->keyword->count);
    return err_set(err, 400, NULL, "%s is not a list of strings", member);
}

bool body_check(const json_t *body, const struct schema *schema, struct err *err)
{
    struct schema_failure failure;
    if (schema_check_in_order(schema, body, &failure))
        return true;
    if (failure.keyword->kind == SCHEMA_NO_ADDITIONAL_PROPERTIES)
        return err_set_join(err, 400, NULL, SLICE_LIT("-> "), unknown_key(&failure),
                            SLICE_LIT(" is not known here"));
    const char *member = failure.path_len > 0 ? failure.path[0].name : failure.missing;
    if (failure.schema == &BODY_NAMES || failure.schema == &BODY_NAME)
        return refuse_names(member, &failure, err);
    if (failure.keyword->kind == SCHEMA_PATTERN)
        return err_set_join(err, 400, NULL, SLICE_LIT("-> "), slice_of(member), SLICE_LIT(" -> "),
                            body_schema_text(failure.value),
                            SLICE_LIT(" did not pass validation against callable: "),
                            slice_of(failure.keyword->pattern->text));
    return err_set_join(err, 400, NULL, SLICE_LIT("-> "), slice_of(member), SLICE_LIT(" -> "),
                        member_words(&failure, err->arena));
}

struct slice body_text(const json_t *body, const char *member)
{
    return body_schema_text(json_object_get(body, member));
}
