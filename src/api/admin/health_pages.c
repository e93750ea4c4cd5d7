/* The pages for probes: a line of text for people and shells, or JSON if the client prefers it. Any
 * thread. */
#include "api/admin/admin_internal.h"
#include "api/admin/server_report.h"
#include "api/api.h"
#include "api/services/readiness.h"
#include "api/text/accept.h"
#include "base/json_write.h"

static const char TEXT[] = "text/plain; charset=utf-8";
static const char JSON[] = "application/json";

/* JSON is sent only to clients that prefer it to text. */
static bool wants_json(const struct http_exchange *http)
{
    struct slice accept = http_request_header(http, "Accept");
    return accept_weight(accept, SLICE_LIT("application/json")) >
           accept_weight(accept, SLICE_LIT("text/plain"));
}

void health_write_alive(struct admin *admin, struct http_exchange *http)
{
    struct pipeline_figures figures = pipeline_figures(admin->api->pipeline);
    bool is_alive = readiness_is_alive(&figures);
    double silence_s = (double)figures.silent_us / 1e6;
    if (wants_json(http)) {
        buf_printf(&http->out, "{\"alive\": %s, \"writer_silence_seconds\": %.3f}\n",
                   is_alive ? "true" : "false", silence_s);
        admin_answer(http, is_alive ? 200 : 503, JSON);
        return;
    }
    if (is_alive)
        buf_append_lit(&http->out, "alive\n");
    else
        buf_printf(&http->out, "stuck: the writer has given no sign of life for %.0f s\n",
                   silence_s);
    admin_answer(http, is_alive ? 200 : 503, TEXT);
}

void health_write_checks(const struct readiness_report *report, struct buf *out)
{
    buf_printf(out, "\"ready\": %s, \"checks\": {", readiness_is_ready(report) ? "true" : "false");
    for (int i = 0; i < READINESS_CHECK_COUNT; i++) {
        const struct readiness_finding *finding = &report->findings[i];
        buf_printf(out, "%s\"%s\": {\"ok\": %s, \"detail\": ", i == 0 ? "" : ", ",
                   readiness_check_name((enum readiness_check)i),
                   finding->is_ok ? "true" : "false");
        json_write_string(out, slice_of(finding->text));
        buf_append_char(out, '}');
    }
    buf_append_char(out, '}');
}

void health_write_ready(const struct admin *admin, const struct readiness_report *report,
                        struct http_exchange *http)
{
    bool is_ready = readiness_is_ready(report);
    int status = is_ready ? 200 : 503;
    if (wants_json(http)) {
        buf_append_char(&http->out, '{');
        health_write_checks(report, &http->out);
        server_report_write_json(admin->store, &http->out);
        buf_append_lit(&http->out, "}\n");
        admin_answer(http, status, JSON);
        return;
    }
    buf_append_slice(&http->out, is_ready ? SLICE_LIT("ready\n") : SLICE_LIT("not ready\n"));
    for (int i = 0; i < READINESS_CHECK_COUNT; i++)
        buf_printf(&http->out, "%s: %s (%s)\n", readiness_check_name((enum readiness_check)i),
                   report->findings[i].is_ok ? "ok" : "FAILED", report->findings[i].text);
    server_report_write_text(admin->store, &http->out);
    admin_answer(http, status, TEXT);
}
