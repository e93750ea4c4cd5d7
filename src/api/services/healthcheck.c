/* Answers as oslo.middleware's healthcheck does (observed with 5.0.0: status, type and body, byte
 * by byte; newer options follow its documentation). It runs before everything else: no token, no
 * version, no line in the request log.
 *
 * Results are those of the configured backends, in their order, and one of berth's own, which is
 * shown if it is bad, if there is no other, or in detail. Python's details about its own process
 * (threads, garbage collector) are not provided. Worker threads. */
#include "api/services/healthcheck.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "api/api.h"
#include "api/definition.h"
#include "api/passage.h"
#include "api/services/readiness.h"
#include "api/text/accept.h"
#include "api/text/html_text.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "conf/address_range.h"
#include "conf/healthcheck.h"

enum { HOST_NAME_BYTES = 256 };

static const char SERVER[] = "berthd " BERTH_VERSION;

struct result {
    bool is_ok;
    struct slice reason;
    struct slice details;
};

struct results {
    struct result items[CONF_HEALTH_BACKENDS_MAX + 1];
    unsigned count;
    bool are_ok;
};

static bool exists(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0;
}

/* Whether the path of the raw target ends there. */
static inline bool ends_at(const struct slice *target, size_t len)
{
    return target->len == len || (target->len > len && target->data[len] == '?');
}

/* Called for every request: most fail at the position where their path would have to end. */
static bool path_matches(const struct api_request *request)
{
    const struct api_endpoint *endpoint = request->endpoint;
    const struct slice *target = &request->http->target;
    const struct slice *path = &request->api->healthcheck->path;
    if (ends_at(target, path->len) && slice_starts_with(*target, *path))
        return true;
    for (unsigned i = 0; i < endpoint->mount_prefix_count; i++) {
        const struct slice *prefix = &endpoint->mount_prefixes[i];
        if (ends_at(target, prefix->len + path->len) && slice_starts_with(*target, *prefix) &&
            slice_starts_with(slice_skip(*target, prefix->len), *path))
            return true;
    }
    return false;
}

static bool source_is_allowed(const struct api_request *request)
{
    const struct conf_healthcheck *settings = request->api->healthcheck;
    for (size_t i = 0; i < settings->source_range_count; i++)
        if (address_range_has(&settings->source_ranges[i], request->http->peer))
            return true;
    return settings->source_range_count == 0;
}

static bool was_proxied(const struct api_request *request)
{
    static const char *const HEADERS[] = {"Forwarded",         "X-Forwarded",
                                          "X-Forwarded-For",   "X-Forwarded-Host",
                                          "X-Forwarded-Proto", "X-Forwarded-Prefix"};
    for (size_t i = 0; i < sizeof(HEADERS) / sizeof(HEADERS[0]); i++)
        if (http_request_header(request->http, HEADERS[i]).len > 0)
            return true;
    return false;
}

bool healthcheck_is_requested(const struct api_request *request)
{
    const struct conf_healthcheck *settings = request->api->healthcheck;
    return settings != NULL && settings->is_enabled && path_matches(request) &&
           request->http->fault == HTTP_FAULT_NONE && source_is_allowed(request) &&
           !(settings->ignores_proxied && was_proxied(request));
}

/* Stored in request->state. */
struct checking {
    struct readiness_wait wait;
    struct http_exchange *http;
};

static void reported(struct readiness_wait *wait)
{
    http_resume(((struct checking *)wait)->http);
}

void healthcheck_begin(struct api_request *request)
{
    struct checking *checking = arena_zalloc(request->arena, sizeof(*checking));
    checking->wait.done = reported;
    checking->http = request->http;
    request->state = checking;
    request->passage->phase = PHASE_CHECKING;
    readiness_ask(request->api->readiness, &checking->wait);
}

static void healthcheck_add(struct results *results, bool is_ok, struct slice reason,
                            struct slice details)
{
    results->items[results->count++] = (struct result){is_ok, reason, details};
    results->are_ok = results->are_ok && is_ok;
}

static void add_disabling(struct results *results, const char *path, struct slice details)
{
    bool is_ok = path == NULL || !exists(path);
    healthcheck_add(results, is_ok, is_ok ? SLICE_LIT("OK") : SLICE_LIT("DISABLED BY FILE"),
                    details);
}

static void add_disabling_file(const struct api_request *request, struct results *results)
{
    const char *path = request->api->healthcheck->disable_by_file_path;
    struct slice details =
        path == NULL ? SLICE_LIT("No 'disable_by_file_path' configuration value specified")
                     : arena_printf(request->arena, "Path '%s' was %s", path,
                                    exists(path) ? "found" : "not found");
    add_disabling(results, path, details);
}

