/* The request line of the Python service, which log shippers parse. Written once the answer is out.
 */
#include "api/access_log.h"

#include "base/clock.h"
#include "base/log.h"

/* A line is joined from parts in the request's arena. */
struct parts {
    struct slice texts[24];
    unsigned count;
};

static void add(struct parts *parts, struct slice text)
{
    check(parts->count < sizeof(parts->texts) / sizeof(parts->texts[0]));
    parts->texts[parts->count++] = text;
}

static void add_number(struct parts *parts, struct arena *arena, int64_t number)
{
    char *digits = arena_alloc(arena, DECIMAL_MAX);
    add(parts, (struct slice){digits, decimal_write(digits, number)});
}

/* [GLOBAL LOCAL USER PROJECT DOMAIN SCOPE USER-DOMAIN PROJECT-DOMAIN], as oslo.context prints it.
 */
static struct slice context_text(const struct api_request *request)
{
    const struct identity *who = &request->identity;
    const struct slice words[] = {
        {request->request_id, REQUEST_ID_LEN},
        who->user_id,
        who->project_id,
        who->domain_id,
        who->system_scope,
        who->user_domain_id,
        who->project_domain_id,
    };
    struct parts parts = {.count = 0};
    add(&parts, request->global_id.data == NULL ? SLICE_LIT("None") : request->global_id);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].len == 0) {
            add(&parts, SLICE_LIT(" -"));
            continue;
        }
        add(&parts, SLICE_LIT(" "));
        add(&parts, words[i]);
    }
    return arena_join(request->arena, parts.texts, parts.count);
}

static struct slice line_text(const struct api_request *request)
{
    struct parts parts = {.count = 0};
    add(&parts, request->origin.address);
    add(&parts, SLICE_LIT(" \""));
    add(&parts, request->http->method);
    add(&parts, SLICE_LIT(" "));
    add(&parts, request->mount);
    add(&parts, request->path);
    if (request->query.len > 0) {
        add(&parts, SLICE_LIT("?"));
        add(&parts, request->query);
    }
    add(&parts, SLICE_LIT("\" status: "));
    add_number(&parts, request->arena, request->status);
    add(&parts, SLICE_LIT(" len: "));
    add_number(&parts, request->arena, (int64_t)request->http->out.len);
    add(&parts, SLICE_LIT(" microversion: "));
    if (request->has_minor) {
        add(&parts, SLICE_LIT("1."));
        add_number(&parts, request->arena, request->minor);
    } else {
        add(&parts, SLICE_LIT("-"));
    }
    return arena_join(request->arena, parts.texts, parts.count);
}

static void warn(const struct api_request *request, uint64_t took_us)
{
    struct slice line = line_text(request);
    log_write(LOG_LEVEL_WARNING, "berth.slow", context_text(request), "took %llu ms: %.*s",
              (unsigned long long)(took_us / 1000), SLICE_ARG(line));
}

void access_log_write(const struct api_request *request)
{
    uint64_t slow_us = request->api->slow_request_us;
    if (slow_us > 0) {
        uint64_t took_us = clock_monotonic_us() - request->http->started_us;
        if (took_us >= slow_us)
            warn(request, took_us);
    }
    if (request->api->access_log)
        log_gather("placement.requestlog", context_text(request), line_text(request));
}
