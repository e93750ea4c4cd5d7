/* GET and HEAD /v1/status (Valet spec, section 5): this request itself reads the database and
 * searches for a plan. The database is checked in the way of health checks, so that the answer
 * comes even if the database does not answer. */
#include "api/api.h"
#include "api/charge.h"
#include "api/request.h"
#include "api/services/access_log.h"
#include "api/services/readiness.h"
#include "api/services/thread_reader.h"
#include "base/json_write.h"
#include "log/log.h"
#include "valet/api/handlers.h"
#include "valet/api/planner_check.h"
#include "valet/api/valet_settings.h"

/* Kept between the two runs of the handler. */
struct asking {
    struct readiness_wait wait; /* must be first: readiness hands it back */
    struct api_request *request;
};

struct subsystem {
    const char *name;
    bool is_ok;
    struct slice message;
    const char *resources; /* JSON */
};

static void reported(struct readiness_wait *wait)
{
    api_resume(((struct asking *)wait)->request);
}

/* What planning needs of the database: it is available, with a known schema, and memory is up to
 * date with it. */
static struct subsystem store_of(const struct readiness_report *report, struct arena *arena)
{
    static const enum readiness_check NEEDED[] = {READINESS_DATABASE, READINESS_SCHEMA,
                                                  READINESS_REPLICA};
    struct subsystem store = {.name = "store", .is_ok = true, .resources = "{}"};
    const char *message = report->findings[READINESS_REPLICA].text;
    for (unsigned i = 0; i < 3 && store.is_ok; i++) {
        store.is_ok = report->findings[NEEDED[i]].is_ok;
        if (!store.is_ok)
            message = report->findings[NEEDED[i]].text;
    }
    store.message = arena_copy(arena, slice_of(message));
    return store;
}

/* False: it is too much for a worker. On the slow lane a version is pinned already. */
static bool ask_planner(struct api_request *request, struct subsystem *planner)
{
    struct budget budget = api_budget(request);
    bool is_slow = api_is_on_slow_lane(request);
    struct replica_reader *reader = thread_reader(request->api->replica);
    const struct version *version = is_slow ? request->version : replica_pin(reader);
    *planner = (struct subsystem){.name = "ostro", .resources = "{\"ip\": \"127.0.0.1\"}"};
    enum planner_state state =
        planner_check(version, valet_conf(request), request->arena, &budget, &planner->message);
    planner->is_ok = state == PLANNER_WORKS;
    if (!is_slow)
        replica_unpin(reader);
    return state != PLANNER_EXPENSIVE;
}

static void write_subsystem(struct buf *out, const struct subsystem *subsystem)
{
    buf_printf(out, "\"%s\": {\"status\": {\"type\": \"%s\", \"message\": ", subsystem->name,
               subsystem->is_ok ? "ok" : "error");
    json_write_string(out, subsystem->message);
    buf_printf(out, "}, \"resources\": %s}", subsystem->resources);
}

/* Names every subsystem that does not work; the reasons are only for operators. */
static void status_refuse(struct api_request *request, const struct subsystem *all, unsigned count)
{
    struct log_context context = access_log_context(request);
    struct buf text = {0};
    buf_append_lit(&text, "Not working: ");
    for (unsigned i = 0, written = 0; i < count; i++) {
        if (all[i].is_ok)
            continue;
        buf_printf(&text, "%s%s", written++ > 0 ? ", " : "", all[i].name);
        log_write(LOG_LEVEL_WARNING, "berth.valet", &context, "%s does not work: %.*s", all[i].name,
                  SLICE_ARG(all[i].message));
    }
    err_set_text(&request->err, 500, NULL, arena_copy(request->arena, buf_slice(&text)));
    buf_free(&text);
}

static enum api_step status_answer(struct api_request *request,
                                   const struct readiness_report *report)
{
    struct subsystem all[2] = {[1] = store_of(report, request->arena)};
    struct buf *out = api_out(request);
    if (!ask_planner(request, &all[0]))
        return api_over_budget(request);
    if (!all[0].is_ok || !all[1].is_ok) {
        status_refuse(request, all, 2);
        return API_DONE;
    }
    buf_append_lit(out, "{\"status\": {");
    write_subsystem(out, &all[0]);
    buf_append_lit(out, ", ");
    write_subsystem(out, &all[1]);
    buf_append_lit(out, "}}");
    api_answer_json(request, 0);
    return API_DONE;
}

/* It pins a version itself, after the check of the database: following the database first could
 * wait forever. */
enum api_step handle_valet_status_show(struct api_request *request)
{
    struct asking *asking = request->state;
    if (asking != NULL)
        return status_answer(request, &asking->wait.report);
    asking = arena_zalloc(request->arena, sizeof(*asking));
    asking->request = request;
    asking->wait.is_fresh = true;
    asking->wait.done = reported;
    request->state = asking;
    readiness_ask(request->api->readiness, &asking->wait);
    return API_AGAIN;
}
