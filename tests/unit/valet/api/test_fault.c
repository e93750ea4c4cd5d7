/* The bytes of errors (Valet spec, section 3). */
#include "api/api.h"
#include "base/arena.h"
#include "valet/api/fault.h"

#include "api/fake_request.h"
#include "unit.h"

static const struct api API = {0};

static void assert_fault_of(bool is_writers, int status, const char *said, enum fault_form form,
                            int shown, const char *type, const char *body)
{
    struct fake_request fake;
    fake_request_open(&fake, &API);
    struct buf *out = &fake.exchange.http.out;
    fake.request.fault_form = form;
    if (is_writers)
        err_set_text(&fake.write.write.err, status, NULL, slice_of(said));
    err_set_text(&fake.request.err, status, NULL, slice_of(said));
    buf_append_lit(out, "what the handler had begun");
    valet_write_fault(&fake.request);
    assert_string_equal(arena_copy(fake.arena, buf_slice(out)).data, body);
    fake_request_expect_header(&fake, "Content-Type", type);
    assert_int_equal(fake.request.status, shown);
    fake_request_close(&fake);
}

static void assert_fault(int status, const char *said, enum fault_form form, int shown,
                         const char *type, const char *body)
{
    assert_fault_of(false, status, said, form, shown, type, body);
}

#define MALFORMED                                                                                  \
    "The server could not comply with the request since it is either malformed or otherwise "      \
    "incorrect."
#define FAULT(code, title, said, message, type)                                                    \
    "{\"title\": \"" title "\", \"explanation\": \"" said "\", \"code\": " code                    \
    ", \"error\": {\"message\": \"" message "\", \"traceback\": null, \"type\": \"" type "\"}}"

static void json(void **state)
{
    (void)state;
    static const char JSON[] = "application/json";
    assert_fault(
        400, "-> name -> \"\xc3\xa9", FAULT_OF_API, 400, JSON,
        FAULT("400", "Bad Request", "-> name -> \\\"\\u00e9", MALFORMED, "HTTPBadRequest"));
    assert_fault(
        404, "x", FAULT_OF_API, 404, JSON,
        FAULT("404", "Not Found", "x", "The resource could not be found.", "HTTPNotFound"));
    assert_fault(405, "The COPY method is not allowed.", FAULT_OF_API, 405, JSON,
                 FAULT("405", "Method Not Allowed", "The COPY method is not allowed.", MALFORMED,
                       "HTTPMethodNotAllowed"));
    assert_fault(
        409, "Valet error: Exclusivity group 'foosball' not found", FAULT_OF_API, 409, JSON,
        FAULT("409", "Conflict", "Valet error: Exclusivity group 'foosball' not found",
              "There was a conflict when trying to complete your request.", "HTTPConflict"));
    assert_fault(413, "x", FAULT_OF_API, 413, JSON,
                 FAULT("413", "Request Entity Too Large", "x",
                       "The body of your request was too large for this server.",
                       "HTTPRequestEntityTooLarge"));
}

#define BROKEN "The server has either erred or is incapable of performing the requested operation."

/* A database that fails is an internal error; an unavailable Keystone or a lack of memory is not.
 */
static void of_the_server(void **state)
{
    (void)state;
    static const char JSON[] = "application/json";
    const char *broken =
        FAULT("500", "Internal Server Error", "gone", BROKEN, "HTTPInternalServerError");
    assert_fault(500, "gone", FAULT_OF_API, 500, JSON, broken);
    const char *store = FAULT("500", "Internal Server Error", "Not working: store", BROKEN,
                              "HTTPInternalServerError");
    assert_fault_of(true, 503, "the database '/x' is gone", FAULT_OF_API, 500, JSON, store);
    assert_fault(507, "the database '/x' is gone", FAULT_OF_API, 500, JSON, store);
    assert_fault(500, "", FAULT_OF_API, 500, JSON,
                 FAULT("500", "Internal Server Error", BROKEN, BROKEN, "HTTPInternalServerError"));
    const char *busy = FAULT("503", "Service Unavailable", "gone",
                             "The server is currently unavailable. Please try again at a later "
                             "time.",
                             "HTTPServiceUnavailable");
    assert_fault(503, "gone", FAULT_OUTSIDE, 503, JSON, busy);
    assert_fault(503, "gone", FAULT_OF_API, 503, JSON, busy); /* no memory, say */
}

/* Whatever the cause, and whichever function has found it. */
static void refusals(void **state)
{
    (void)state;
    static const enum fault_form FORMS[] = {FAULT_OF_API, FAULT_OUTSIDE, FAULT_OF_KEYSTONE};
    for (unsigned i = 0; i < 3; i++)
        assert_fault(401, i == 0 ? "" : "x", FORMS[i], 401, "text/plain",
                     "This request needs a valid token of a project, with a role that allows "
                     "it.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json),
        cmocka_unit_test(of_the_server),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
