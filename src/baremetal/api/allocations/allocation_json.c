/* One object for each allocation. Any thread. */
#include "baremetal/api/allocations/allocation_json.h"

#include "baremetal/api/links.h"
#include "base/arena.h"
#include "base/json_write.h"
#include "replica/nodes.h"

static struct slice node_uuid_of(const struct version *version, const struct node_allocation *row)
{
    const struct node *node = version_node(version, node_allocation_node_id(row));
    return node == NULL ? (struct slice){0} : node_text(node, NODE_UUID);
}

struct allocation_shown allocation_shown_of(const struct version *version,
                                            const struct node_allocation *row)
{
    return (struct allocation_shown){row, node_uuid_of(version, row)};
}

struct allocation_shown allocation_shown_copy(const struct version *version,
                                              const struct node_allocation *row,
                                              struct arena *arena)
{
    size_t bytes = node_allocation_bytes(row);
    void *copy = arena_alloc(arena, bytes);
    memcpy(copy, row, bytes);
    struct slice node_uuid = node_uuid_of(version, row);
    if (node_uuid.data != NULL)
        node_uuid = arena_copy(arena, node_uuid);
    return (struct allocation_shown){copy, node_uuid};
}

static void write_node_uuid(struct buf *out, struct slice uuid)
{
    buf_append_lit(out, "\"node_uuid\": ");
    if (uuid.data == NULL)
        buf_append_lit(out, "null");
    else
        json_write_string(out, uuid);
}

void allocation_write_json(struct api_request *request, const struct allocation_shown *shown,
                           const struct record_fields *fields, struct buf *out)
{
    const struct record *record = &shown->row->record;
    const char *between = "";
    buf_append_char(out, '{');
    for (unsigned i = 0; i < NODE_ALLOCATION_FIELD_COUNT; i++) {
        if (!fields->has[i])
            continue;
        buf_append_slice(out, slice_of(between));
        between = ", ";
        if (i == NODE_ALLOCATION_NODE)
            write_node_uuid(out, shown->node_uuid);
        else if (i == NODE_ALLOCATION_LINKS)
            baremetal_write_links(request, SLICE_LIT("allocations"),
                                  node_allocation_text(shown->row, NODE_ALLOCATION_UUID),
                                  SLICE_LIT(""), out);
        else
            record_write_field(out, &NODE_ALLOCATION_SHAPE, record, i);
    }
    buf_append_char(out, '}');
}

void allocation_answer(struct api_request *request, const struct allocation_shown *shown)
{
    struct record_fields all = record_fields_all(&NODE_ALLOCATION_SHAPE, request->minor);
    allocation_write_json(request, shown, &all, api_out(request));
    api_answer_json(request, 0);
}
