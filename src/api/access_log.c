/* The request line of the Python service, which log shippers parse. Written once the answer is out.
 */
#include "api/access_log.h"

#include "base/clock.h"
#include "base/log.h"

static void append_part(struct buf *line, struct slice part)
{
    if (part.data == NULL || part.len == 0)
        buf_append_char(line, '-');
    else
        buf_append_slice(line, part);
}

/* [GLOBAL LOCAL USER PROJECT DOMAIN SCOPE USER-DOMAIN PROJECT-DOMAIN], as oslo.context prints it.
 */
static void append_context(const struct api_request *request, struct buf *line)
{
    const struct identity *who = &request->identity;
    if (request->global_id.data == NULL)
        buf_append_lit(line, "None");
    else
        buf_append_slice(line, request->global_id);
    const struct slice parts[] = {
        {request->request_id, REQUEST_ID_LEN},
        who->user_id,
        who->project_id,
        who->domain_id,
        who->system_scope,
        who->user_domain_id,
        who->project_domain_id,
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        buf_append_char(line, ' ');
        append_part(line, parts[i]);
    }
}

void access_log_write(const struct api_request *request)
{
    struct buf context = {0};
    struct buf text = {0};
    append_context(request, &context);
    buf_append_slice(&text, request->origin.address);
    buf_append_lit(&text, " \"");
    buf_append_slice(&text, request->http->method);
    buf_append_char(&text, ' ');
    buf_append_slice(&text, request->mount);
    buf_append_slice(&text, request->path);
    if (request->query.len > 0) {
        buf_append_char(&text, '?');
        buf_append_slice(&text, request->query);
    }
    buf_append_lit(&text, "\" status: ");
    buf_append_int(&text, request->status);
    buf_append_lit(&text, " len: ");
    buf_append_int(&text, (int64_t)request->http->out.len);
    buf_append_lit(&text, " microversion: ");
    if (request->has_minor) {
        buf_append_lit(&text, "1.");
        buf_append_int(&text, request->minor);
    } else {
        buf_append_char(&text, '-');
    }
    uint64_t took_us = clock_monotonic_us() - request->http->started_us;
    if (request->api->slow_request_us > 0 && took_us >= request->api->slow_request_us)
        log_write(LOG_LEVEL_WARNING, "berth.slow", buf_slice(&context), "took %llu ms: %.*s",
                  (unsigned long long)(took_us / 1000), SLICE_ARG(buf_slice(&text)));
    log_gather("placement.requestlog", buf_slice(&context), buf_slice(&text));
    buf_free(&context);
    buf_free(&text);
}
