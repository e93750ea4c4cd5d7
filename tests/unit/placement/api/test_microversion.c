/* The version header: the minor version, or the error (placement spec, Microversions). */
#include <stdio.h>

#include "base/arena.h"
#include "placement/api/microversion.h"
#include "unit.h"

static void negotiate(const char *header, int status, unsigned minor, const char *message)
{
    struct arena *arena = arena_create();
    struct err err = {.arena = arena};
    unsigned got = 99;
    struct slice text = header == NULL ? (struct slice){0} : slice_of(header);
    bool ok = microversion_negotiate(text, &got, &err);
    if (ok != (status == 0) || err.status != status)
        fail_msg("%s: status %d", header, err.status);
    assert_int_equal(got, minor);
    if (message != NULL)
        assert_string_equal(arena_copy(arena, err.message).data, message);
    arena_destroy(arena);
}

static void accepted(void **state)
{
    (void)state;
    negotiate(NULL, 0, 0, NULL);
    negotiate("", 0, 0, NULL);
    negotiate("placement 1.0", 0, 0, NULL);
    negotiate("placement 1.39", 0, 39, NULL);
    negotiate("placement latest", 0, 39, NULL);
    negotiate("PlaceMent 1.5", 0, 5, NULL);
    negotiate("  placement \t 1.7  ", 0, 7, NULL);
    negotiate("compute 2.90", 0, 0, NULL);
    negotiate("compute 2.90, placement 1.10", 0, 10, NULL);
    negotiate("placement 1.10, compute 2.90", 0, 10, NULL);
    negotiate("placement 1.10, placement 1.11", 0, 11, NULL); /* the last one counts */
    negotiate("placement", 0, 0, NULL);
    negotiate("placement 1.12, placement", 0, 12, NULL);
    negotiate("placements 1.12", 0, 0, NULL);
    negotiate("placement,1.12", 0, 0, NULL);
    negotiate("placement 01.012", 0, 12, NULL); /* as int() reads it */
    negotiate("placement +1. 1_2", 0, 12, NULL);
    negotiate("placement 1.\xd9\xa3\xd9\xa9", 0, 39, NULL);
}

static void every_minor(void **state)
{
    (void)state;
    for (unsigned minor = 0; minor <= 60; minor++) {
        char header[32];
        snprintf(header, sizeof(header), "placement 1.%u", minor);
        negotiate(header, minor <= 39 ? 0 : 406, minor <= 39 ? minor : 0, NULL);
    }
}

static void refused(void **state)
{
    (void)state;
    negotiate("placement 1.40", 406, 0, "Invalid microversion: Unacceptable version header: 1.40");
    negotiate("placement 2.0", 406, 0, NULL);
    negotiate("placement 0.1", 406, 0, NULL);
    negotiate("placement 1.-1", 406, 0, NULL);
    negotiate("placement 1.99999999999999999999", 406, 0, NULL);
    negotiate("placement 1", 400, 0,
              "Invalid microversion: invalid version string: 1; Version.__new__() missing 1 "
              "required positional argument: 'minor'");
    negotiate("placement Latest", 400, 0,
              "Invalid microversion: invalid version string: Latest; invalid literal for int() "
              "with base 10: 'Latest'");
    negotiate("placement 1.2.3", 400, 0,
              "Invalid microversion: invalid version string: 1.2.3; invalid literal for int() "
              "with base 10: '2.3'");
    negotiate("placement 1.", 400, 0,
              "Invalid microversion: invalid version string: 1.; invalid literal for int() with "
              "base 10: ''");
    negotiate("placement .1", 400, 0, NULL);
    negotiate("placement it's", 400, 0,
              "Invalid microversion: invalid version string: it's; invalid literal for int() "
              "with base 10: \"it's\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted),
        cmocka_unit_test(every_minor),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
