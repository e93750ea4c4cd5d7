/* The text of an inventory's summary: stored if it is short enough, otherwise written each time. */
#include <inttypes.h>
#include <stdio.h>

#include "replica/provider.h"
#include "unit.h"

static void expect_summary(const struct inventory_figures *figures, int64_t used)
{
    struct provider_inventory inventory = {.figures = *figures, .used = used};
    char wanted[128];
    int len = snprintf(wanted, sizeof(wanted), "{\"capacity\": %" PRId64 ", \"used\": %" PRId64 "}",
                       capacity_of(figures), used);
    struct buf out = {0};
    provider_inventory_summarise(&inventory);
    assert_int_equal(inventory.summary_len, len <= SUMMARY_TEXT_MAX ? len : 0);
    provider_inventory_write_summary(&out, &inventory);
    assert_int_equal(out.len, len);
    assert_memory_equal(out.data, wanted, out.len);
    buf_free(&out);
}

/* Amounts with each number of digits, up to the largest that there are. */
static void summaries_of_any_length(void **state)
{
    (void)state;
    static const double ratios[] = {0, 1, 16, 1e6, 1e9, 1e30};
    for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++)
        for (int count = 0; count < 20; count++) {
            int64_t digits = 0; /* 3, 33, 333 ... */
            for (int n = 0; n < count; n++)
                digits = digits * 10 + 3;
            struct inventory_figures most = {.total = INT32_MAX, .allocation_ratio = ratios[i]};
            struct inventory_figures least = {.reserved = INT32_MAX, .allocation_ratio = ratios[i]};
            expect_summary(&most, digits);
            expect_summary(&least, -digits);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
