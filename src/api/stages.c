/* The steps that all APIs take between a request's arrival and its handler: framing, target, token;
 * then the API's own stages. The first stage that fails sets err. Worker threads. */
#include "api/stages.h"

#include <strings.h>

#include "api/answer.h"
#include "api/api.h"
#include "api/definition.h"
#include "api/passage.h"
#include "api/services/access_log.h"
#include "api/text/query_string.h"
#include "keystone/keystone.h"
#include "log/log.h"

static bool stage_framing(struct api_request *request)
{
    switch (request->http->fault) {
    case HTTP_FAULT_BODY_TOO_LARGE:
        if (request->definition->checks_length_late)
            break;
        return err_set(&request->err, 413, NULL,
                       "The request body is larger than this service accepts.");
    case HTTP_FAULT_SYNTAX:
        return err_set(&request->err, 400, NULL,
                       "The request's first line or its headers are not valid HTTP.");
    case HTTP_FAULT_NO_MEMORY:
        return answer_refuse_memory(request);
    case HTTP_FAULT_FRAMING:
        return err_set(&request->err, 400, NULL,
                       "A request may not have both content-length and transfer-encoding.");
    case HTTP_FAULT_NONE:
        break;
    }
    return true;
}

static bool is_below(struct slice path, struct slice prefix)
{
    return slice_starts_with(path, prefix) &&
           (path.len == prefix.len || path.data[prefix.len] == '/');
}

static void strip(struct api_request *request, size_t len)
{
    request->path = slice_skip(request->path, len);
    request->raw_path = percent_skip(request->raw_path, len);
}

/* Removes the proxy's prefix, if the proxy has left it in the path, and the longest mount prefix.
 * The rest is empty or begins with a slash. Both prefixes are put before hrefs. */
static void strip_mount(struct api_request *request)
{
    struct slice proxied = request->origin.prefix;
    struct slice mounted = {0};
    if (proxied.len > 0 && is_below(request->path, proxied))
        strip(request, proxied.len);
    for (unsigned i = 0; i < request->endpoint->mount_prefix_count; i++) {
        struct slice prefix = request->endpoint->mount_prefixes[i];
        if (prefix.len > mounted.len && is_below(request->path, prefix))
            mounted = prefix;
    }
    strip(request, mounted.len);
    request->mount = mounted;
    if (proxied.len > 0)
        request->mount =
            arena_printf(request->arena, "%.*s%.*s", SLICE_ARG(proxied), SLICE_ARG(mounted));
}

/* Removes "http://AUTHORITY" from a target in absolute form (RFC 9112, 3.2.2) and returns the
 * authority; data == NULL: it has another form. */
static struct slice take_authority(struct slice *target)
{
    struct slice rest = *target;
    if (rest.len >= 7 && strncasecmp(rest.data, "http://", 7) == 0)
        rest = slice_skip(rest, 7);
    else if (rest.len >= 8 && strncasecmp(rest.data, "https://", 8) == 0)
        rest = slice_skip(rest, 8);
    else
        return (struct slice){0};
    struct slice authority = {rest.data, 0};
    while (authority.len < rest.len && rest.data[authority.len] != '/' &&
           rest.data[authority.len] != '?')
        authority.len++;
    *target = slice_skip(rest, authority.len);
    return authority;
}

void stages_read_target(struct api_request *request)
{
    struct slice target = request->http->target;
    struct slice authority = take_authority(&target);
    const char *question_mark = target.len == 0 ? NULL : memchr(target.data, '?', target.len);
    struct slice path = target;
    if (question_mark != NULL) {
        path.len = (size_t)(question_mark - target.data);
        request->query = slice_skip(target, path.len + 1);
    }
    request->raw_path = path;
    request->path = percent_decode(request->arena, path, false);
    request->origin = origin_read(request, request->api->trust_proxies);
    if (authority.len > 0 && !request->api->trust_proxies)
        request->origin.host = authority; /* takes precedence over the Host header */
    strip_mount(request);
    struct slice global = http_request_header(request->http, "X-Openstack-Request-Id");
    if (request_id_is_valid(global))
        request->global_id = global;
}

