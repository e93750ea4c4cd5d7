/* The Valet API: up to the first line break a raw path, after it a body. A path is decoded segment
 * by segment; a body is either refused with a short text or readable. */
#include "api/api.h"
#include "api/text/query_string.h"
#include "base/arena.h"
#include "fuzz.h"
#include "valet/api/body.h"
#include "valet/api/body_schemas.h"
#include "valet/api/fault.h"
#include "valet/api/handlers.h"
#include "valet/api/path.h"
#include "world.h"

enum { SAID_MAX = 1 << 16 };

static struct slice next_line(struct slice *rest)
{
    return slice_cut(rest, '\n');
}

static unsigned count_slashes(struct slice text)
{
    unsigned count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.data[i] == '/';
    return count;
}

static void check_path(struct api_request *request, struct slice raw)
{
    request->raw_path = raw;
    if (raw.len > 1 && raw.data[raw.len - 1] == '/')
        raw.len--;
    struct slice path = valet_path(request);
    check(slice_equal(percent_decode(request->arena, path, false),
                      percent_decode(request->arena, raw, false)));
    check(count_slashes(path) == count_slashes(raw));
}

static void check_said(struct err *err, struct arena *arena)
{
    check(err->status == 400 && err->message.len > 0 && err->message.len < SAID_MAX);
    *err = (struct err){.arena = arena};
}

/* Each schema accepts or refuses any body, and accepted bodies are within limits. */
static void check_members(json_t *body, struct arena *arena)
{
    static const struct schema *const SCHEMAS[] = {
        &BODY_GROUP_CREATE, &BODY_GROUP_UPDATE, &BODY_MEMBERS,      &BODY_PLAN_CREATE,
        &BODY_PLAN_ACTION,  &BODY_PLAN_UPDATE,  &BODY_PLAN_MIGRATE, &BODY_RESERVE};
    struct err err = {.arena = arena};
    for (size_t i = 0; i < sizeof(SCHEMAS) / sizeof(SCHEMAS[0]); i++)
        if (!body_check(body, SCHEMAS[i], &err))
            check_said(&err, arena);
        else
            check(text_is_utf8(body_text(body, "name")) && body_text(body, "action").len <= 255);
}

/* The handler either submits a write or refuses the body with a 400. */
static void check_create(struct fuzz_request *r)
{
    struct api_request *request = &r->request;
    enum api_step step = handle_valet_group_create(request);
    check((step == API_WRITE) == !err_is_set(&request->err));
    if (step == API_WRITE)
        return;
    check(request->err.status == 400 && request->err.message.len < SAID_MAX);
    valet_write_fault(request);
    json_t *answer = json_loadb(api_out(request)->data, api_out(request)->len, 0, NULL);
    check(answer != NULL && json_integer_value(json_object_get(answer, "code")) == 400);
    json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct api API = {0};
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    struct fuzz_request r;
    struct api_request *request = fuzz_request_begin(&r, arena, &API, 0);
    struct slice rest = {(const char *)data, size};
    check_path(request, next_line(&rest));
    request->http->body = rest;
    json_t *body = body_parse(rest, NULL, &err);
    if (body == NULL)
        check_said(&err, arena);
    else
        check_members(body, arena);
    json_decref(body);
    check_create(&r);
    fuzz_request_end(&r);
    arena_destroy(arena);
    return 0;
}
