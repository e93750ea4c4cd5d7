/* What it costs to read queries that are as long as a request line may be: it grows with their
 * length and no faster. */
#include "api/api.h"
#include "api/fake_request.h"
#include "placement/api/candidates_parameters.h"
#include "steps.h"
#include "unit.h"

enum { QUERY_BYTES = 120 * 1024 };

static const struct api API = {0};

/* The first text, and then the other again and again, each with a number of its own for each %x. */
struct long_query {
    const char *first, *each;
};

static void append_numbered(struct buf *query, const char *text, unsigned number)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '%')
            buf_printf(query, "%x", number + 4096);
        else if (c == text || c[-1] != '%')
            buf_append_char(query, *c);
    }
}

static struct steps_cost cost_of_query(const struct long_query *parts, size_t bytes)
{
    struct fake_request fake;
    struct buf query = {0};
    struct ac_request got;
    buf_append_slice(&query, slice_of(parts->first));
    for (unsigned n = 0; query.len < bytes; n++)
        append_numbered(&query, parts->each, n);
    fake_request_open(&fake, &API);
    fake.request.query = buf_slice(&query);
    uint64_t before = steps_now();
    (void)candidates_parameters_read(&fake.request, &got);
    struct steps_cost cost = {query.len, steps_since(before)};
    fake_request_close(&fake);
    buf_free(&query);
    return cost;
}

static void costs_grow_with_queries(void **state)
{
    (void)state;
    static const struct long_query QUERIES[] = {
        {"resources=VCPU:1", "&limit=1"},
        {"resources=VCPU:1", "&required=A"},
        {"resources=VCPU:1&same_subtree=x", ",%x"},
        {"resources=VCPU:1", ",%x:1"},
        {"resources=VCPU:1&root_required=A", ",%x,!%x"},
        {"resources=VCPU:1&required=A", ",%x,!%x"},
        {"group_policy=none", "&resources_%x=VCPU:1&required_%x=A"},
        {"group_policy=none", "&resources_%x=VCPU:1&required_%x=A&required_%x=B"},
        {"resources=VCPU:1&same_subtree=_1", "&required_%x=A&same_subtree=_%x"},
    };
    for (size_t i = 0; i < sizeof(QUERIES) / sizeof(QUERIES[0]); i++) {
        struct steps_cost small = cost_of_query(&QUERIES[i], QUERY_BYTES / 8);
        struct steps_cost large = cost_of_query(&QUERIES[i], QUERY_BYTES);
        steps_assert_linear(QUERIES[i].each, small, large);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_grow_with_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
