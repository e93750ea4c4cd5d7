/* /v1/groups/{group_id}/members and below (Valet spec, 4.6 to 4.8). */
#include "api/api.h"
#include "api/schema/body_schema.h"
#include "api/text/uuid_like.h"
#include "api/write.h"
#include "base/hex.h"
#include "keystone/projects.h"
#include "valet/api/body.h"
#include "valet/api/body_schemas.h"
#include "valet/api/groups/group_view.h"
#include "valet/api/handlers.h"
#include "valet/api/ids.h"
#include "valet/write/plan_groups.h"

enum { UUID_DIGITS = 32 };

/* The members in a body, and Keystone's answer about them. */
struct addition {
    struct slice *projects;
    size_t count;
    struct api_request *request;
    enum keystone_verdict verdict; /* PENDING: not requested yet, or no answer yet */
    size_t unknown;                /* REFUSED: the index of the unknown one */
};

static bool is_digits(struct slice text)
{
    if (text.len != UUID_DIGITS)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (hex_value(text.data[i]) < 0)
            return false;
    return true;
}

static bool is_uuid(struct slice text)
{
    return uuid_like_is_dashed(text) || is_digits(text);
}

static bool refuse_member(struct slice member, struct err *err)
{
    return err_set_join(err, 409, NULL, SLICE_LIT("There is no tenant "), member);
}

static bool read_members(struct api_request *request, struct addition *addition)
{
    struct err *err = &request->err;
    json_t *body = body_read(request);
    if (body == NULL || !body_check(body, &BODY_MEMBERS, err))
        return false;
    const json_t *list = json_object_get(body, "members");
    addition->count = json_array_size(list);
    addition->projects = arena_array(request->arena, addition->count, sizeof(struct slice));
    for (size_t i = 0; i < addition->count; i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_string(item))
            return err_set(err, 409, NULL, "A member that is not a string is no tenant.");
        addition->projects[i] = body_schema_text(item);
    }
    return true;
}

/* Without Keystone it is unknown which projects exist. */
static bool check_forms(struct api_request *request, const struct addition *addition)
{
    for (size_t i = 0; i < addition->count; i++)
        if (!is_uuid(addition->projects[i]) &&
            !slice_equal(addition->projects[i], request->identity.project_id))
            return refuse_member(addition->projects[i], &request->err);
    return true;
}

/* On Keystone's thread. */
static void on_projects_answer(void *cls, enum keystone_verdict verdict, size_t unknown)
{
    struct addition *addition = cls;
    addition->verdict = verdict;
    addition->unknown = unknown;
    api_resume(addition->request);
}

static bool check_answer(struct api_request *request, const struct addition *addition)
{
    if (addition->verdict == KEYSTONE_ACCEPTED)
        return true;
    if (addition->verdict == KEYSTONE_REFUSED)
        return refuse_member(addition->projects[addition->unknown], &request->err);
    return err_set(&request->err, 503, NULL,
                   "Keystone does not say whether the members are tenants. Ask again later.");
}

static bool plan_add(struct pipeline_request *write, const struct plan *plan)
{
    struct api_request *request = api_request_of(write);
    const struct addition *addition = request->state;
    struct planned_members planned;
    if (!plan_group_add_members(request->args[0], addition->projects, addition->count, plan,
                                &planned, &write->err))
        return false;
    struct group_view view =
        group_view_of(plan->version, version_valet_group_by_uuid(plan->version, request->args[0]),
                      planned.added, planned.count, plan->arena);
    request->state = group_view_copy(&view, request->arena);
    return true;
}

static enum api_step write_members(struct api_request *request)
{
    request->write->plan = plan_add;
    return API_WRITE;
}

/* Runs a second time after Keystone has answered. */
enum api_step handle_valet_members_add(struct api_request *request)
{
    struct addition *addition = request->state;
    if (ids_group(request) == NULL)
        return API_DONE;
    if (addition != NULL)
        return check_answer(request, addition) ? write_members(request) : API_DONE;
    addition = arena_zalloc(request->arena, sizeof(*addition));
    *addition = (struct addition){.request = request, .verdict = KEYSTONE_PENDING};
    if (!read_members(request, addition))
        return API_DONE;
    request->state = addition;
    if (request->api->keystone == NULL)
        return check_forms(request, addition) ? write_members(request) : API_DONE;
    if (addition->count == 0)
        return write_members(request);
    keystone_projects_check(request->api->keystone, addition->projects, addition->count,
                            api_outgoing_request_id(request), request->arena, on_projects_answer,
                            addition);
    return API_AGAIN;
}

/* args[1] is the member; on the route without one data == NULL: all members. */
static bool plan_remove(struct pipeline_request *write, const struct plan *plan)
{
    const struct api_request *request = api_request_of(write);
    return plan_group_remove_members(request->args[0], request->args[1], plan, &write->err);
}

enum api_step handle_valet_members_delete(struct api_request *request)
{
    if (ids_group(request) == NULL)
        return API_DONE;
    request->write->plan = plan_remove;
    return API_WRITE;
}

enum api_step handle_valet_member_verify(struct api_request *request)
{
    const struct valet_group *group = ids_group(request);
    if (group != NULL && ids_member(request, group) != NULL)
        api_answer_empty(request, 204);
    return API_DONE;
}

enum api_step handle_valet_member_delete(struct api_request *request)
{
    const struct valet_group *group = ids_group(request);
    if (group == NULL || ids_member(request, group) == NULL)
        return API_DONE;
    request->write->plan = plan_remove;
    return API_WRITE;
}
