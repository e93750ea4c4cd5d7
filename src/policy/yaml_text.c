/* Builds a tree from libyaml's events.
 *
 * Invariants: an anchor becomes known only when its value is complete, so no value is part of
 * itself; every value is created once, however many aliases refer to it. One thread per call. */
#include "policy/yaml_text.h"

#include <stdint.h>
#include <yaml.h>

#include "policy/scalar.h"

struct anchor {
    struct slice name;
    const struct policy_value *value; /* NULL: not complete yet */
};

struct reader {
    yaml_parser_t parser;
    struct arena *arena;
    const char *name;
    struct err *err;
    unsigned nodes;
    unsigned depth;
    struct anchor *anchors;
    size_t anchor_count;
    size_t anchor_capacity;
};

static bool yaml_text_refuse(struct reader *r, const yaml_mark_t *mark, const char *what)
{
    return err_set(r->err, 500, NULL, "%s:%zu: %s", r->name, mark->line + 1, what);
}

static bool next(struct reader *r, yaml_event_t *event)
{
    const yaml_parser_t *parser = &r->parser;
    if (yaml_parser_parse(&r->parser, event) != 0)
        return true;
    const char *problem = parser->problem == NULL ? "is not valid YAML" : parser->problem;
    if (parser->error == YAML_READER_ERROR)
        return err_set(r->err, 500, NULL, "%s: %s at byte %zu", r->name, problem,
                       parser->problem_offset);
    return err_set(r->err, 500, NULL, "%s:%zu: %s%s%s", r->name, parser->problem_mark.line + 1,
                   problem, parser->context == NULL ? "" : " ",
                   parser->context == NULL ? "" : parser->context);
}

static struct slice yaml_text_text_of(const yaml_char_t *text)
{
    return text == NULL ? (struct slice){0} : slice_of((const char *)text);
}

static struct policy_value *value_new(struct reader *r, enum policy_value_kind kind,
                                      const yaml_event_t *event)
{
    struct policy_value *value = arena_zalloc(r->arena, sizeof(*value));
    value->kind = kind;
    value->line = (unsigned)event->start_mark.line + 1;
    return value;
}

/* The anchor that will get this value; SIZE_MAX: none. */
static bool anchor_open(struct reader *r, const yaml_event_t *event, const yaml_char_t *name,
                        size_t *at)
{
    *at = SIZE_MAX;
    if (name == NULL)
        return true;
    if (r->anchor_count == POLICY_YAML_ANCHORS_MAX)
        return yaml_text_refuse(r, &event->start_mark, "more than 256 anchors");
    r->anchors =
        arena_grow(r->arena, r->anchors, r->anchor_count, &r->anchor_capacity, sizeof(*r->anchors));
    r->anchors[r->anchor_count] =
        (struct anchor){arena_copy(r->arena, yaml_text_text_of(name)), NULL};
    *at = r->anchor_count++;
    return true;
}

static const struct policy_value *find_anchor(struct reader *r, const yaml_event_t *event)
{
    struct slice name = yaml_text_text_of(event->data.alias.anchor);
    for (size_t i = r->anchor_count; i > 0; i--) {
        if (!slice_equal(r->anchors[i - 1].name, name))
            continue;
        if (r->anchors[i - 1].value == NULL)
            (void)yaml_text_refuse(r, &event->start_mark, "an alias inside its own anchor");
        return r->anchors[i - 1].value;
    }
    (void)yaml_text_refuse(r, &event->start_mark, "an alias without an anchor before it");
    return NULL;
}

static bool check_tag(struct reader *r, const yaml_event_t *event, const yaml_char_t *tag,
                      const char *allowed)
{
    if (tag == NULL || strcmp((const char *)tag, allowed) == 0)
        return true;
    return yaml_text_refuse(
        r, &event->start_mark,
        tag[0] == '!' ? "an exclamation mark that is meant as text must be in quotes" : "a tag");
}

