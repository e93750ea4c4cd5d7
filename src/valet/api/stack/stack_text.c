/* {"version": 1, "locations": [...], "servers": [...], "groups": [...]}: an element of a group is
 * the number of a server, from 0 up, or of a group, from -1 down. The file may contain anything:
 * the reader trusts nothing, and what it accepts obeys the rules for bodies. Pure; any thread. */
#include "valet/api/stack/stack_text.h"

#include <jansson.h>

#include "base/err.h"
#include "base/json_write.h"
#include "valet/api/stack/stack_ids.h"
#include "valet/api/stack/stack_shape.h"

enum { FORM = 1 };

static const char *const TYPES[] = {"affinity", "diversity", "exclusivity"};
static const char *const LEVELS[] = {"host", "rack"};

static void write_key(struct buf *out, const char *key)
{
    buf_append_lit(out, ",\"");
    buf_append_slice(out, slice_of(key));
    buf_append_lit(out, "\":");
}

static void stack_text_write_text(struct buf *out, const char *key, struct slice text)
{
    write_key(out, key);
    json_write_string(out, text);
}

static void write_names(struct buf *out, const char *key, const struct stack_names *names)
{
    if (names->count == 0)
        return;
    write_key(out, key);
    for (uint32_t i = 0; i < names->count; i++) {
        buf_append_char(out, i == 0 ? '[' : ',');
        json_write_string(out, names->names[i]);
    }
    buf_append_char(out, ']');
}

static void write_server(struct buf *out, const struct stack_server *server)
{
    buf_append_lit(out, "{\"id\":");
    json_write_string(out, server->orchestration_id);
    stack_text_write_text(out, "name", server->name);
    write_key(out, "amounts");
    for (uint32_t i = 0; i < server->amount_count; i++) {
        buf_append_char(out, i == 0 ? '{' : ',');
        json_write_string(out, server->amounts[i].class_name);
        buf_append_char(out, ':');
        buf_append_int(out, server->amounts[i].amount);
    }
    buf_append_char(out, '}');
    write_names(out, "required", &server->required);
    write_names(out, "forbidden", &server->forbidden);
    if (server->zone.data != NULL)
        stack_text_write_text(out, "zone", server->zone);
    write_names(out, "locations", &server->locations);
    buf_append_char(out, '}');
}

static void write_group(struct buf *out, const struct stack_group *group)
{
    buf_append_lit(out, "{\"id\":");
    json_write_string(out, group->orchestration_id);
    stack_text_write_text(out, "name", group->name);
    stack_text_write_text(out, "type", slice_of(TYPES[group->type]));
    stack_text_write_text(out, "level", slice_of(LEVELS[group->level]));
    if (group->type == STACK_EXCLUSIVITY)
        stack_text_write_text(out, "group", group->group_name);
    write_key(out, "elements");
    buf_append_char(out, '[');
    for (uint32_t i = 0; i < group->element_count; i++) {
        const struct stack_element *element = &group->elements[i];
        if (i > 0)
            buf_append_char(out, ',');
        buf_append_int(out, element->is_group ? -(int64_t)element->at - 1 : (int64_t)element->at);
    }
    buf_append_lit(out, "]}");
}

void stack_text_write(const struct stack *stack, struct buf *out)
{
    buf_append_lit(out, "{\"version\":");
    buf_append_int(out, FORM);
    write_names(out, "locations", &stack->locations);
    write_key(out, "servers");
    buf_append_char(out, '[');
    for (uint32_t i = 0; i < stack->server_count; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        write_server(out, &stack->servers[i]);
    }
    buf_append_char(out, ']');
    write_key(out, "groups");
    buf_append_char(out, '[');
    for (uint32_t i = 0; i < stack->group_count; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        write_group(out, &stack->groups[i]);
    }
    buf_append_lit(out, "]}");
}

static bool stack_text_read_text(const json_t *object, const char *key, struct arena *arena,
                                 struct slice *text)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return false;
    *text = arena_copy(arena, (struct slice){json_string_value(value), json_string_length(value)});
    return true;
}

static bool read_names(const json_t *object, const char *key, struct arena *arena,
                       struct stack_names *names)
{
    const json_t *list = json_object_get(object, key);
    size_t count = json_array_size(list);
    if (list != NULL && !json_is_array(list))
        return false;
    struct slice *texts = arena_array(arena, count, sizeof(*texts));
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_string(value))
            return false;
        texts[i] =
            arena_copy(arena, (struct slice){json_string_value(value), json_string_length(value)});
    }
    *names = (struct stack_names){texts, (uint32_t)count};
    return true;
}

