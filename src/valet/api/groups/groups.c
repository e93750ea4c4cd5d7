/* /v1/groups and /v1/groups/{group_id} (Valet spec, 4.3 to 4.5 and 4.9). */
#include "api/charge.h"
#include "api/request_id.h"
#include "api/write.h"
#include "query/budget.h"
#include "valet/api/body.h"
#include "valet/api/body_schemas.h"
#include "valet/api/groups/group_view.h"
#include "valet/api/handlers.h"
#include "valet/api/ids.h"
#include "valet/write/plan_groups.h"

enum { STEPS_OF_A_GROUP = 60, STEPS_OF_A_MEMBER = 20 }; /* in addition to its text */

static bool take_steps(struct budget *budget, const struct group_view *view)
{
    return budget_take(budget, STEPS_OF_A_GROUP + STEPS_OF_A_MEMBER * (int64_t)view->member_count);
}

enum api_step handle_valet_groups_list(struct api_request *request)
{
    struct buf *out = api_out(request);
    struct budget budget = api_budget(request);
    size_t counted = 0;
    const struct valet_group *group;
    buf_append_lit(out, "{\"groups\": [");
    for (int64_t id = 0; (group = version_next_valet_group(request->version, id)) != NULL;
         id = group->record.id) {
        if (id != 0)
            buf_append_lit(out, ", ");
        struct group_view view = group_view_of(request->version, group, NULL, 0, request->arena);
        if (!take_steps(&budget, &view))
            return api_start_over(request);
        group_view_write(out, &view);
        if (!api_charge_text(request, &budget, &counted))
            return api_start_over(request);
    }
    buf_append_lit(out, "]}");
    api_answer_json(request, 0);
    return API_DONE;
}

enum api_step handle_valet_group_show(struct api_request *request)
{
    struct buf *out = api_out(request);
    const struct valet_group *group = ids_group(request);
    if (group == NULL)
        return API_DONE;
    struct budget budget = api_budget(request);
    struct group_view view = group_view_of(request->version, group, NULL, 0, request->arena);
    if (!take_steps(&budget, &view))
        return api_over_budget(request);
    buf_append_lit(out, "{\"group\": ");
    group_view_write(out, &view);
    buf_append_lit(out, "}");
    api_answer_json(request, 0);
    return API_DONE;
}

void finish_valet_group(struct api_request *request)
{
    if (err_is_set(&request->err))
        return;
    group_view_write(api_out(request), request->state);
    request->status = 201;
    api_answer_json(request, 0);
}

void finish_valet_empty(struct api_request *request)
{
    if (!err_is_set(&request->err))
        api_answer_empty(request, 204);
}

static bool groups_plan_create(struct pipeline_request *write, const struct plan *plan)
{
    const struct group_view *view = api_request_of(write)->state;
    const struct plan_group group = {view->uuid, view->name, view->description};
    return plan_group_create(&group, plan, &write->err);
}

enum api_step handle_valet_group_create(struct api_request *request)
{
    struct group_view *view = arena_zalloc(request->arena, sizeof(*view));
    json_t *body = body_read(request);
    if (body == NULL || !body_check(body, &BODY_GROUP_CREATE, &request->err))
        return API_DONE;
    view->name = body_text(body, "name");
    view->description = body_text(body, "description");
    char *uuid = arena_alloc(request->arena, UUID_LEN);
    uuid_generate_text(uuid);
    view->uuid = (struct slice){uuid, UUID_LEN};
    if (view->description.data == NULL)
        view->description = SLICE_LIT("");
    request->state = view;
    request->write->plan = groups_plan_create;
    return API_WRITE;
}

static bool plan_describe(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    struct slice description = *(const struct slice *)request->state;
    if (!plan_group_describe(request->args[0], description, plan, &write->err))
        return false;
    struct group_view view =
        group_view_of(plan->version, version_valet_group_by_uuid(plan->version, request->args[0]),
                      NULL, 0, plan->arena);
    view.description = description;
    request->state = group_view_copy(&view, request->arena);
    return true;
}

enum api_step handle_valet_group_update(struct api_request *request)
{
    struct slice *description = arena_zalloc(request->arena, sizeof(*description));
    if (ids_group(request) == NULL)
        return API_DONE;
    json_t *body = body_read(request);
    if (body == NULL || !body_check(body, &BODY_GROUP_UPDATE, &request->err))
        return API_DONE;
    *description = body_text(body, "description");
    request->state = description;
    request->write->plan = plan_describe;
    return API_WRITE;
}

static bool groups_plan_delete(struct pipeline_request *write, const struct plan *plan)
{
    return plan_group_delete(api_request_of(write)->args[0], plan, &write->err);
}

enum api_step handle_valet_group_delete(struct api_request *request)
{
    if (ids_group(request) == NULL)
        return API_DONE;
    request->write->plan = groups_plan_delete;
    return API_WRITE;
}