static void add_disabling_file_of_port(const struct api_request *request, struct results *results)
{
    const struct conf_healthcheck *settings = request->api->healthcheck;
    const char *path = NULL;
    for (size_t i = 0; i < settings->port_path_count; i++)
        if (settings->port_paths[i].port == request->http->port)
            path = settings->port_paths[i].path;
    add_disabling(results, path, SLICE_LIT(""));
}

static void add_enabling_files(const struct api_request *request, struct results *results)
{
    const struct conf_healthcheck *settings = request->api->healthcheck;
    for (size_t i = 0; i < settings->enable_path_count; i++) {
        const char *path = settings->enable_by_file_paths[i];
        if (exists(path))
            continue;
        healthcheck_add(results, false, SLICE_LIT("FILE PATH MISSING"),
                        arena_printf(request->arena, "File path '%s' is missing", path));
        return;
    }
    healthcheck_add(results, true, SLICE_LIT("OK"), SLICE_LIT(""));
}

static void add_backend(const struct api_request *request, enum conf_health_backend backend,
                        struct results *results)
{
    switch (backend) {
    case CONF_DISABLE_BY_FILE:
        add_disabling_file(request, results);
        break;
    case CONF_DISABLE_BY_FILES_PORTS:
        add_disabling_file_of_port(request, results);
        break;
    default:
        add_enabling_files(request, results);
    }
}

/* States the cause in plain words, and nothing that the public must not see. */
static struct slice failure_of(const struct readiness_report *report)
{
    static const char *const WORDS[READINESS_CHECK_COUNT] = {
        [READINESS_DATABASE] = "DATABASE UNREACHABLE",
        [READINESS_SCHEMA] = "SCHEMA NOT SERVED",
        [READINESS_REPLICA] = "REPLICA BEHIND DATABASE",
        [READINESS_SERVING] = "STOPPING",
    };
    for (int i = 0; i < READINESS_CHECK_COUNT; i++)
        if (!report->findings[i].is_ok)
            return slice_of(WORDS[i]);
    return SLICE_LIT("OK");
}

static void add_own(const struct api_request *request, struct results *results)
{
    const struct readiness_report *report = &((struct checking *)request->state)->wait.report;
    bool is_ready = readiness_is_ready(report);
    if (is_ready && results->count > 0 && !request->api->healthcheck->is_detailed)
        return;
    struct buf details = {0};
    for (int i = 0; i < READINESS_CHECK_COUNT; i++)
        buf_printf(&details, "%s%s: %s", i == 0 ? "" : "; ",
                   readiness_check_name((enum readiness_check)i), report->findings[i].text);
    healthcheck_add(results, is_ready, failure_of(report),
                    arena_copy(request->arena, buf_slice(&details)));
    buf_free(&details);
}

static void healthcheck_write_text(struct buf *out, const struct results *results)
{
    for (unsigned i = 0; i < results->count; i++) {
        if (i > 0)
            buf_append_char(out, '\n');
        buf_append_slice(out, results->items[i].reason);
    }
}

static void append_now(struct buf *out)
{
    char now[CLOCK_ISO_BYTES];
    clock_format_iso(clock_wall_us(), now);
    buf_append_slice(out, slice_of(now));
}

static struct slice platform_text(struct arena *arena)
{
    struct utsname name;
    if (uname(&name) != 0)
        return SLICE_LIT("");
    return arena_printf(arena, "%s-%s-%s-with-glibc%s", name.sysname, name.release, name.machine,
                        gnu_get_libc_version());
}

static void json_member(struct buf *out, const char *indent, const char *name, struct slice value,
                        bool is_last)
{
    buf_printf(out, "%s\"%s\": ", indent, name);
    json_write_string(out, value);
    buf_append_slice(out, is_last ? SLICE_LIT("\n") : SLICE_LIT(",\n"));
}

static void write_json(struct buf *out, const struct results *results, bool is_detailed,
                       struct arena *arena)
{
    buf_printf(out, "{\n    \"detailed\": %s,\n", is_detailed ? "true" : "false");
    if (is_detailed) {
        buf_append_lit(out, "    \"now\": \"");
        append_now(out);
        buf_append_lit(out, "\",\n");
        json_member(out, "    ", "platform", platform_text(arena), false);
    }
    buf_append_lit(out, "    \"reasons\": [\n");
    for (unsigned i = 0; i < results->count; i++) {
        const struct result *result = &results->items[i];
        if (is_detailed) {
            buf_append_lit(out, "        {\n            \"class\": \"HealthcheckResult\",\n");
            json_member(out, "            ", "details", result->details, false);
            json_member(out, "            ", "reason", result->reason, true);
            buf_append_lit(out, "        }");
        } else {
            buf_append_lit(out, "        ");
            json_write_string(out, result->reason);
        }
        buf_append_slice(out, i + 1 < results->count ? SLICE_LIT(",\n") : SLICE_LIT("\n"));
    }
    buf_append_lit(out, "    ]");
    if (is_detailed)
        buf_printf(out, ",\n    \"server\": \"%s\"", SERVER);
    buf_append_lit(out, "\n}");
}

