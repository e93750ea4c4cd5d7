/* Paths as in the table: paths are split into segments before the segments are decoded. */
#include "api/api.h"
#include "valet/api/path.h"

#include "api/fake_request.h"
#include "api/stages.h"
#include "api/text/query_string.h"
#include "unit.h"

static const struct api API = {0};
static const struct slice PREFIX[] = {SLICE_LIT("/valet"), SLICE_LIT("/v1/x")};

static void assert_path(const char *target, const char *want)
{
    struct fake_request fake;
    fake_request_open(&fake, &API);
    fake.exchange.http.target = slice_of(target);
    fake.endpoint.mount_prefixes = PREFIX;
    fake.endpoint.mount_prefix_count = 2;
    stages_read_target(&fake.request);
    struct slice got = valet_path(&fake.request);
    if (!slice_equal(got, slice_of(want)))
        fail_msg("%s: %.*s", target, SLICE_ARG(got));
    fake_request_close(&fake);
}

static void paths(void **state)
{
    (void)state;
    assert_path("/", "/");
    assert_path("", "");
    assert_path("/v1/groups", "/v1/groups");
    assert_path("/v1/groups/", "/v1/groups");
    assert_path("/v1/groups//", "/v1/groups/");
    assert_path("/v1/groups/?x=%2f/", "/v1/groups");
    assert_path("/v1/gr%6Fups/%61", "/v1/groups/a");
    assert_path("/v1/groups/a%2fb", "/v1/groups/a%2Fb");
    assert_path("/v1/groups/a%2F", "/v1/groups/a%2F");
    assert_path("/v1/groups/%25", "/v1/groups/%25");
    assert_path("/v1/groups/%252F", "/v1/groups/%252F");
    assert_path("/v1/groups/50%/%4/%zz", "/v1/groups/50%25/%254/%25zz");
    assert_path("/v1/groups/%c3%a9+", "/v1/groups/\xc3\xa9+");
}

static void prefixes(void **state)
{
    (void)state;
    assert_path("/valet", "");
    assert_path("/valet/", "/");
    assert_path("/valet/v1/groups/a%2fb", "/v1/groups/a%2Fb");
    assert_path("/v%61let/v1/a%2fb", "/v1/a%2Fb");
    assert_path("/v1%2fx/a%2Fb", "/a%2Fb");
    assert_path("/valetv1", "/valetv1");
}

static void segments_left(void **state)
{
    (void)state;
    assert_true(slice_equal(percent_skip(SLICE_LIT("%41b%2Fd%"), 0), SLICE_LIT("%41b%2Fd%")));
    assert_true(slice_equal(percent_skip(SLICE_LIT("%41b%2Fd%"), 3), SLICE_LIT("d%")));
    assert_true(slice_equal(percent_skip(SLICE_LIT("%4%zz%2"), 4), SLICE_LIT("z%2")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(segments_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
