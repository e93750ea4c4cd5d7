/* Bodies of plans, up to the first line break; after it a catalogue of flavors, or nothing for the
 * built-in one. Any input is either refused with a short error or read as a stack that obeys the
 * rules, whose text reads as the same stack, and whose fingerprint does not depend on the order of
 * keys. */
#include "base/buf.h"
#include "base/err.h"
#include "fuzz.h"
#include "valet/api/stack/stack_body.h"
#include "valet/api/stack/stack_shape.h"
#include "valet/api/stack/stack_text.h"

enum { MAX_SERVERS = 20, SAID_MAX = 1 << 16 };

static void check_server(const struct stack_server *server)
{
    check(server->orchestration_id.len > 0 && server->amount_count > 0);
    for (uint32_t i = 0; i < server->amount_count; i++)
        check(server->amounts[i].amount > 0 && server->amounts[i].amount <= INT32_MAX);
    check(server->zone.data == NULL || server->zone.len > 0);
}

static void check_group(const struct stack *stack, const struct stack_group *group)
{
    check((group->type == STACK_EXCLUSIVITY) == (group->group_name.len > 0));
    for (uint32_t i = 0; i < group->element_count; i++) {
        const struct stack_element *element = &group->elements[i];
        check(element->at < (element->is_group ? stack->group_count : stack->server_count));
        check(!element->is_group || stack->groups[element->at].level <= group->level);
    }
}

static void check_text(const struct stack *stack, struct arena *arena)
{
    struct buf text = {0};
    struct buf again = {0};
    struct stack read;
    stack_text_write(stack, &text);
    check(stack_text_read(buf_slice(&text), arena, &read));
    stack_text_write(&read, &again);
    check(slice_equal(buf_slice(&text), buf_slice(&again)));
    buf_free(&text);
    buf_free(&again);
}

static void check_stack(const struct stack *stack, struct arena *arena)
{
    check(stack->server_count <= MAX_SERVERS);
    for (uint32_t i = 0; i < stack->server_count; i++)
        check_server(&stack->servers[i]);
    for (uint32_t i = 0; i < stack->group_count; i++)
        check_group(stack, &stack->groups[i]);
    for (uint32_t i = 0; i < stack->server_count; i++)
        check(stack_shape_bound(stack, i, arena)[i]);
    check_text(stack, arena);
}

static void check_fingerprint(const json_t *resources)
{
    char one[STACK_FINGERPRINT_LEN];
    char other[STACK_FINGERPRINT_LEN];
    json_t *turned = json_object();
    json_t *walked = (json_t *)(uintptr_t)resources;
    const char *keys[64];
    size_t count = 0;
    void *at = json_object_iter(walked);
    for (; at != NULL && count < 64; at = json_object_iter_next(walked, at))
        keys[count++] = json_object_iter_key(at);
    bool has_all = at == NULL;
    while (count-- > 0)
        json_object_set(turned, keys[count], json_object_get(resources, keys[count]));
    stack_fingerprint(SLICE_LIT("plan"), resources, NULL, one);
    stack_fingerprint(SLICE_LIT("plan"), turned, NULL, other);
    check(!has_all || json_object_size(turned) != json_object_size(resources) ||
          memcmp(one, other, sizeof(one)) == 0);
    json_decref(turned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct slice rest = {(const char *)data, size};
    struct slice body = slice_cut(&rest, '\n');
    struct stack stack;
    struct flavors *flavors = NULL;
    if (rest.len > 0)
        flavors = flavors_parse(rest, SLICE_LIT("FILE"), &err);
    check(rest.len == 0 || (flavors == NULL) == err_is_set(&err));
    if (flavors == NULL) {
        err = (struct err){.arena = arena};
        flavors = flavors_parse(SLICE_LIT("{\"s\": {\"id\": \"1\", \"vcpus\": 1, \"ram\": 1, "
                                          "\"disk\": 1}}"),
                                SLICE_LIT("FILE"), &err);
    }
    json_t *document = json_loadb(body.len == 0 ? "" : body.data, body.len, JSON_ALLOW_NUL, NULL);
    const json_t *resources = json_object_get(document, "resources");
    struct stack_body input = {flavors, MAX_SERVERS, arena};
    if (stack_body_read(&input, resources, json_object_get(document, "locations"), &stack, &err))
        check_stack(&stack, arena);
    else
        check((err.status == 400 || err.status == 409) && err.message.len > 0 &&
              err.message.len < SAID_MAX + body.len);
    if (json_is_object(resources))
        check_fingerprint(resources);
    json_decref(document);
    flavors_give_back(flavors);
    arena_destroy(arena);
    return 0;
}
