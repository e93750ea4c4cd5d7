/* There are two passes. The first checks that every resource is an object with the keys it needs,
 * and which of the three types it has. The second reads servers and groups, which can then be found
 * by id and by name. Ignored values are examined once and never copied. Keys are case-insensitive
 * only at the top level of a resource. Pure; any thread. */
#include "valet/api/stack/stack_body.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/hash_map.h"
#include "valet/api/stack/stack_ids.h"
#include "valet/api/stack/stack_shape.h"

enum kind { KIND_OTHER, KIND_SERVER, KIND_GROUP };

enum key { KEY_TYPE, KEY_NAME, KEY_PROPERTIES, KEY_LOCATIONS, KEY_COUNT };
static const char *const KEYS[KEY_COUNT] = {"type", "name", "properties", "locations"};

struct resource {
    struct slice id, name;
    const json_t *value[KEY_COUNT]; /* NULL: missing */
    enum kind kind;
    uint32_t at;      /* index of the server or group */
    bool shares_name; /* a later resource has the same name */
};

struct reading {
    const struct stack_body *input;
    struct arena *arena;
    struct err *err;
    struct resource *resources;
    uint32_t count;
    struct hash_map by_id, by_name; /* of resources */
    struct stack_server *servers;
    struct stack_group *groups;
    uint32_t server_count, group_count;
};

static struct slice stack_body_text_of(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}

static bool is_too_long(struct slice text)
{
    size_t chars = 0;
    for (size_t i = 0; i < text.len; i++)
        chars += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return chars > STACK_BODY_TEXT_MAX_CHARS;
}

/* "resources -> ID: …", for errors of the kind that schemas find. */
static bool refuse_resource(struct reading *reading, struct slice id, const char *key,
                            const char *why)
{
    return err_set_join(reading->err, 400, NULL, SLICE_LIT("resources -> "), id, SLICE_LIT(" -> "),
                        slice_of(key), SLICE_LIT(" "), slice_of(why));
}

/* "Valet error: resource 'ID': …" */
static bool stack_body_refuse(struct reading *reading, int status, const struct resource *resource,
                              const char *why)
{
    return err_set_join(reading->err, status, NULL, SLICE_LIT("Valet error: resource '"),
                        resource->id, SLICE_LIT("': "), slice_of(why));
}

static bool refuse_about(struct reading *reading, const struct resource *resource, const char *why,
                         struct slice about)
{
    return err_set_join(reading->err, 400, NULL, SLICE_LIT("Valet error: resource '"), resource->id,
                        SLICE_LIT("': "), slice_of(why), SLICE_LIT(" '"), about, SLICE_LIT("'"));
}

static bool find_keys(struct reading *reading, struct resource *resource, const json_t *object)
{
    json_t *walked = (json_t *)(uintptr_t)object;
    for (void *at = json_object_iter(walked); at != NULL; at = json_object_iter_next(walked, at)) {
        struct slice name = (struct slice){json_object_iter_key(at), json_object_iter_key_len(at)};
        for (unsigned key = 0; key < KEY_COUNT; key++) {
            if (!slice_equal_nocase(name, slice_of(KEYS[key])))
                continue;
            if (resource->value[key] != NULL)
                return refuse_resource(reading, resource->id, KEYS[key], "is there twice");
            resource->value[key] = json_object_iter_value(at);
        }
    }
    return true;
}

static enum kind stack_body_kind_of(struct slice type)
{
    if (slice_equal(type, SLICE_LIT("OS::Nova::Server")))
        return KIND_SERVER;
    if (slice_equal(type, SLICE_LIT("ATT::Valet::GroupAssignment")) ||
        slice_equal(type, SLICE_LIT("OS::Valet::GroupAssignment")))
        return KIND_GROUP;
    return KIND_OTHER;
}

static bool check_used(struct reading *reading, const struct resource *resource)
{
    if (resource->id.len == 0)
        return refuse_resource(reading, resource->id, "its id", "is empty");
    if (is_too_long(resource->id))
        return refuse_resource(reading, resource->id, "its id", "has more than 255 characters");
    if (is_too_long(resource->name))
        return refuse_resource(reading, resource->id, "name", "has more than 255 characters");
    return resource->value[KEY_PROPERTIES] != NULL ||
           refuse_resource(reading, resource->id, "properties", "is missing");
}

