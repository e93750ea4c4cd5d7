/* The two forms of an error, and the beginning of links. */
#include "api/api.h"
#include "api/fake_request.h"
#include "baremetal/api/fault.h"
#include "baremetal/api/links.h"
#include "baremetal/api/metal_request.h"
#include "base/arena.h"
#include "conf/baremetal.h"
#include "unit.h"

static const struct conf_baremetal PLAIN = {.host = SLICE_LIT("h")};
static const struct api API = {0};

static void expect_fault(struct fake_request *fake, int status, const char *text,
                         enum fault_form form, const char *body)
{
    fake->request.err = (struct err){.arena = fake->arena};
    fake->request.fault_form = form;
    err_set(&fake->request.err, status, NULL, "%s", text);
    baremetal_write_fault(&fake->request);
    assert_int_equal(fake->request.status, status);
    struct buf *out = &fake->exchange.http.out;
    assert_string_equal(arena_copy(fake->arena, buf_slice(out)).data, body);
}

static void faults(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    expect_fault(&fake, 404, "Node \"x\" could not be found.", FAULT_OF_API,
                 "{\"error_message\": \"{\\\"faultcode\\\": \\\"Client\\\", \\\"faultstring\\\": "
                 "\\\"Node \\\\\\\"x\\\\\\\" could not be found.\\\", \\\"debuginfo\\\": null}\"}");
    fake.exchange.http.response_header_count = 0;
    expect_fault(&fake, 503, "off", FAULT_OF_API,
                 "{\"error_message\": \"{\\\"faultcode\\\": \\\"Server\\\", \\\"faultstring\\\": "
                 "\\\"off\\\", \\\"debuginfo\\\": null}\"}");
    fake.exchange.http.response_header_count = 0;
    expect_fault(&fake, 405, "no", FAULT_OUTSIDE,
                 "{\"error_message\": \"{\\\"code\\\": 405, \\\"title\\\": \\\"Method Not "
                 "Allowed\\\", \\\"description\\\": \\\"no\\\"}\"}");
    fake_request_expect_header(&fake, "Content-Type", "application/json");
    fake.exchange.http.response_header_count = 0;
    expect_fault(&fake, 414, "long", FAULT_OUTSIDE,
                 "{\"error_message\": \"{\\\"code\\\": 414, \\\"title\\\": \\\"Error\\\", "
                 "\\\"description\\\": \\\"long\\\"}\"}");
    fake_request_close(&fake);
}

/* In the Bare Metal API, with these settings. */
static void open_at_api(struct fake_request *fake, const struct metal_settings *settings,
                        struct metal_request *own)
{
    *own = (struct metal_request){0};
    fake_request_open(fake, &API);
    fake->endpoint.settings = settings;
    fake->request.own = own;
}

static void expect_base(const struct conf_baremetal *conf, const char *host, const char *mount,
                        const char *base)
{
    struct fake_request fake;
    struct metal_request own;
    const struct metal_settings settings = {.conf = conf};
    open_at_api(&fake, &settings, &own);
    fake.request.origin = (struct origin){.scheme = SLICE_LIT("http"), .host = slice_of(host)};
    fake.request.mount = slice_of(mount);
    struct slice got = baremetal_base(&fake.request);
    assert_string_equal(arena_copy(fake.arena, got).data, base);
    assert_ptr_equal(baremetal_base(&fake.request).data, got.data);
    fake_request_close(&fake);
}

static void links(void **state)
{
    (void)state;
    static const struct conf_baremetal PUBLIC = {.public_endpoint = SLICE_LIT("https://x/y")};
    expect_base(&PLAIN, "h:6385", "", "http://h:6385");
    expect_base(&PLAIN, "h:6385", "/baremetal", "http://h:6385/baremetal");
    expect_base(&PLAIN, "", "", "");
    expect_base(&PUBLIC, "h:6385", "/baremetal", "https://x/y");
    struct fake_request fake;
    struct metal_request own;
    const struct metal_settings settings = {.conf = &PLAIN};
    open_at_api(&fake, &settings, &own);
    fake.request.origin = (struct origin){.scheme = SLICE_LIT("http"), .host = SLICE_LIT("h")};
    struct buf out = {0};
    baremetal_write_links(&fake.request, SLICE_LIT("nodes"), SLICE_LIT("u\"x"), SLICE_LIT("ports"),
                          &out);
    assert_string_equal(arena_copy(fake.arena, buf_slice(&out)).data,
                        "\"links\": [{\"href\": \"http://h/v1/nodes/u\\\"x/ports\", \"rel\": "
                        "\"self\"}, {\"href\": \"http://h/nodes/u\\\"x/ports\", \"rel\": "
                        "\"bookmark\"}]");
    buf_free(&out);
    fake_request_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),
        cmocka_unit_test(links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
