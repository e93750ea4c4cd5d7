/* The bytes of errors, in the forms that Accept requests (placement spec, Errors). */
#include "api/api.h"
#include "api/asked.h"
#include "base/arena.h"
#include "placement/api/fault.h"
#include "unit.h"

static const struct api API = {0};

#define ID "req-00000000-0000-4000-8000-000000000000"

static void assert_fault(struct asked *asked, const char *type, const char *body)
{
    struct buf *out = &asked->exchange.http.out;
    asked->exchange.http.response_header_count = 0;
    buf_append_lit(out, "what the handler had begun");
    placement_write_fault(&asked->request);
    assert_string_equal(arena_copy(asked->arena, buf_slice(out)).data, body);
    struct slice got = asked_answer_header(asked, "Content-Type");
    assert_string_equal(arena_copy(asked->arena, got).data, type);
    assert_int_equal(asked->request.status, asked->request.err.status);
}

static void set(struct asked *asked, int status, const char *code, struct slice message)
{
    asked->request.err = (struct err){.arena = asked->arena};
    err_set_text(&asked->request.err, status, code, message);
}

#define SENTENCE_404 "The resource could not be found."

static void json(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    set(&asked, 404, NULL, SLICE_LIT("No \"x\" <b>\xc3\xa4\n\r here\0."));
    assert_fault(&asked, "application/json",
                 "{\"errors\": [{\"status\": 404, \"title\": \"Not Found\", \"detail\": "
                 "\"" SENTENCE_404 "\\n\\n No \\\"x\\\" \\u00e4  here\\u0000.  \", "
                 "\"code\": \"placement.undefined_code\", \"request_id\": \"" ID "\"}]}");
    asked.request.minor = 22; /* no code before 1.23 */
    set(&asked, 409, "placement.concurrent_update", SLICE_LIT("late"));
    assert_fault(&asked, "application/json",
                 "{\"errors\": [{\"status\": 409, \"title\": \"Conflict\", \"detail\": \"There was "
                 "a conflict when trying to complete your request.\\n\\n late  \", "
                 "\"request_id\": \"" ID "\"}]}");
    asked.request.minor = 23;
    assert_fault(&asked, "application/json",
                 "{\"errors\": [{\"status\": 409, \"title\": \"Conflict\", \"detail\": \"There was "
                 "a conflict when trying to complete your request.\\n\\n late  \", "
                 "\"code\": \"placement.concurrent_update\", \"request_id\": \"" ID "\"}]}");
    asked_close(&asked);
}

static void version_range(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    asked.request.has_minor = false;
    asked.own.version_in_error = true;
    asked_header(&asked, "Accept", SLICE_LIT("application/json, x/y"));
    set(&asked, 406, NULL, SLICE_LIT("Unacceptable"));
    assert_fault(&asked, "application/json",
                 "{\"errors\": [{\"status\": 406, \"title\": \"Not Acceptable\", \"detail\": \"The "
                 "resource could not be generated that was acceptable to your browser (content of "
                 "type application/json, x/y. \\n\\n Unacceptable\", \"request_id\": \"" ID
                 "\", \"max_version\": \"1.39\", \"min_version\": \"1.0\"}]}");
    asked_close(&asked);
}

static void unauthorized(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    set(&asked, 401, NULL, SLICE_LIT(""));
    asked.request.fault_form = FAULT_OUTSIDE;
    assert_fault(&asked, "application/json",
                 "{\"message\": \"This server could not verify that you are authorized to access "
                 "the document you requested. Either you supplied the wrong credentials (e.g., bad "
                 "password), or your browser does not understand how to supply the credentials "
                 "required.<br /><br />\\n\\n\\n\", \"code\": \"401 Unauthorized\", \"title\": "
                 "\"Unauthorized\"}");
    asked_close(&asked);
}

/* Keystone's own: bodies as keystonemiddleware sends them. */
static void keystone(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    set(&asked, 503, NULL, SLICE_LIT("The Keystone service is temporarily unavailable."));
    asked.request.fault_form = FAULT_OUTSIDE;
    assert_fault(&asked, "application/json",
                 "{\"message\": \"The server is currently unavailable. Please try again at a later "
                 "time.<br /><br />\\nThe Keystone service is temporarily unavailable.\\n\\n\", "
                 "\"code\": \"503 Service Unavailable\", \"title\": \"Service Unavailable\"}");
    asked_close(&asked);
    asked_open(&asked, &API);
    asked_header(&asked, "Accept", SLICE_LIT("text/html"));
    set(&asked, 401, NULL, SLICE_LIT(""));
    asked.request.fault_form = FAULT_OF_KEYSTONE;
    assert_fault(&asked, "application/json",
                 "{\"error\": {\"code\": 401, \"title\": \"Unauthorized\", \"message\": \"The "
                 "request you have made requires authentication.\"}}");
    asked_close(&asked);
}

