/* Rows as JSON. Pure; any thread. */
#include "valet/api/plans/plan_json.h"

#include "base/json_write.h"

static void write_member(struct buf *out, const char *name, struct slice text)
{
    buf_append_char(out, '"');
    buf_append_slice(out, slice_of(name));
    buf_append_lit(out, "\": ");
    if (text.data == NULL)
        buf_append_lit(out, "null");
    else
        json_write_string(out, text);
}

static void write_more(struct buf *out, const char *name, struct slice text)
{
    buf_append_lit(out, ", ");
    write_member(out, name, text);
}

void plan_json_begin(struct buf *out, const struct valet_plan *plan)
{
    buf_append_char(out, '{');
    write_member(out, "id", record_text(&plan->record, VALET_PLAN_UUID));
    write_more(out, "name", record_text(&plan->record, VALET_PLAN_NAME));
    write_more(out, "stack_id", record_text(&plan->record, VALET_PLAN_STACK_ID));
    buf_append_lit(out, ", \"placements\": {");
}

void plan_json_placement(struct buf *out, const struct placement_view *view, bool is_first)
{
    if (!is_first)
        buf_append_lit(out, ", ");
    json_write_string(out, record_text(&view->row->record, VALET_PLACEMENT_ORCHESTRATION_ID));
    buf_append_lit(out, ": {");
    write_member(out, "name", record_text(&view->row->record, VALET_PLACEMENT_NAME));
    write_more(out, "location", view->location);
    buf_append_char(out, '}');
}

void plan_json_end(struct buf *out)
{
    buf_append_lit(out, "}}");
}

void placement_json(struct buf *out, const struct placement_view *view)
{
    const struct record *row = &view->row->record;
    buf_append_char(out, '{');
    write_member(out, "id", record_text(row, VALET_PLACEMENT_UUID));
    write_more(out, "plan_id", view->plan_uuid);
    write_more(out, "name", record_text(row, VALET_PLACEMENT_NAME));
    write_more(out, "orchestration_id", record_text(row, VALET_PLACEMENT_ORCHESTRATION_ID));
    write_more(out, "resource_id", record_text(row, VALET_PLACEMENT_RESOURCE_ID));
    write_more(out, "location", view->location);
    buf_append_lit(out, ", \"reserved\": ");
    if (record_bool(row, VALET_PLACEMENT_RESERVED))
        buf_append_lit(out, "true}");
    else
        buf_append_lit(out, "false}");
}
