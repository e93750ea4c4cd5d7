/* Ranges of addresses, as Python's ipaddress reads them. */
#include "conf/address_range.h"

#include "unit.h"

static bool has(const char *range_text, const char *address)
{
    struct address_range range;
    assert_true(address_range_parse(slice_of(range_text), &range));
    return address_range_has(&range, slice_of(address));
}

static void ranges(void **state)
{
    (void)state;
    assert_true(has("10.0.0.0/8", "10.255.1.2"));
    assert_false(has("10.0.0.0/8", "11.0.0.0"));
    assert_true(has("192.168.1.128/25", "192.168.1.129"));
    assert_false(has("192.168.1.128/25", "192.168.1.127"));
    assert_true(has("127.0.0.1", "127.0.0.1"));
    assert_false(has("127.0.0.1", "127.0.0.2"));
    assert_true(has("0.0.0.0/0", "8.8.8.8"));
    assert_false(has("0.0.0.0/0", "::1"));
    assert_true(has("::/0", "2001:db8::1"));
    assert_false(has("::/0", "8.8.8.8"));
    assert_true(has(" 2001:db8::/32 ", "2001:db8:ffff::1"));
    assert_false(has("2001:db8::/32", "2001:db9::1"));
    assert_true(has("::1/128", "::1"));
    assert_false(has("0.0.0.0/0", ""));
    assert_false(has("0.0.0.0/0", "nowhere"));
}

static void no_ranges(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"",
                                        "/8",
                                        "10.0.0.0/",
                                        "10.0.0.0/33",
                                        "10.0.0/8",
                                        "::/129",
                                        "10.0.0.1/8",
                                        "a",
                                        "10.0.0.0/8/8",
                                        "10.0.0.0/-1",
                                        "10.0.0.0/99999999999"};
    struct address_range range;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        assert_false(address_range_parse(slice_of(TEXTS[i]), &range));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges),
        cmocka_unit_test(no_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
