/* The version of a request, from two headers. */
#include "baremetal/api/negotiate.h"

#include "baremetal/api/checking.h"
#include "base/buf.h"

static void negotiate(const char *own, const char *general, unsigned want, const char *refusal)
{
    struct err err = {.arena = arena_create()};
    unsigned minor = 0;
    bool taken =
        negotiate_version(own == NULL ? (struct slice){0} : slice_of(own),
                          general == NULL ? (struct slice){0} : slice_of(general), &minor, &err);
    assert_message(taken, &err, 406, refusal);
    if (refusal == NULL)
        assert_int_equal(minor, want);
    arena_destroy(err.arena);
}

#define RANGE " The supported version range is: [1.1, 1.82]."

static void own_header(void **state)
{
    (void)state;
    negotiate(NULL, NULL, 1, NULL);
    negotiate("", NULL, 1, NULL);
    negotiate("1.1", NULL, 1, NULL);
    negotiate("1.82", NULL, 82, NULL);
    negotiate("latest", NULL, 82, NULL);
    negotiate("LaTest", NULL, 82, NULL);
    negotiate("1.0", NULL, 0,
              "Version 1.0 was requested but the minor version is not supported by this "
              "service." RANGE);
    negotiate("1.83", NULL, 0,
              "Version 1.83 was requested but the minor version is not supported by this "
              "service." RANGE);
    negotiate("2.0", NULL, 0,
              "Mutually exclusive versions requested. Version 2.0 requested but not supported by "
              "this service." RANGE);
    negotiate("1.99999999999999999999", NULL, 0,
              "Version 1.99999999999999999999 was requested but the minor version is not supported "
              "by this service." RANGE);
    negotiate(" 1.-99999999999999999999", NULL, 0,
              "Version 1.-99999999999999999999 was requested but the minor version is not "
              "supported by this service." RANGE);
    negotiate("99999999999999999999.1", NULL, 0,
              "Mutually exclusive versions requested. Version 99999999999999999999.1 requested but "
              "not supported by this service." RANGE);
    static const char *const MALFORMED[] = {"1",   "1.",      ".5", "1.5.1",          "x",
                                            "1.x", "latest ", "-",  "1.\xef\xbc\x91", "1.\xd9\xa3"};
    for (unsigned i = 0; i < sizeof(MALFORMED) / sizeof(MALFORMED[0]); i++)
        negotiate(MALFORMED[i], NULL, 0, "Invalid value for X-OpenStack-Ironic-API-Version header");
}

/* As many digits as int() accepts, and one more. */
static void digits(void **state)
{
    (void)state;
    struct buf text = {0};
    buf_append_lit(&text, "1.");
    for (unsigned i = 0; i < 4298; i++)
        buf_append_char(&text, '0');
    buf_append_lit(&text, "61");
    buf_append_char(&text, '\0');
    negotiate(text.data, NULL, 61, NULL);
    text.len--;
    buf_append_lit(&text, "2");
    buf_append_char(&text, '\0');
    negotiate(text.data, NULL, 0, "Invalid value for X-OpenStack-Ironic-API-Version header");
    buf_free(&text);
}

static void general_header(void **state)
{
    (void)state;
    negotiate(NULL, "baremetal 1.60", 60, NULL);
    negotiate(NULL, "placement 1.39, baremetal 1.60", 60, NULL);
    negotiate(NULL, "placement 1.39", 1, NULL);
    negotiate(NULL, "baremetal latest", 82, NULL);
    negotiate("1.50", "baremetal 1.60", 50, NULL);
    negotiate("", "baremetal 1.60", 60, NULL);
    negotiate(NULL, "baremetal x", 0, "Invalid value for OpenStack-API-Version header");
    negotiate(NULL, "baremetal 1.99", 0,
              "Version 1.99 was requested but the minor version is not supported by this "
              "service." RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_header), cmocka_unit_test(digits),
                                       cmocka_unit_test(general_header)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