static const struct policy_value *read_scalar(struct reader *r, const yaml_event_t *event)
{
    struct slice text = {(const char *)event->data.scalar.value, event->data.scalar.length};
    enum policy_value_kind kind = POLICY_VALUE_TEXT;
    if (!check_tag(r, event, event->data.scalar.tag, YAML_STR_TAG))
        return NULL;
    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.tag == NULL)
        kind = policy_yaml_scalar_kind(text);
    struct policy_value *value = value_new(r, kind, event);
    value->text = arena_copy(r->arena, text);
    return value;
}

static const struct policy_value *read_value(struct reader *r, const yaml_event_t *event);

/* Items up to the event that ends them. */
static bool read_items(struct reader *r, struct policy_value *value, yaml_event_type_t end)
{
    size_t capacity = 0;
    size_t count = 0;
    for (;;) {
        yaml_event_t event;
        if (!next(r, &event))
            return false;
        bool at_end = event.type == end;
        const struct policy_value *item = at_end ? NULL : read_value(r, &event);
        yaml_event_delete(&event);
        if (item == NULL) {
            value->count = (unsigned)count;
            return at_end;
        }
        value->items =
            arena_grow(r->arena, value->items, count, &capacity, sizeof(struct policy_value *));
        value->items[count++] = item;
    }
}

static const struct policy_value *read_collection(struct reader *r, const yaml_event_t *event)
{
    bool is_map = event->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag =
        is_map ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (!check_tag(r, event, tag, is_map ? YAML_MAP_TAG : YAML_SEQ_TAG))
        return NULL;
    if (r->depth == POLICY_YAML_DEPTH_MAX) {
        (void)yaml_text_refuse(r, &event->start_mark, "nested too deep");
        return NULL;
    }
    struct policy_value *value = value_new(r, is_map ? POLICY_VALUE_MAP : POLICY_VALUE_LIST, event);
    r->depth++;
    bool ok = read_items(r, value, is_map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
    r->depth--;
    return ok ? value : NULL;
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor;
    default:
        return NULL;
    }
}

static const struct policy_value *read_value(struct reader *r, const yaml_event_t *event)
{
    size_t anchor;
    if (++r->nodes > POLICY_YAML_NODES_MAX) {
        (void)yaml_text_refuse(r, &event->start_mark, "more than 50000 values");
        return NULL;
    }
    if (event->type == YAML_ALIAS_EVENT)
        return find_anchor(r, event);
    if (!anchor_open(r, event, anchor_of(event), &anchor))
        return NULL;
    const struct policy_value *value =
        event->type == YAML_SCALAR_EVENT ? read_scalar(r, event) : read_collection(r, event);
    if (value != NULL && anchor != SIZE_MAX)
        r->anchors[anchor].value = value;
    return value;
}

/* Everything between the stream's start and its end. */
static const struct policy_value *read_stream(struct reader *r)
{
    const struct policy_value *root = NULL;
    for (;;) {
        yaml_event_t event;
        bool at_end = false;
        if (!next(r, &event))
            return NULL;
        bool ok = true;
        switch (event.type) {
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            break;
        case YAML_STREAM_END_EVENT:
            at_end = true;
            if (root == NULL)
                root = value_new(r, POLICY_VALUE_NULL, &event);
            break;
        case YAML_DOCUMENT_START_EVENT:
            ok = root == NULL || yaml_text_refuse(r, &event.start_mark, "a second document");
            break;
        default:
            root = read_value(r, &event);
            ok = root != NULL;
        }
        yaml_event_delete(&event);
        if (at_end || !ok)
            return ok ? root : NULL;
    }
}

const struct policy_value *policy_yaml_read(struct arena *arena, const char *name,
                                            struct slice text, struct err *err)
{
    struct reader r = {.arena = arena, .name = name, .err = err};
    check(yaml_parser_initialize(&r.parser) != 0);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.data, text.len);
    const struct policy_value *value = read_stream(&r);
    yaml_parser_delete(&r.parser);
    return value;
}
