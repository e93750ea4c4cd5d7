/* Header values: each line of the input is "LETTER VALUE", where the letter selects the header. All
 * readers of headers read them; an error is written in the format that Accept requests. */
#include "api/api.h"
#include "api/text/accept.h"
#include "api/text/latin1.h"
#include "api/text/query_string.h"
#include "auth/noauth.h"
#include "fuzz.h"
#include "placement/api/fault.h"
#include "placement/api/headers.h"
#include "placement/api/microversion.h"
#include "placement/api/routes.h"
#include "policy/tables.h"
#include "world.h"

static const struct {
    char letter;
    const char *name;
} NAMES[] = {
    {'a', "Accept"},
    {'v', "OpenStack-API-Version"},
    {'t', "X-Auth-Token"},
    {'r', "X-Roles"},
    {'p', "X-Project-Id"},
    {'s', "OpenStack-System-Scope"},
    {'c', "Content-Type"},
    {'h', "Host"},
    {'f', "Forwarded"},
    {'F', "X-Forwarded-For"},
    {'P', "X-Forwarded-Port"},
    {'H', "X-Forwarded-Host"},
    {'S', "X-Forwarded-Proto"},
    {'X', "X-Forwarded-Prefix"},
    {'i', "X-Openstack-Request-Id"},
};

enum { NAME_COUNT = sizeof(NAMES) / sizeof(NAMES[0]) };

static void read_headers(struct fuzz_request *r, struct slice rest)
{
    bool seen[NAME_COUNT] = {false};
    while (rest.len > 0) {
        const char *end = memchr(rest.data, '\n', rest.len);
        struct slice line = rest;
        if (end != NULL)
            line.len = (size_t)(end - rest.data);
        rest = slice_skip(rest, end == NULL ? rest.len : line.len + 1);
        for (unsigned i = 0; i < NAME_COUNT; i++)
            if (line.len >= 2 && line.data[0] == NAMES[i].letter && !seen[i] &&
                memchr(line.data, '\0', line.len) == NULL &&
                memchr(line.data, '\r', line.len) == NULL) {
                seen[i] = true;
                fuzz_request_header(r, NAMES[i].name, slice_skip(line, 2));
            }
    }
}

static void check_identity(const struct api_request *request)
{
    struct noauth_headers headers = {
        .token = http_request_header(request->http, "X-Auth-Token"),
        .roles = http_request_header(request->http, "X-Roles"),
        .project_id = http_request_header(request->http, "X-Project-Id"),
        .system_scope = http_request_header(request->http, "OpenStack-System-Scope"),
    };
    struct identity identity;
    check(noauth_identify(&headers, request->arena, &identity) == (headers.token.data != NULL));
    if (headers.token.data == NULL)
        identity = noauth_admin_identity(); /* as on an API without authentication */
    for (unsigned i = 0; i < identity.roles.count; i++)
        check(identity.roles.names[i].len > 0 &&
              identity_has_role(&identity, identity.roles.names[i]));
    const struct policy_attribute about = {SLICE_LIT("project_id"), identity.project_id};
    for (unsigned service = 0; service < POLICY_SERVICE_COUNT; service++)
        for (unsigned rule = 0; rule <= policy_table_of(service)->checked; rule++)
            (void)policy_check(request->api->policies, service, rule, &identity,
                               &(struct policy_target){&about, 1});
}

static void check_origin(struct api_request *request)
{
    for (unsigned trust = 0; trust < 2; trust++) {
        request->origin = origin_read(request, trust != 0);
        struct slice url = origin_absolute(request, SLICE_LIT("/a b"));
        check(url.len >= 3 && memcmp(url.data + url.len - 3, "/ab", 3) == 0);
        for (size_t i = 0; i < url.len; i++)
            check((unsigned char)url.data[i] > ' ' && (unsigned char)url.data[i] < 0x7f);
    }
}

static void write_fault(struct api_request *request)
{
    request->http->out.len = 0;
    placement_write_fault(request);
    check(request->http->out.len > 0);
}

static void write_other_fault(struct api_request *request, int status, enum fault_form form)
{
    request->fault_form = form;
    request->http->response_header_count = 0;
    placement_own(request)->version_in_error = false;
    request->err = (struct err){.arena = request->arena};
    err_set(&request->err, status, NULL, "%s", "");
    write_fault(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct api api;
    if (api.policies == NULL)
        api.policies = fuzz_policies();
    struct arena *arena = arena_create();
    struct fuzz_request r;
    struct api_request *request = fuzz_request_begin(&r, arena, &api, 39);
    r.exchange.http.peer = SLICE_LIT("127.0.0.1");
    read_headers(&r, (struct slice){(const char *)data, size});
    struct slice accept = http_request_header(request->http, "Accept");
    check(accept_weight(accept, SLICE_LIT("application/json")) <= 1000);
    check(accept_weight(accept, SLICE_LIT("text/html")) <= 1000);
    check(accept_weight_named(accept, SLICE_LIT("text/html")) <= 1000);
    check_identity(request);
    check_origin(request);
    struct slice id = http_request_header(request->http, "X-Openstack-Request-Id");
    check(!request_id_is_valid(id) || id.len == REQUEST_ID_LEN);
    struct slice version =
        latin1_text(arena, http_request_header(request->http, "OpenStack-API-Version"));
    check(text_is_utf8(version));
    request->has_minor = microversion_negotiate(version, &request->minor, &request->err);
    check(request->has_minor ? request->minor <= PLACEMENT_MINOR_MAX
                             : request->err.status == 400 || request->err.status == 406);
    if (request->has_minor)
        err_set_join(&request->err, 415, NULL, SLICE_LIT("type "), placement_content_type(request));
    placement_own(request)->version_in_error = request->err.status == 406;
    write_fault(request);
    write_other_fault(request, 401, FAULT_OUTSIDE);
    write_other_fault(request, 401, FAULT_OF_KEYSTONE);
    write_other_fault(request, 405, FAULT_OF_API);
    fuzz_request_end(&r);
    arena_destroy(arena);
    return 0;
}
