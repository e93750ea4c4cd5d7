/* Filters that compare a text are in one table; the others are written out. Pure; any thread. */
#include "baremetal/api/nodes/node_filters.h"

#include <stddef.h>
#include <strings.h>

#include "api/text/python_repr.h"
#include "baremetal/api/collection.h"
#include "baremetal/api/input/arguments.h"
#include "base/arena.h"
#include "model/node_states.h"

struct text_filter {
    const char *name;
    size_t at;             /* offset in struct node_filters */
    enum node_field field; /* must equal the text; NODE_FIELD_COUNT: compared otherwise */
    unsigned since;
};

#define AT(member) offsetof(struct node_filters, member)

/* In the order in which their versions are checked. */
static const struct text_filter TEXTS[] = {
    {"provision_state", AT(provision_state), NODE_PROVISION_STATE, 9},
    {"driver", AT(driver), NODE_DRIVER, 16},
    {"resource_class", AT(resource_class), NODE_RESOURCE_CLASS, 21},
    {"fault", AT(fault), NODE_FAULT, 42},
    {"conductor_group", AT(conductor_group), NODE_CONDUCTOR_GROUP, 46},
    {"conductor", AT(conductor), NODE_FIELD_COUNT, 49},
    {"owner", AT(owner), NODE_OWNER, 50},
    {"lessee", AT(lessee), NODE_LESSEE, 65},
    {"shard", AT(shards), NODE_FIELD_COUNT, 82},
    {"project", AT(project), NODE_FIELD_COUNT, 1},
    {"description_contains", AT(description_contains), NODE_FIELD_COUNT, 1},
};

static const struct truth_filter {
    const char *name;
    size_t at;
    unsigned since;
} TRUTHS[] = {
    {"associated", AT(associated), 1},
    {"maintenance", AT(maintenance), 1},
    {"retired", AT(retired), 1},
    {"sharded", AT(sharded), 82},
};

static const char *const FAULTS[] = {"power failure", "clean failure", "rescue abort failure"};

enum {
    TEXTS_COUNT = sizeof(TEXTS) / sizeof(TEXTS[0]),
    TRUTHS_COUNT = sizeof(TRUTHS) / sizeof(TRUTHS[0]),
    FAULTS_COUNT = sizeof(FAULTS) / sizeof(FAULTS[0]),
};

static struct slice text_at(const struct node_filters *filters, size_t at)
{
    return *(const struct slice *)((const char *)filters + at);
}

static enum filter_truth truth_at(const struct node_filters *filters, size_t at)
{
    return *(const enum filter_truth *)((const char *)filters + at);
}

static bool read_uuid(const struct query_string *query, const char *name, struct arena *arena,
                      struct slice *uuid, struct err *err)
{
    struct argument argument = argument_find(arena, query, name);
    return argument_uuid(&argument, uuid, err);
}

bool node_filters_read(struct node_filters *filters, const struct query_string *query,
                       struct arena *arena, struct err *err)
{
    *filters = (struct node_filters){0};
    if (!read_uuid(query, "chassis_uuid", arena, &filters->chassis_uuid, err) ||
        !read_uuid(query, "instance_uuid", arena, &filters->instance_uuid, err))
        return false;
    for (size_t i = 0; i < TRUTHS_COUNT; i++) {
        struct argument argument = argument_find(arena, query, TRUTHS[i].name);
        bool is_true = false;
        if (!argument_boolean(&argument, &is_true, err))
            return false;
        if (argument.is_there)
            *(enum filter_truth *)((char *)filters + TRUTHS[i].at) =
                is_true ? FILTER_TRUE : FILTER_FALSE;
    }
    for (size_t i = 0; i < TEXTS_COUNT; i++) {
        struct argument argument = argument_find(arena, query, TEXTS[i].name);
        if (!argument_text(&argument, (struct slice *)((char *)filters + TEXTS[i].at), err))
            return false;
    }
    return true;
}

static bool refuse_quoted(const char *before, struct slice value, const char *behind,
                          struct err *err)
{
    struct buf text = {0};
    buf_append_slice(&text, slice_of(before));
    python_str_text(&text, value);
    buf_append_slice(&text, slice_of(behind));
    err_set_text(err, 400, NULL, arena_copy(err->arena, buf_slice(&text)));
    buf_free(&text);
    return false;
}

static bool refuse_version(const char *name, unsigned since, struct err *err)
{
    if (strcmp(name, "provision_state") == 0)
        return err_set(err, 406, NULL, "Request not acceptable.");
    return err_set(err, 406, NULL,
                   "Request not acceptable. The minimal required API version should be 1.%u",
                   since);
}

