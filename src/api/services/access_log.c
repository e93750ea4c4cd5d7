/* The Python service's log lines about each request, which log shippers parse: at DEBUG its arrival
 * and, once the answer has been sent, at INFO its result. Worker threads. */
#include "api/services/access_log.h"

#include "api/api.h"
#include "api/definition.h"
#include "base/arena.h"
#include "base/clock.h"

struct log_context access_log_context(const struct api_request *request)
{
    const struct identity *who = &request->identity;
    return (struct log_context){
        .request_id = {request->request_id, REQUEST_ID_LEN},
        .global_request_id = request->global_id,
        .user_id = who->user_id,
        .user_name = who->names.user,
        .user_domain_id = who->user_domain_id,
        .user_domain_name = who->names.user_domain,
        .project_id = who->project_id,
        .project_name = who->names.project,
        .project_domain_id = who->project_domain_id,
        .project_domain_name = who->names.project_domain,
        .domain_id = who->domain_id,
        .domain_name = who->names.domain,
        .system_scope = who->system_scope,
        .roles = who->roles.names,
        .role_count = who->roles.count,
        .has_token = who->user_id.data != NULL,
    };
}

enum { TARGET_PARTS = 8, URI_AT = 4, URI_PARTS = 4 };

/* ADDRESS "METHOD URI, without the closing quote. */
static void set_target(const struct api_request *request, struct slice parts[TARGET_PARTS])
{
    parts[0] = request->origin.address;
    parts[1] = SLICE_LIT(" \"");
    parts[2] = request->http->method;
    parts[3] = SLICE_LIT(" ");
    parts[4] = request->mount;
    parts[5] = request->path;
    parts[6] = request->query.len > 0 ? SLICE_LIT("?") : SLICE_LIT("");
    parts[7] = request->query;
}

static void claim_roles(const struct api_request *request, struct log_context *context)
{
    enum { ROLES_MAX = 64 };
    struct slice rest = http_request_header(request->http, "X-Roles");
    struct slice *roles = arena_array(request->arena, ROLES_MAX, sizeof(*roles));
    context->role_count = 0;
    while (rest.len > 0 && context->role_count < ROLES_MAX)
        roles[context->role_count++] = slice_trim(slice_cut(&rest, ','));
    context->roles = roles;
}

/* The identity that a caller claims in headers, which noauth2 trusts. */
static struct log_context claimed_context(const struct api_request *request)
{
    const struct http_exchange *http = request->http;
    struct log_context context = access_log_context(request);
    context.user_id = http_request_header(http, "X-User-Id");
    context.user_name = http_request_header(http, "X-User-Name");
    context.user_domain_id = http_request_header(http, "X-User-Domain-Id");
    context.user_domain_name = http_request_header(http, "X-User-Domain-Name");
    context.project_id = http_request_header(http, "X-Project-Id");
    if (context.project_id.data == NULL)
        context.project_id = http_request_header(http, "X-Tenant-Id");
    context.project_name = http_request_header(http, "X-Project-Name");
    context.project_domain_id = http_request_header(http, "X-Project-Domain-Id");
    context.project_domain_name = http_request_header(http, "X-Project-Domain-Name");
    context.domain_id = http_request_header(http, "X-Domain-Id");
    context.domain_name = http_request_header(http, "X-Domain-Name");
    context.system_scope = http_request_header(http, "OpenStack-System-Scope");
    context.has_token = http_request_header(http, "X-Auth-Token").len > 0;
    claim_roles(request, &context);
    return context;
}

void access_log_begin(const struct api_request *request)
{
    static const struct log_argument ARGUMENTS[] = {
        {NULL, 1, 1, false}, {NULL, 3, 1, false}, {NULL, 1 + URI_AT, URI_PARTS, false}};
    if (!request->api->access_log || !log_is_enabled(LOG_LEVEL_DEBUG, request->definition->logger))
        return;
    struct slice parts[1 + TARGET_PARTS + 1] = {SLICE_LIT("Starting request: ")};
    set_target(request, parts + 1);
    parts[1 + TARGET_PARTS] = SLICE_LIT("\"");
    struct log_context context =
        request->api->keystone == NULL ? claimed_context(request) : access_log_context(request);
    const struct log_message message = {
        .parts = parts,
        .part_count = sizeof(parts) / sizeof(parts[0]),
        .format = "Starting request: %s \"%s %s\"",
        .arguments = ARGUMENTS,
        .argument_count = sizeof(ARGUMENTS) / sizeof(ARGUMENTS[0]),
    };
    log_gather(LOG_LEVEL_DEBUG, request->definition->logger, &context, &message);
}

