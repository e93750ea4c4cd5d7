/* See fake_request.h. */
#include "api/fake_request.h"

#include "api/routes.h"
#include "base/arena.h"
#include "placement/api/definition.h"
#include "unit.h"

void fake_request_open(struct fake_request *fake, const struct api *api)
{
    *fake = (struct fake_request){.arena = arena_create()};
    fake->exchange.http = (struct http_exchange){
        .arena = fake->arena, .method = SLICE_LIT("GET"), .peer = SLICE_LIT("192.0.2.1")};
    fake->exchange.headers = fake->headers;
    fake->endpoint = (struct api_endpoint){
        .definition = &placement_definition,
        .api = api,
        .settings = &fake->settings,
        .routes = route_finder_create(placement_routes, PLACEMENT_ROUTE_COUNT, fake->arena),
    };
    fake->settings.max_candidates = -1;
    fake->passage.request = &fake->request;
    fake->request = (struct api_request){.http = &fake->exchange.http,
                                         .own = &fake->own,
                                         .passage = &fake->passage,
                                         .write = &fake->write.write,
                                         .endpoint = &fake->endpoint,
                                         .definition = &placement_definition,
                                         .api = api,
                                         .arena = fake->arena,
                                         .minor = PLACEMENT_MINOR_MAX,
                                         .has_minor = true,
                                         .status = 200,
                                         .err = {.arena = fake->arena}};
    memcpy(fake->request.request_id, "req-00000000-0000-4000-8000-000000000000",
           REQUEST_ID_LEN + 1);
}

void fake_request_close(struct fake_request *fake)
{
    buf_free(&fake->exchange.http.out);
    arena_destroy(fake->arena);
}

void fake_request_header(struct fake_request *fake, const char *name, struct slice value)
{
    assert_true(fake->exchange.header_count < 16);
    fake->headers[fake->exchange.header_count++] =
        (struct request_header){slice_of(name), value, NULL};
}

struct slice fake_request_answer_header(const struct fake_request *fake, const char *name)
{
    const struct http_exchange *http = &fake->exchange.http;
    struct slice value = {0};
    for (unsigned i = 0; i < http->response_header_count; i++) {
        if (strcmp(http->response_headers[i].name, name) != 0)
            continue;
        assert_null(value.data);
        value = http->response_headers[i].value;
    }
    return value;
}

void fake_request_expect_header(const struct fake_request *fake, const char *name,
                                const char *value)
{
    struct slice got = fake_request_answer_header(fake, name);
    if (value == NULL) {
        assert_null(got.data);
        return;
    }
    assert_non_null(got.data);
    assert_string_equal(arena_copy(fake->arena, got).data, value);
}
