/* The bytes of errors, in the forms that Accept requests (placement spec, Errors). */
#include "api/api.h"
#include "api/fake_request.h"
#include "base/arena.h"
#include "placement/api/fault.h"
#include "unit.h"

static const struct api API = {0};

#define ID "req-00000000-0000-4000-8000-000000000000"

static void assert_fault(struct fake_request *fake, const char *type, const char *body)
{
    struct buf *out = &fake->exchange.http.out;
    fake->exchange.http.response_header_count = 0;
    buf_append_lit(out, "what the handler had begun");
    placement_write_fault(&fake->request);
    assert_string_equal(arena_copy(fake->arena, buf_slice(out)).data, body);
    struct slice got = fake_request_answer_header(fake, "Content-Type");
    assert_string_equal(arena_copy(fake->arena, got).data, type);
    assert_int_equal(fake->request.status, fake->request.err.status);
}

static void set(struct fake_request *fake, int status, const char *code, struct slice message)
{
    fake->request.err = (struct err){.arena = fake->arena};
    err_set_text(&fake->request.err, status, code, message);
}

#define SENTENCE_404 "The resource could not be found."

static void json(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    set(&fake, 404, NULL, SLICE_LIT("No \"x\" <b>\xc3\xa4\n\r here\0."));
    assert_fault(&fake, "application/json",
                 "{\"errors\": [{\"status\": 404, \"title\": \"Not Found\", \"detail\": "
                 "\"" SENTENCE_404 "\\n\\n No \\\"x\\\" \\u00e4  here\\u0000.  \", "
                 "\"code\": \"placement.undefined_code\", \"request_id\": \"" ID "\"}]}");
    fake.request.minor = 22; /* no code before 1.23 */
    set(&fake, 409, "placement.concurrent_update", SLICE_LIT("late"));
    assert_fault(&fake, "application/json",
                 "{\"errors\": [{\"status\": 409, \"title\": \"Conflict\", \"detail\": \"There was "
                 "a conflict when trying to complete your request.\\n\\n late  \", "
                 "\"request_id\": \"" ID "\"}]}");
    fake.request.minor = 23;
    assert_fault(&fake, "application/json",
                 "{\"errors\": [{\"status\": 409, \"title\": \"Conflict\", \"detail\": \"There was "
                 "a conflict when trying to complete your request.\\n\\n late  \", "
                 "\"code\": \"placement.concurrent_update\", \"request_id\": \"" ID "\"}]}");
    fake_request_close(&fake);
}

static void version_range(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    fake.request.has_minor = false;
    fake.own.version_in_error = true;
    fake_request_header(&fake, "Accept", SLICE_LIT("application/json, x/y"));
    set(&fake, 406, NULL, SLICE_LIT("Unacceptable"));
    assert_fault(&fake, "application/json",
                 "{\"errors\": [{\"status\": 406, \"title\": \"Not Acceptable\", \"detail\": \"The "
                 "resource could not be generated that was acceptable to your browser (content of "
                 "type application/json, x/y. \\n\\n Unacceptable\", \"request_id\": \"" ID
                 "\", \"max_version\": \"1.39\", \"min_version\": \"1.0\"}]}");
    fake_request_close(&fake);
}

static void unauthorized(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    set(&fake, 401, NULL, SLICE_LIT(""));
    fake.request.fault_form = FAULT_OUTSIDE;
    assert_fault(&fake, "application/json",
                 "{\"message\": \"This server could not verify that you are authorized to access "
                 "the document you requested. Either you supplied the wrong credentials (e.g., bad "
                 "password), or your browser does not understand how to supply the credentials "
                 "required.<br /><br />\\n\\n\\n\", \"code\": \"401 Unauthorized\", \"title\": "
                 "\"Unauthorized\"}");
    fake_request_close(&fake);
}

/* Keystone's own: bodies as keystonemiddleware sends them. */
static void keystone(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    set(&fake, 503, NULL, SLICE_LIT("The Keystone service is temporarily unavailable."));
    fake.request.fault_form = FAULT_OUTSIDE;
    assert_fault(&fake, "application/json",
                 "{\"message\": \"The server is currently unavailable. Please try again at a later "
                 "time.<br /><br />\\nThe Keystone service is temporarily unavailable.\\n\\n\", "
                 "\"code\": \"503 Service Unavailable\", \"title\": \"Service Unavailable\"}");
    fake_request_close(&fake);
    fake_request_open(&fake, &API);
    fake_request_header(&fake, "Accept", SLICE_LIT("text/html"));
    set(&fake, 401, NULL, SLICE_LIT(""));
    fake.request.fault_form = FAULT_OF_KEYSTONE;
    assert_fault(&fake, "application/json",
                 "{\"error\": {\"code\": 401, \"title\": \"Unauthorized\", \"message\": \"The "
                 "request you have made requires authentication.\"}}");
    fake_request_close(&fake);
}