static bool read_resource(struct reading *reading, struct resource *resource, const json_t *object)
{
    if (!json_is_object(object))
        return refuse_resource(reading, resource->id, "it", "is not an object");
    if (!find_keys(reading, resource, object))
        return false;
    const json_t *type = resource->value[KEY_TYPE];
    const json_t *name = resource->value[KEY_NAME];
    const json_t *properties = resource->value[KEY_PROPERTIES];
    if (type == NULL)
        return refuse_resource(reading, resource->id, "type", "is missing");
    if (!json_is_string(type))
        return refuse_resource(reading, resource->id, "type", "is not a string");
    if (name != NULL && !json_is_string(name))
        return refuse_resource(reading, resource->id, "name", "is not a string");
    if (properties != NULL && !json_is_object(properties))
        return refuse_resource(reading, resource->id, "properties", "is not an object");
    resource->name = name == NULL ? resource->id : stack_body_text_of(name);
    resource->kind = stack_body_kind_of(stack_body_text_of(type));
    resource->at = resource->kind == KIND_SERVER  ? reading->server_count++
                   : resource->kind == KIND_GROUP ? reading->group_count++
                                                  : 0;
    return resource->kind == KIND_OTHER || check_used(reading, resource);
}

static bool read_resources(struct reading *reading, const json_t *resources)
{
    json_t *walked = (json_t *)(uintptr_t)resources;
    reading->resources =
        arena_array(reading->arena, json_object_size(resources), sizeof(*reading->resources));
    for (void *at = json_object_iter(walked); at != NULL; at = json_object_iter_next(walked, at)) {
        struct resource *resource = &reading->resources[reading->count++];
        *resource = (struct resource){
            .id = (struct slice){json_object_iter_key(at), json_object_iter_key_len(at)}};
        if (!read_resource(reading, resource, json_object_iter_value(at)))
            return false;
        if (reading->server_count > reading->input->max_servers)
            return err_set(reading->err, 400, NULL, "resources has more than %u servers",
                           reading->input->max_servers);
    }
    return true;
}

/* The slot of the first resource with that id or name, or the free slot for it. */
static struct hash_slot *find_called(const struct reading *reading, bool by_id, struct slice text,
                                     uint64_t hash)
{
    const struct resource *all = reading->resources;
    struct hash_slot *slot;
    if (by_id)
        HASH_MAP_FIND(slot, &reading->by_id, hash, slice_equal(all[hash_slot_item(slot)].id, text));
    else
        HASH_MAP_FIND(slot, &reading->by_name, hash,
                      slice_equal(all[hash_slot_item(slot)].name, text));
    return slot;
}

static void call_all(struct reading *reading)
{
    reading->by_id = hash_map_create(reading->arena, reading->count);
    reading->by_name = hash_map_create(reading->arena, reading->count);
    for (uint32_t i = 0; i < reading->count; i++) {
        struct resource *resource = &reading->resources[i];
        uint64_t hash = hash_text(resource->id); /* keys of an object are unique */
        hash_slot_put(find_called(reading, true, resource->id, hash), hash, i);
        hash = hash_text(resource->name);
        struct hash_slot *slot = find_called(reading, false, resource->name, hash);
        if (hash_slot_is_free(slot))
            hash_slot_put(slot, hash, i);
        else
            reading->resources[hash_slot_item(slot)].shares_name = true;
    }
}

static bool read_zone(struct reading *reading, const struct resource *resource,
                      struct stack_server *server)
{
    const json_t *value = json_object_get(resource->value[KEY_PROPERTIES], "availability_zone");
    struct slice text = stack_body_text_of(value);
    if (value == NULL)
        return true;
    if (text.data == NULL)
        return stack_body_refuse(reading, 400, resource, "availability_zone is not a string");
    if (is_too_long(text))
        return stack_body_refuse(reading, 400, resource,
                                 "availability_zone has more than 255 characters");
    text = slice_cut(&text, ':');
    if (text.len > 0)
        server->zone = text;
    return true;
}

static bool read_flavor(struct reading *reading, const struct resource *resource,
                        struct stack_server *server)
{
    const json_t *value = json_object_get(resource->value[KEY_PROPERTIES], "flavor");
    struct flavor flavor;
    struct slice why;
    if (value == NULL)
        return stack_body_refuse(reading, 400, resource, "flavor is missing");
    if (json_is_string(value)) {
        const struct flavor *known =
            flavors_find(reading->input->flavors, stack_body_text_of(value));
        if (known == NULL && is_too_long(stack_body_text_of(value)))
            return stack_body_refuse(reading, 400, resource, "flavor has more than 255 characters");
        if (known == NULL)
            return refuse_about(reading, resource, "there is no flavor", stack_body_text_of(value));
        flavor = flavor_copy(known, reading->arena);
    } else if (!json_is_object(value)) {
        return stack_body_refuse(reading, 400, resource,
                                 "flavor is neither a string nor an object");
    } else if (!flavor_read(value, reading->arena, &flavor, &why)) {
        return refuse_about(reading, resource, "its flavor is not good:", why);
    }
    server->amounts = flavor.amounts;
    server->amount_count = flavor.amount_count;
    server->required = flavor.required;
    server->forbidden = flavor.forbidden;
    server->removed = flavor.removed;
    return true;
}