struct noauth_headers stages_noauth_headers(const struct api_request *request)
{
    return (struct noauth_headers){
        .token = http_request_header(request->http, "X-Auth-Token"),
        .roles = http_request_header(request->http, "X-Roles"),
        .project_id = http_request_header(request->http, "X-Project-Id"),
        .system_scope = http_request_header(request->http, "OpenStack-System-Scope"),
    };
}

static void resume_with_tokens(struct keystone_request *tokens)
{
    http_resume(api_passage_of_tokens(tokens)->request->http);
}

/* The mount that access rules use. It excludes X-Forwarded-Prefix: any client may send that header
 * unless the front server removes it, and could thereby choose the path with which its rules are
 * compared. */
static struct slice mount_of_rules(const struct api_request *request)
{
    struct slice proxied = request->origin.prefix;
    if (proxied.len == 0)
        return request->mount;
    for (unsigned i = 0; i < request->endpoint->mount_prefix_count; i++)
        if (slice_equal(request->endpoint->mount_prefixes[i], proxied))
            return request->mount;
    return slice_skip(request->mount, proxied.len);
}

static void fill_tokens(struct api_request *request)
{
    struct slice token = http_request_header(request->http, "X-Auth-Token");
    if (token.data == NULL)
        token = http_request_header(request->http, "X-Storage-Token");
    request->passage->tokens = (struct keystone_request){
        .service_of_ours = request->definition->service,
        .user_token = token,
        .service_token = http_request_header(request->http, "X-Service-Token"),
        .method = request->http->method,
        .mount = mount_of_rules(request),
        .path = request->path,
        .request_id = api_outgoing_request_id(request),
        .arena = request->arena,
        .done = resume_with_tokens,
    };
}

static void log_refusal(const struct api_request *request)
{
    struct log_context context = access_log_context(request);
    log_write(LOG_LEVEL_DEBUG, "berth.keystone", &context, "the token is refused: %s",
              request->passage->tokens.why);
}

static enum stages_outcome identify_keystone(struct api_request *request)
{
    struct keystone *keystone = request->api->keystone;
    switch (keystone_check(keystone, &request->passage->tokens)) {
    case KEYSTONE_PENDING:
        return STAGES_PENDING;
    case KEYSTONE_ACCEPTED:
        request->identity = request->passage->tokens.identity;
        return STAGES_PASSED;
    case KEYSTONE_REFUSED:
        log_refusal(request);
        request->fault_form = keystone_delays(keystone) ? FAULT_OUTSIDE : FAULT_OF_KEYSTONE;
        (void)err_set(&request->err, 401, NULL, "%s", "");
        return STAGES_FAILED;
    case KEYSTONE_UNAVAILABLE:
        break;
    }
    request->fault_form = FAULT_OUTSIDE;
    (void)err_set(&request->err, 503, NULL, "The Keystone service is temporarily unavailable.");
    return STAGES_FAILED;
}

/* All stages after this one may rely on the identity, unless the path is public. */
static enum stages_outcome stage_token(struct api_request *request)
{
    if (request->definition->is_public(request))
        return STAGES_PASSED;
    if (request->api->keystone != NULL)
        return identify_keystone(request);
    return request->definition->identify(request) ? STAGES_PASSED : STAGES_FAILED;
}

enum stages_outcome stages_identify_again(struct api_request *request)
{
    return stage_token(request);
}

enum stages_outcome stages_identify(struct api_request *request)
{
    if (request->api->keystone != NULL)
        fill_tokens(request);
    return stage_token(request);
}

static enum stages_outcome pass_api(struct api_request *request, enum stages_outcome token)
{
    if (token != STAGES_PASSED)
        return token;
    return request->definition->pass(request) ? STAGES_PASSED : STAGES_FAILED;
}

enum stages_outcome stages_pass_identified(struct api_request *request)
{
    return stage_framing(request) ? pass_api(request, STAGES_PASSED) : STAGES_FAILED;
}

enum stages_outcome stages_go_on(struct api_request *request)
{
    return pass_api(request, stage_token(request));
}

enum stages_outcome stages_pass(struct api_request *request)
{
    return stage_framing(request) ? pass_api(request, stages_identify(request)) : STAGES_FAILED;
}