static void html_and_text(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    fake_request_header(&fake, "Accept", SLICE_LIT("text/html"));
    fake.exchange.http.method = SLICE_LIT("P<T");
    set(&fake, 404, NULL, SLICE_LIT("a<b>&'\"\n"));
    assert_fault(&fake, "text/html; charset=UTF-8",
                 "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  "
                 "<h1>404 Not Found</h1>\n  " SENTENCE_404
                 "<br /><br />\na&lt;b&gt;&amp;&#x27;&quot;\n\n\n\n </body>\n</html>");
    set(&fake, 405, NULL, SLICE_LIT("no"));
    assert_fault(&fake, "text/html; charset=UTF-8",
                 "<html>\n <head>\n  <title>405 Method Not Allowed</title>\n </head>\n <body>\n  "
                 "<h1>405 Method Not Allowed</h1>\n  The method P&lt;T is not allowed for this "
                 "resource. <br /><br />\nno\n </body>\n</html>");
    fake.headers[0].value = SLICE_LIT("text/plain");
    set(&fake, 404, NULL, SLICE_LIT("a<b> 1 < 2"));
    assert_fault(&fake, "text/plain; charset=UTF-8",
                 "404 Not Found\n\n" SENTENCE_404 "\n\n a 1 < 2  ");
    fake_request_close(&fake);
}

/* Everything that looks like a tag is removed; <br> leaves a line break. */
static void tags(void **state)
{
    (void)state;
    static const struct {
        struct slice message;
        const char *text;
    } CASES[] = {
        {SLICE_LIT("a<br>b<BR/>c<broken>d"), "a\nb\nc\nd"},
        {SLICE_LIT("a<!-- x <b>y</b> -->z"), "a x y z"},
        {SLICE_LIT("1 < 2 > 3 < 4"), "1  3 < 4"},
        {SLICE_LIT("<<br>"), "<\n"},
        {SLICE_LIT("a\r\n<\n>b"), "a b"},
        {SLICE_LIT("<br"), "<br"},
        {SLICE_LIT("<>"), ""},
    };
    struct fake_request fake;
    fake_request_open(&fake, &API);
    fake_request_header(&fake, "Accept", SLICE_LIT("text/plain"));
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        set(&fake, 404, NULL, CASES[i].message);
        struct slice body =
            arena_printf(fake.arena, "404 Not Found\n\n" SENTENCE_404 "\n\n %s  ", CASES[i].text);
        assert_fault(&fake, "text/plain; charset=UTF-8", body.data);
    }
    fake_request_close(&fake);
}

/* Input is repeated as it was sent, with its bytes read as latin-1. */
static void repeated_headers(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    fake.request.minor = 0;
    fake_request_header(&fake, "Accept", SLICE_LIT("image/png;x=\"<b>\", application/json;q=0.1"));
    set(&fake, 406, NULL, SLICE_LIT("no"));
    assert_fault(&fake, "application/json",
                 "{\"errors\": [{\"status\": 406, \"title\": \"Not Acceptable\", \"detail\": \"The "
                 "resource could not be generated that was acceptable to your browser (content of "
                 "type image/png;x=\\\"\\\", application/json;q=0.1. \\n\\n no\", "
                 "\"request_id\": \"" ID "\"}]}");
    fake.headers[0].value = SLICE_LIT("text/html");
    assert_fault(&fake, "text/html; charset=UTF-8",
                 "<html>\n <head>\n  <title>406 Not Acceptable</title>\n </head>\n <body>\n  "
                 "<h1>406 Not Acceptable</h1>\n  The resource could not be generated that was "
                 "acceptable to your browser\n(content of type text/html. <br /><br />\nno\n "
                 "</body>\n</html>");
    fake.headers[0].value = SLICE_LIT("*/*");
    fake_request_header(&fake, "Content-Type", SLICE_LIT("a/<b>\xe4; c=d"));
    set(&fake, 415, NULL, SLICE_LIT("no"));
    assert_fault(&fake, "application/json",
                 "{\"errors\": [{\"status\": 415, \"title\": \"Unsupported Media Type\", "
                 "\"detail\": \"The request media type a/\\u00e4; c=d is not supported by this "
                 "server. \\n\\n no\", \"request_id\": \"" ID "\"}]}");
    fake_request_close(&fake);
}

static void which_form(void **state)
{
    (void)state;
    static const struct {
        const char *accept, *type;
    } CASES[] = {
        {"", "application/json"},
        {"*/*", "application/json"},
        {"application/json", "application/json"},
        {"text/html, application/json", "text/html; charset=UTF-8"},
        {"text/html;q=0.5, application/json", "application/json"},
        {"text/*", "text/html; charset=UTF-8"},
        {"image/png", "text/plain; charset=UTF-8"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct fake_request fake;
        fake_request_open(&fake, &API);
        fake_request_header(&fake, "Accept", slice_of(CASES[i].accept));
        set(&fake, 404, NULL, SLICE_LIT("x"));
        placement_write_fault(&fake.request);
        assert_true(slice_equal(fake_request_answer_header(&fake, "Content-Type"),
                                slice_of(CASES[i].type)));
        fake_request_close(&fake);
    }
}

/* A status that the API does not have is an internal error. */
static void unknown_status(void **state)
{
    (void)state;
    struct fake_request fake;
    fake_request_open(&fake, &API);
    set(&fake, 999, NULL, SLICE_LIT("x"));
    placement_write_fault(&fake.request);
    assert_int_equal(fake.request.status, 500);
    fake_request_close(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json),
        cmocka_unit_test(version_range),
        cmocka_unit_test(unauthorized),
        cmocka_unit_test(keystone),
        cmocka_unit_test(html_and_text),
        cmocka_unit_test(tags),
        cmocka_unit_test(repeated_headers),
        cmocka_unit_test(which_form),
        cmocka_unit_test(unknown_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