static bool read_locations(struct reading *reading, const struct resource *resource,
                           struct stack_server *server)
{
    struct err err = {.arena = reading->arena};
    return stack_body_names(resource->value[KEY_LOCATIONS], "locations", reading->arena,
                            &server->locations, &err) ||
           err_set_join(reading->err, err.status, NULL, SLICE_LIT("resources -> "), resource->id,
                        SLICE_LIT(" -> "), err.message);
}

static bool read_server(struct reading *reading, const struct resource *resource)
{
    struct stack_server *server = &reading->servers[resource->at];
    *server = (struct stack_server){.orchestration_id = resource->id, .name = resource->name};
    return read_locations(reading, resource, server) && read_flavor(reading, resource, server) &&
           read_zone(reading, resource, server);
}

static bool read_type(struct reading *reading, const struct resource *resource,
                      struct stack_group *group)
{
    static const char *const TYPES[] = {"affinity", "diversity", "exclusivity"};
    struct slice text =
        stack_body_text_of(json_object_get(resource->value[KEY_PROPERTIES], "group_type"));
    for (unsigned type = 0; text.data != NULL && type < 3; type++)
        if (slice_equal_nocase(text, slice_of(TYPES[type]))) {
            group->type = (enum stack_group_type)type;
            return true;
        }
    return stack_body_refuse(
        reading, 400, resource,
        "group_type is to be one of 'affinity', 'diversity' and 'exclusivity'");
}

static bool read_level(struct reading *reading, const struct resource *resource,
                       struct stack_group *group)
{
    struct slice text =
        stack_body_text_of(json_object_get(resource->value[KEY_PROPERTIES], "level"));
    group->level = slice_equal(text, SLICE_LIT("rack")) ? STACK_RACK : STACK_HOST;
    return group->level == STACK_RACK || slice_equal(text, SLICE_LIT("host")) ||
           stack_body_refuse(reading, 400, resource, "level is to be 'host' or 'rack'");
}

static bool read_group_name(struct reading *reading, const struct resource *resource,
                            struct stack_group *group)
{
    const json_t *value = json_object_get(resource->value[KEY_PROPERTIES], "group_name");
    struct slice text = stack_body_text_of(value);
    if (value != NULL && text.data == NULL)
        return stack_body_refuse(reading, 400, resource, "group_name is not a string");
    if (is_too_long(text))
        return stack_body_refuse(reading, 400, resource, "group_name has more than 255 characters");
    if (group->type == STACK_EXCLUSIVITY && text.len == 0)
        return stack_body_refuse(reading, 400, resource, "an exclusivity group needs a group_name");
    group->group_name = text;
    return true;
}

/* By id or by name. A text that matches two resources is ambiguous and matches neither, even if one
 * of them has an ignored type. */
static bool find_listed(struct reading *reading, const struct resource *resource, struct slice text,
                        const struct resource **found)
{
    uint64_t hash = hash_text(text);
    const struct hash_slot *slot = find_called(reading, true, text, hash);
    const struct resource *by_id =
        hash_slot_is_free(slot) ? NULL : &reading->resources[hash_slot_item(slot)];
    slot = find_called(reading, false, text, hash);
    const struct resource *by_name =
        hash_slot_is_free(slot) ? NULL : &reading->resources[hash_slot_item(slot)];
    if (by_id == NULL && by_name == NULL)
        return refuse_about(reading, resource, "resources names something unknown,", text);
    if (by_name != NULL && (by_name->shares_name || (by_id != NULL && by_id != by_name)))
        return refuse_about(reading, resource, "several resources have the name", text);
    *found = by_id != NULL ? by_id : by_name;
    return *found != resource ||
           stack_body_refuse(reading, 400, resource, "it is in a circle with itself");
}

static int compare_elements(const void *left, const void *right)
{
    const struct stack_element *a = left;
    const struct stack_element *b = right;
    if (a->is_group != b->is_group)
        return a->is_group ? 1 : -1;
    return (a->at > b->at) - (a->at < b->at);
}