static bool read_amounts(const json_t *object, struct arena *arena, struct stack_server *server)
{
    json_t *amounts = json_object_get(object, "amounts");
    size_t count = json_object_size(amounts);
    struct stack_amount *read = arena_array(arena, count, sizeof(*read));
    for (void *at = json_object_iter(amounts); at != NULL;
         at = json_object_iter_next(amounts, at)) {
        const json_t *value = json_object_iter_value(at);
        if (!json_is_integer(value) || json_integer_value(value) < 1 ||
            json_integer_value(value) > INT32_MAX)
            return false;
        read[server->amount_count++] =
            (struct stack_amount){arena_copy(arena, (struct slice){json_object_iter_key(at),
                                                                   json_object_iter_key_len(at)}),
                                  json_integer_value(value)};
    }
    server->amounts = read;
    return count > 0;
}

static bool read_server(const json_t *object, struct arena *arena, struct stack_server *server)
{
    return stack_text_read_text(object, "id", arena, &server->orchestration_id) &&
           stack_text_read_text(object, "name", arena, &server->name) &&
           read_amounts(object, arena, server) &&
           read_names(object, "required", arena, &server->required) &&
           read_names(object, "forbidden", arena, &server->forbidden) &&
           read_names(object, "locations", arena, &server->locations) &&
           (json_object_get(object, "zone") == NULL ||
            stack_text_read_text(object, "zone", arena, &server->zone));
}

static bool read_word(const json_t *object, const char *key, const char *const *words, int count,
                      int *word)
{
    const char *text = json_string_value(json_object_get(object, key));
    for (*word = 0; text != NULL && *word < count; ++*word)
        if (strcmp(text, words[*word]) == 0)
            return true;
    return false;
}

static bool read_elements(const json_t *object, const struct stack *stack, struct arena *arena,
                          struct stack_group *group)
{
    const json_t *list = json_object_get(object, "elements");
    struct stack_element *elements = arena_array(arena, json_array_size(list), sizeof(*elements));
    group->elements = elements;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        int64_t number = json_integer_value(value);
        if (!json_is_integer(value) || number >= stack->server_count ||
            number < -(int64_t)stack->group_count)
            return false;
        elements[group->element_count++] = (struct stack_element){
            number < 0, number < 0 ? (uint32_t)(-number - 1) : (uint32_t)number};
    }
    return json_is_array(list);
}

static bool read_group(const json_t *object, const struct stack *stack, struct arena *arena,
                       struct stack_group *group)
{
    int type, level;
    if (!read_word(object, "type", TYPES, 3, &type) ||
        !read_word(object, "level", LEVELS, 2, &level))
        return false;
    group->type = (enum stack_group_type)type;
    group->level = (enum stack_level)level;
    return stack_text_read_text(object, "id", arena, &group->orchestration_id) &&
           stack_text_read_text(object, "name", arena, &group->name) &&
           (group->type != STACK_EXCLUSIVITY ||
            stack_text_read_text(object, "group", arena, &group->group_name)) &&
           read_elements(object, stack, arena, group);
}

static bool read_document(const json_t *document, struct arena *arena, struct stack *stack)
{
    const json_t *form = json_object_get(document, "version");
    const json_t *servers = json_object_get(document, "servers");
    const json_t *groups = json_object_get(document, "groups");
    if (!json_is_integer(form) || json_integer_value(form) != FORM || !json_is_array(servers) ||
        !json_is_array(groups) || !read_names(document, "locations", arena, &stack->locations))
        return false;
    stack->server_count = (uint32_t)json_array_size(servers);
    stack->group_count = (uint32_t)json_array_size(groups);
    struct stack_server *server_rows =
        arena_zalloc(arena, stack->server_count * sizeof(*server_rows));
    struct stack_group *group_rows = arena_zalloc(arena, stack->group_count * sizeof(*group_rows));
    for (uint32_t i = 0; i < stack->server_count; i++)
        if (!read_server(json_array_get(servers, i), arena, &server_rows[i]))
            return false;
    for (uint32_t i = 0; i < stack->group_count; i++)
        if (!read_group(json_array_get(groups, i), stack, arena, &group_rows[i]))
            return false;
    stack->servers = server_rows;
    stack->groups = group_rows;
    struct err ignored = {.arena = arena};
    return stack_ids_differ(stack, arena, &ignored) && stack_shape_check(stack, arena, &ignored);
}

bool stack_text_read(struct slice text, struct arena *arena, struct stack *stack)
{
    *stack = (struct stack){0};
    json_t *document = text.len == 0 ? NULL : json_loadb(text.data, text.len, JSON_ALLOW_NUL, NULL);
    bool is_good = document != NULL && read_document(document, arena, stack);
    if (!is_good)
        *stack = (struct stack){0};
    json_decref(document);
    return is_good;
}
