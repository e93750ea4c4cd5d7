/* Weights of media types (RFC 9110, section 12.5.1): header, type, thousandths. */
#include "api/text/accept.h"
#include "unit.h"

#define JSON "application/json"
#define HTML "text/html"

static void weights(void **state)
{
    (void)state;
    static const struct {
        const char *header, *type;
        unsigned weight;
    } CASES[] = {
        {"application/json", JSON, 1000},
        {"APPLICATION/Json", JSON, 1000},
        {"application/json", HTML, 0},
        {"*/*", JSON, 1000},
        {"text/*", HTML, 1000},
        {"text/*", JSON, 0},
        {"text/html;q=0.5, */*;q=0.1", HTML, 500},
        {"*/*;q=0.1, text/html;q=0.5", HTML, 500}, /* the most specific counts */
        {"text/*;q=0.3, */*;q=0.9", HTML, 300},
        {"text/html;q=0.5, */*;q=0.1", JSON, 100},
        {"application/json;q=0", JSON, 0},
        {"application/json;q=0, */*", JSON, 0},
        {"application/json;q=0.8;ext=1", JSON, 800},
        {"application/json ; Q=0.125", JSON, 125},
        {"application/json;q=1.000", JSON, 1000},
        {"application/json;q=1.", JSON, 1000},
        {"application/json;version=1", JSON, 0}, /* another representation */
        {"application/json;version=1;q=0.3, application/json;q=0.2", JSON, 200},
        {", ,application/json,,", JSON, 1000},
        {"\t application/json\t", JSON, 1000},
        {"*/json", JSON, 0},
        {"", JSON, 0},
        {",", JSON, 0},
        {"image/png;x=\"a,b;\\\"c\";q=0.5;ext;more=1, application/json;q=0.3", JSON, 300},
        {"image/png;q=0.5;q=0.9, image/*", "image/png", 500},
        /* malformed: everything is accepted */
        {"application", JSON, 1000},
        {"text/plain, /", JSON, 1000},
        {"application/json;q=2", JSON, 1000},
        {"application/json;q=0.1234", JSON, 1000},
        {"application/json;q=.5", JSON, 1000},
        {"application/json;q=0.x", JSON, 1000},
        {"application/json;q=", JSON, 1000},
        {"application/json;q=-1", JSON, 1000},
        {"application/json;q=1.001", JSON, 1000},
        {"application/json;q=0 .5", JSON, 1000},
        {"<b>x</b>", JSON, 1000},
        {"image/<b>", JSON, 1000},
        {"image/\xe4, image/png", JSON, 1000},
        {"im age/png", JSON, 1000},
        {"image/png;", JSON, 1000},
        {"image/png;x", JSON, 1000},
        {"image/png;=x", JSON, 1000},
        {"image/png;x=", JSON, 1000},
        {"image/png;x=y z", JSON, 1000},
        {"image/png;q =0.5", JSON, 1000},
        {"image/png;q=\"1\"", JSON, 1000},
        {"image/png;x=\"a", JSON, 1000},
        {"image/png;x=\"", JSON, 1000},
        {"image/png;x=\"a\\", JSON, 1000},
        {"image/png q=1", JSON, 1000},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        unsigned weight = accept_weight(slice_of(CASES[i].header), slice_of(CASES[i].type));
        if (weight != CASES[i].weight)
            fail_msg("%s: %u", CASES[i].header, weight);
    }
    assert_int_equal(accept_weight((struct slice){0}, SLICE_LIT(JSON)), 1000);
}

/* Ranges that name the type, with any version of it. */
static void named(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        unsigned weight;
    } CASES[] = {
        {"application/openmetrics-text", 1000},
        {"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
         1000},
        {"text/plain, application/OpenMetrics-Text; version=0.0.1; q=0.75", 750},
        {"application/openmetrics-text;q=0.2;x=y,application/openmetrics-text;v=1;q=0.3", 300},
        {"application/openmetrics-text;q=0", 0},
        {"application/*,*/*", 0},
        {"text/plain", 0},
        {"", 0},
        {"application/openmetrics-text;", 0}, /* malformed */
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        unsigned weight = accept_weight_named(slice_of(CASES[i].header),
                                              SLICE_LIT("application/openmetrics-text"));
        if (weight != CASES[i].weight)
            fail_msg("%s: %u", CASES[i].header, weight);
    }
    assert_int_equal(accept_weight_named((struct slice){0}, SLICE_LIT("text/plain")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights),
        cmocka_unit_test(named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