static void html_text(struct buf *out, struct slice text)
{
    html_write_text(out, text, SLICE_LIT("&#34;"), SLICE_LIT("&#39;"));
}

static void html_status(struct buf *out, struct arena *arena)
{
    char host[HOST_NAME_BYTES] = "";
    (void)gethostname(host, sizeof(host) - 1);
    buf_append_lit(out, "<H1>Server status</H1>\n<B>Server hostname:</B><PRE>");
    html_text(out, slice_of(host));
    buf_append_lit(out, "</PRE>\n<B>Current time:</B><PRE>");
    append_now(out);
    buf_printf(out, "</PRE>\n<B>Server:</B><PRE>%s</PRE>\n<B>Platform:</B><PRE>", SERVER);
    html_text(out, platform_text(arena));
    buf_append_lit(out, "</PRE>\n<HR></HR>\n");
}

static void write_html(struct buf *out, const struct results *results, bool is_detailed,
                       struct arena *arena)
{
    buf_append_lit(out, "<HTML>\n<HEAD><TITLE>Healthcheck Status</TITLE></HEAD>\n<BODY>\n");
    if (is_detailed)
        html_status(out, arena);
    else
        buf_append_char(out, '\n');
    buf_printf(out,
               "<H2>Result of %u checks:</H2>\n<TABLE bgcolor=\"#ffffff\" border=\"1\">\n<TBODY>\n"
               "<TR>\n%s\n</TR>\n",
               results->count,
               is_detailed ? "<TH>\nKind\n</TH>\n<TH>\nReason\n</TH>\n<TH>\nDetails\n</TH>\n"
                           : "\n<TH>\nReason\n</TH>");
    for (unsigned i = 0; i < results->count; i++) {
        buf_append_slice(out, is_detailed ? SLICE_LIT("<TR>\n<TD>HealthcheckResult</TD>\n    <TD>")
                                          : SLICE_LIT("<TR>\n\n    <TD>"));
        html_text(out, results->items[i].reason);
        buf_append_slice(out, is_detailed ? SLICE_LIT("</TD>\n<TD>") : SLICE_LIT("</TD>\n"));
        if (is_detailed) {
            html_text(out, results->items[i].details);
            buf_append_lit(out, "</TD>");
        }
        buf_append_lit(out, "\n</TR>");
    }
    buf_append_lit(out, "\n</TBODY>\n</TABLE>\n<HR></HR>\n");
    buf_append_slice(out,
                     is_detailed ? SLICE_LIT("</BODY>\n</HTML>") : SLICE_LIT("\n</BODY>\n</HTML>"));
}

enum form { FORM_TEXT, FORM_HTML, FORM_JSON, FORM_COUNT };

/* The form that the client prefers, of equals the first; text if it accepts none. */
static enum form form_of(const struct api_request *request)
{
    static const char *const TYPES[FORM_COUNT] = {"text/plain", "text/html", "application/json"};
    struct slice accept = http_request_header(request->http, "Accept");
    enum form best = FORM_TEXT;
    unsigned weight = 0;
    for (int i = 0; i < FORM_COUNT; i++) {
        unsigned other = accept_weight(accept, slice_of(TYPES[i]));
        if (other > weight) {
            best = (enum form)i;
            weight = other;
        }
    }
    return best;
}

static void write_body(struct api_request *request, const struct results *results)
{
    struct buf *out = &request->http->out;
    bool is_detailed = request->api->healthcheck->is_detailed;
    switch (form_of(request)) {
    case FORM_HTML:
        write_html(out, results, is_detailed, request->arena);
        http_add_header(request->http, "Content-Type", SLICE_LIT("text/html; charset=UTF-8"));
        return;
    case FORM_JSON:
        write_json(out, results, is_detailed, request->arena);
        http_add_header(request->http, "Content-Type", SLICE_LIT("application/json"));
        return;
    case FORM_TEXT:
    case FORM_COUNT:
        break;
    }
    healthcheck_write_text(out, results);
    http_add_header(request->http, "Content-Type", SLICE_LIT("text/plain; charset=UTF-8"));
}

void healthcheck_answer(struct api_request *request)
{
    const struct conf_healthcheck *settings = request->api->healthcheck;
    struct results results = {.are_ok = true};
    for (unsigned i = 0; i < settings->backend_count; i++)
        add_backend(request, settings->backends[i], &results);
    add_own(request, &results);
    bool is_head = slice_equal(request->http->method, SLICE_LIT("HEAD"));
    request->status = results.are_ok ? (is_head ? 204 : 200) : 503;
    if (is_head)
        http_add_header(request->http, "Content-Type", SLICE_LIT("text/plain; charset=UTF-8"));
    else
        write_body(request, &results);
    request->http->status = request->status;
}