/* The line about an answer, with a buffer for its digits. */
struct outcome {
    struct slice parts[TARGET_PARTS + 6];
    struct log_message message;
    char status[DECIMAL_MAX];
    char length[DECIMAL_MAX];
    char version[2 + DECIMAL_MAX];
};

static struct slice number(char *digits, int64_t value)
{
    return (struct slice){digits, decimal_write(digits, value)};
}

static void set_outcome(const struct api_request *request, struct outcome *outcome)
{
    enum { STATUS = TARGET_PARTS + 1, LENGTH = STATUS + 2, VERSION = LENGTH + 2 };
    static const struct log_argument ARGUMENTS[] = {{"REMOTE_ADDR", 0, 1, false},
                                                    {"REQUEST_METHOD", 2, 1, false},
                                                    {"REQUEST_URI", URI_AT, URI_PARTS, false},
                                                    {"status", STATUS, 1, false},
                                                    {"bytes", LENGTH, 1, false},
                                                    {"microversion", VERSION, 1, true}};
    struct slice *parts = outcome->parts;
    set_target(request, parts);
    parts[STATUS - 1] = SLICE_LIT("\" status: ");
    parts[STATUS] = number(outcome->status, request->status);
    parts[LENGTH - 1] = SLICE_LIT(" len: ");
    bool sent = !slice_equal(request->http->method, SLICE_LIT("HEAD"));
    parts[LENGTH] = number(outcome->length, sent ? (int64_t)api_body_bytes(request) : 0);
    parts[VERSION - 1] = SLICE_LIT(" microversion: ");
    parts[VERSION] = SLICE_LIT("-");
    if (request->has_minor) {
        memcpy(outcome->version, "1.", 2);
        parts[VERSION] = number(outcome->version + 2, request->minor);
        parts[VERSION] = (struct slice){outcome->version, parts[VERSION].len + 2};
    }
    outcome->message = (struct log_message){
        .parts = parts,
        .part_count = VERSION + 1,
        .format = "%(REMOTE_ADDR)s \"%(REQUEST_METHOD)s %(REQUEST_URI)s\" status: %(status)s "
                  "len: %(bytes)s microversion: %(microversion)s",
        .arguments = ARGUMENTS,
        .argument_count = sizeof(ARGUMENTS) / sizeof(ARGUMENTS[0]),
    };
}

static void access_log_warn(const struct api_request *request, const struct log_context *context,
                            const struct outcome *outcome, uint64_t took_us)
{
    char took[DECIMAL_MAX];
    const struct slice parts[] = {
        SLICE_LIT("took "), number(took, (int64_t)(took_us / 1000)), SLICE_LIT(" ms: "),
        arena_join(request->arena, outcome->message.parts, outcome->message.part_count)};
    const struct log_message message = {.parts = parts,
                                        .part_count = sizeof(parts) / sizeof(parts[0])};
    log_gather(LOG_LEVEL_WARNING, "berth.slow", context, &message);
}

void access_log_write(const struct api_request *request)
{
    uint64_t slow_us = request->api->slow_request_us;
    uint64_t took_us = slow_us > 0 ? clock_monotonic_us() - request->http->started_us : 0;
    bool slow = slow_us > 0 && took_us >= slow_us;
    if (!slow && !request->api->access_log)
        return;
    struct outcome outcome;
    struct log_context context = access_log_context(request);
    set_outcome(request, &outcome);
    if (slow)
        access_log_warn(request, &context, &outcome, took_us);
    if (request->api->access_log)
        log_gather(LOG_LEVEL_INFO, request->definition->logger, &context, &outcome.message);
}