static bool check_value(const struct text_filter *filter, struct slice value, struct err *err)
{
    if (filter->field == NODE_PROVISION_STATE && node_state_find(value) == NODE_NO_STATE)
        return refuse_quoted("Provision state \"", value, "\" is not valid", err);
    if (filter->field != NODE_FAULT)
        return true;
    for (size_t i = 0; i < FAULTS_COUNT; i++)
        if (slice_equal(slice_of(FAULTS[i]), value))
            return true;
    return refuse_quoted("Unrecognized fault \"", value,
                         "\" is specified, allowed faults are ('power failure', 'clean failure', "
                         "'rescue abort failure')",
                         err);
}

bool node_filters_check(const struct node_filters *filters, unsigned minor, struct err *err)
{
    for (size_t i = 0; i < TEXTS_COUNT; i++) {
        struct slice value = text_at(filters, TEXTS[i].at);
        if (value.data == NULL)
            continue;
        if (minor < TEXTS[i].since)
            return refuse_version(TEXTS[i].name, TEXTS[i].since, err);
        if (!check_value(&TEXTS[i], value, err))
            return false;
    }
    for (size_t i = 0; i < TRUTHS_COUNT; i++)
        if (truth_at(filters, TRUTHS[i].at) != FILTER_NONE && minor < TRUTHS[i].since)
            return refuse_version(TRUTHS[i].name, TRUTHS[i].since, err);
    return true;
}

static bool is_truth(enum filter_truth wanted, bool is_true)
{
    return wanted == FILTER_NONE || is_true == (wanted == FILTER_TRUE);
}

static bool has_text(const struct node *node, enum node_field field, struct slice wanted)
{
    return !node_is_null(node, field) && slice_equal(node_text(node, field), wanted);
}

static bool contains(struct slice text, struct slice part)
{
    for (size_t i = 0; i + part.len <= text.len; i++)
        if (strncasecmp(text.data + i, part.data, part.len) == 0)
            return true;
    return false;
}

static bool has_shard(const struct node *node, struct slice shards)
{
    while (shards.len > 0)
        if (has_text(node, NODE_SHARD, slice_trim(slice_cut(&shards, ','))))
            return true;
    return false;
}

static bool match_texts(const struct node_filters *filters, const struct node *node)
{
    for (size_t i = 0; i < TEXTS_COUNT; i++) {
        struct slice wanted = text_at(filters, TEXTS[i].at);
        if (wanted.data != NULL && TEXTS[i].field != NODE_FIELD_COUNT &&
            !has_text(node, TEXTS[i].field, wanted))
            return false;
    }
    return true;
}

bool node_filters_match(const struct node_filters *filters, struct slice host,
                        const struct node *node)
{
    struct slice project = filters->project;
    if (!is_truth(filters->associated, !node_is_null(node, NODE_INSTANCE_UUID)) ||
        !is_truth(filters->maintenance, node_bool(node, NODE_MAINTENANCE)) ||
        !is_truth(filters->retired, node_bool(node, NODE_RETIRED)) ||
        !is_truth(filters->sharded, !node_is_null(node, NODE_SHARD)) || !match_texts(filters, node))
        return false;
    if (filters->conductor.len > 0 && !slice_equal(filters->conductor, host))
        return false;
    if (filters->instance_uuid.data != NULL &&
        !has_text(node, NODE_INSTANCE_UUID, filters->instance_uuid))
        return false;
    if (project.data != NULL && !has_text(node, NODE_OWNER, project) &&
        !has_text(node, NODE_LESSEE, project))
        return false;
    if (filters->shards.data != NULL && !has_shard(node, filters->shards))
        return false;
    return filters->description_contains.data == NULL ||
           (!node_is_null(node, NODE_DESCRIPTION) &&
            contains(node_text(node, NODE_DESCRIPTION), filters->description_contains));
}

void node_filters_write(const struct node_filters *filters, struct buf *out)
{
    for (size_t i = 0; i < TRUTHS_COUNT; i++) {
        enum filter_truth truth = truth_at(filters, TRUTHS[i].at);
        if (truth != FILTER_NONE)
            collection_add_filter(out, TRUTHS[i].name,
                                  truth == FILTER_TRUE ? SLICE_LIT("True") : SLICE_LIT("False"));
    }
    for (size_t i = 0; i < TEXTS_COUNT; i++) {
        struct slice value = text_at(filters, TEXTS[i].at);
        if (value.data != NULL)
            collection_add_filter(out, TEXTS[i].name, value);
    }
}
