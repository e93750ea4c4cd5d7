/* See asked.h. */
#include "api/asked.h"

#include "api/routes.h"
#include "base/arena.h"
#include "placement/api/definition.h"
#include "unit.h"

void asked_open(struct asked *asked, const struct api *api)
{
    *asked = (struct asked){.arena = arena_create()};
    asked->exchange.http = (struct http_exchange){
        .arena = asked->arena, .method = SLICE_LIT("GET"), .peer = SLICE_LIT("192.0.2.1")};
    asked->exchange.headers = asked->headers;
    asked->endpoint = (struct api_endpoint){
        .definition = &placement_definition,
        .api = api,
        .settings = &asked->settings,
        .routes = route_finder_create(placement_routes, PLACEMENT_ROUTE_COUNT, asked->arena),
    };
    asked->settings.max_candidates = -1;
    asked->passage.request = &asked->request;
    asked->request = (struct api_request){.http = &asked->exchange.http,
                                          .own = &asked->own,
                                          .passage = &asked->passage,
                                          .write = &asked->write.write,
                                          .endpoint = &asked->endpoint,
                                          .definition = &placement_definition,
                                          .api = api,
                                          .arena = asked->arena,
                                          .minor = PLACEMENT_MINOR_MAX,
                                          .has_minor = true,
                                          .status = 200,
                                          .err = {.arena = asked->arena}};
    memcpy(asked->request.request_id, "req-00000000-0000-4000-8000-000000000000",
           REQUEST_ID_LEN + 1);
}

void asked_close(struct asked *asked)
{
    buf_free(&asked->exchange.http.out);
    arena_destroy(asked->arena);
}

void asked_header(struct asked *asked, const char *name, struct slice value)
{
    assert_true(asked->exchange.header_count < 16);
    asked->headers[asked->exchange.header_count++] =
        (struct request_header){slice_of(name), value, NULL};
}

struct slice asked_answer_header(const struct asked *asked, const char *name)
{
    const struct http_exchange *http = &asked->exchange.http;
    struct slice value = {0};
    for (unsigned i = 0; i < http->response_header_count; i++) {
        if (strcmp(http->response_headers[i].name, name) != 0)
            continue;
        assert_null(value.data);
        value = http->response_headers[i].value;
    }
    return value;
}

void asked_expect_header(const struct asked *asked, const char *name, const char *value)
{
    struct slice got = asked_answer_header(asked, name);
    if (value == NULL) {
        assert_null(got.data);
        return;
    }
    assert_non_null(got.data);
    assert_string_equal(arena_copy(asked->arena, got).data, value);
}