static void html_and_text(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    asked_header(&asked, "Accept", SLICE_LIT("text/html"));
    asked.exchange.http.method = SLICE_LIT("P<T");
    set(&asked, 404, NULL, SLICE_LIT("a<b>&'\"\n"));
    assert_fault(&asked, "text/html; charset=UTF-8",
                 "<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  "
                 "<h1>404 Not Found</h1>\n  " SENTENCE_404
                 "<br /><br />\na&lt;b&gt;&amp;&#x27;&quot;\n\n\n\n </body>\n</html>");
    set(&asked, 405, NULL, SLICE_LIT("no"));
    assert_fault(&asked, "text/html; charset=UTF-8",
                 "<html>\n <head>\n  <title>405 Method Not Allowed</title>\n </head>\n <body>\n  "
                 "<h1>405 Method Not Allowed</h1>\n  The method P&lt;T is not allowed for this "
                 "resource. <br /><br />\nno\n </body>\n</html>");
    asked.headers[0].value = SLICE_LIT("text/plain");
    set(&asked, 404, NULL, SLICE_LIT("a<b> 1 < 2"));
    assert_fault(&asked, "text/plain; charset=UTF-8",
                 "404 Not Found\n\n" SENTENCE_404 "\n\n a 1 < 2  ");
    asked_close(&asked);
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
    struct asked asked;
    asked_open(&asked, &API);
    asked_header(&asked, "Accept", SLICE_LIT("text/plain"));
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        set(&asked, 404, NULL, CASES[i].message);
        struct slice body =
            arena_printf(asked.arena, "404 Not Found\n\n" SENTENCE_404 "\n\n %s  ", CASES[i].text);
        assert_fault(&asked, "text/plain; charset=UTF-8", body.data);
    }
    asked_close(&asked);
}

/* Input is repeated as it was sent, with its bytes read as latin-1. */
static void repeated_headers(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    asked.request.minor = 0;
    asked_header(&asked, "Accept", SLICE_LIT("image/png;x=\"<b>\", application/json;q=0.1"));
    set(&asked, 406, NULL, SLICE_LIT("no"));
    assert_fault(&asked, "application/json",
                 "{\"errors\": [{\"status\": 406, \"title\": \"Not Acceptable\", \"detail\": \"The "
                 "resource could not be generated that was acceptable to your browser (content of "
                 "type image/png;x=\\\"\\\", application/json;q=0.1. \\n\\n no\", "
                 "\"request_id\": \"" ID "\"}]}");
    asked.headers[0].value = SLICE_LIT("text/html");
    assert_fault(&asked, "text/html; charset=UTF-8",
                 "<html>\n <head>\n  <title>406 Not Acceptable</title>\n </head>\n <body>\n  "
                 "<h1>406 Not Acceptable</h1>\n  The resource could not be generated that was "
                 "acceptable to your browser\n(content of type text/html. <br /><br />\nno\n "
                 "</body>\n</html>");
    asked.headers[0].value = SLICE_LIT("*/*");
    asked_header(&asked, "Content-Type", SLICE_LIT("a/<b>\xe4; c=d"));
    set(&asked, 415, NULL, SLICE_LIT("no"));
    assert_fault(&asked, "application/json",
                 "{\"errors\": [{\"status\": 415, \"title\": \"Unsupported Media Type\", "
                 "\"detail\": \"The request media type a/\\u00e4; c=d is not supported by this "
                 "server. \\n\\n no\", \"request_id\": \"" ID "\"}]}");
    asked_close(&asked);
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
        struct asked asked;
        asked_open(&asked, &API);
        asked_header(&asked, "Accept", slice_of(CASES[i].accept));
        set(&asked, 404, NULL, SLICE_LIT("x"));
        placement_write_fault(&asked.request);
        assert_true(
            slice_equal(asked_answer_header(&asked, "Content-Type"), slice_of(CASES[i].type)));
        asked_close(&asked);
    }
}

/* A status that the API does not have is an internal error. */
static void unknown_status(void **state)
{
    (void)state;
    struct asked asked;
    asked_open(&asked, &API);
    set(&asked, 999, NULL, SLICE_LIT("x"));
    placement_write_fault(&asked.request);
    assert_int_equal(asked.request.status, 500);
    asked_close(&asked);
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