/* An element listed twice is in the group once. */
static void drop_repeated(struct stack_element *elements, uint32_t *count)
{
    uint32_t kept = 0;
    if (*count > 1)
        qsort(elements, *count, sizeof(*elements), compare_elements);
    for (uint32_t i = 0; i < *count; i++)
        if (kept == 0 || compare_elements(&elements[kept - 1], &elements[i]) != 0)
            elements[kept++] = elements[i];
    *count = kept;
}

static bool read_elements(struct reading *reading, const struct resource *resource,
                          struct stack_group *group)
{
    const json_t *list = json_object_get(resource->value[KEY_PROPERTIES], "resources");
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0)
        return stack_body_refuse(reading, 400, resource,
                                 "resources is to be a list of at least one string");
    struct stack_element *elements = arena_array(reading->arena, count, sizeof(*elements));
    for (size_t i = 0; i < count; i++) {
        struct slice text = stack_body_text_of(json_array_get(list, i));
        const struct resource *found = NULL;
        if (text.data == NULL)
            return stack_body_refuse(reading, 400, resource,
                                     "resources is to be a list of strings");
        if (!find_listed(reading, resource, text, &found))
            return false;
        if (found->kind != KIND_OTHER)
            elements[group->element_count++] =
                (struct stack_element){found->kind == KIND_GROUP, found->at};
    }
    drop_repeated(elements, &group->element_count);
    group->elements = elements;
    return true;
}

static bool read_group(struct reading *reading, const struct resource *resource)
{
    struct stack_group *group = &reading->groups[resource->at];
    *group = (struct stack_group){.orchestration_id = resource->id, .name = resource->name};
    return read_type(reading, resource, group) && read_level(reading, resource, group) &&
           read_elements(reading, resource, group) && read_group_name(reading, resource, group);
}

static bool check_group_names(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->count; i++) {
        const struct resource *resource = &reading->resources[i];
        const struct stack_group *group = &reading->groups[resource->at];
        if (resource->kind == KIND_GROUP && group->type != STACK_EXCLUSIVITY &&
            group->group_name.len > 0)
            return stack_body_refuse(reading, 409, resource,
                                     "only an exclusivity group has a group_name");
    }
    return true;
}

static bool read_used(struct reading *reading)
{
    reading->servers =
        arena_array(reading->arena, reading->server_count, sizeof(*reading->servers));
    reading->groups = arena_array(reading->arena, reading->group_count, sizeof(*reading->groups));
    if (reading->group_count > 0)
        call_all(reading);
    for (uint32_t i = 0; i < reading->count; i++) {
        const struct resource *resource = &reading->resources[i];
        if ((resource->kind == KIND_SERVER && !read_server(reading, resource)) ||
            (resource->kind == KIND_GROUP && !read_group(reading, resource)))
            return false;
    }
    return true;
}

bool stack_body_names(const json_t *list, const char *key, struct arena *arena,
                      struct stack_names *names, struct err *err)
{
    size_t count = json_array_size(list);
    struct slice *texts = arena_array(arena, count, sizeof(*texts));
    *names = (struct stack_names){texts, (uint32_t)count};
    if (list == NULL)
        return true;
    if (!json_is_array(list))
        return err_set(err, 400, NULL, "%s is not a list of strings", key);
    for (size_t i = 0; i < count; i++) {
        texts[i] = stack_body_text_of(json_array_get(list, i));
        if (texts[i].data == NULL)
            return err_set(err, 400, NULL, "%s is not a list of strings", key);
        if (is_too_long(texts[i]))
            return err_set(err, 400, NULL, "%s: one has more than 255 characters", key);
    }
    return true;
}

bool stack_body_read(const struct stack_body *input, const json_t *resources,
                     const json_t *locations, struct stack *stack, struct err *err)
{
    struct reading reading = {.input = input, .arena = input->arena, .err = err};
    *stack = (struct stack){0};
    if (!json_is_object(resources))
        return err_set(err, 400, NULL, "resources is not an object");
    if (!stack_body_names(locations, "locations", input->arena, &stack->locations, err) ||
        !read_resources(&reading, resources) || !read_used(&reading))
        return false;
    stack->servers = reading.servers;
    stack->server_count = reading.server_count;
    stack->groups = reading.groups;
    stack->group_count = reading.group_count;
    return stack_ids_differ(stack, input->arena, err) &&
           stack_shape_check(stack, input->arena, err) && check_group_names(&reading);
}
