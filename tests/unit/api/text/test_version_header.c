/* The version in a header for a service. */
#include "api/text/version_header.h"

#include "unit.h"

static void found(const char *header, const char *service, const char *want)
{
    struct slice version = version_header_find(slice_of(header), slice_of(service));
    if (want == NULL)
        assert_null(version.data);
    else
        assert_true(slice_equal(version, slice_of(want)));
}

static void services(void **state)
{
    (void)state;
    found("", "baremetal", NULL);
    found("placement 1.39", "baremetal", NULL);
    found("baremetal", "baremetal", NULL);
    found("baremetals 1.5", "baremetal", NULL);
    found("baremetal 1.60", "baremetal", "1.60");
    found(" BareMetal\t1.60 , placement 1.39,", "baremetal", "1.60");
    found("placement 1.39, baremetal 1.60", "placement", "1.39");
    found("baremetal 1.1, baremetal latest", "baremetal", "latest");
    assert_null(version_header_find((struct slice){0}, SLICE_LIT("baremetal")).data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(services)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
