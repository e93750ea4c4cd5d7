/* Request ids: generated ones are valid UUIDs of version 4, and always different. */
#include <stdlib.h>
#include <string.h>

#include "api/request_id.h"
#include "unit.h"

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, REQUEST_ID_LEN);
}

static void made(void **state)
{
    (void)state;
    enum { COUNT = 3000 }; /* several pages of randomness */
    char(*ids)[REQUEST_ID_LEN + 1] = calloc(COUNT, sizeof(*ids));
    unsigned variants = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        request_id_generate(ids[i]);
        assert_int_equal(strlen(ids[i]), REQUEST_ID_LEN);
        assert_true(request_id_is_valid(slice_of(ids[i])));
        assert_int_equal(ids[i][4 + 14], '4');
        assert_non_null(strchr("89ab", ids[i][4 + 19]));
        variants |= 1u << (strchr("89ab", ids[i][4 + 19]) - "89ab");
    }
    assert_int_equal(variants, 15);
    qsort(ids, COUNT, sizeof(*ids), compare);
    for (unsigned i = 1; i < COUNT; i++)
        assert_true(compare(ids[i - 1], ids[i]) != 0);
    free(ids);
}

static void validity(void **state)
{
    (void)state;
    static const char GOOD[] = "req-01234567-89ab-cdef-ABCD-EF0123456789";
    assert_true(request_id_is_valid(slice_of(GOOD)));
    for (size_t at = 0; at < REQUEST_ID_LEN; at++) {
        char text[REQUEST_ID_LEN + 1];
        memcpy(text, GOOD, sizeof(text));
        text[at] = at < 4 ? 'R' : 'g';
        assert_false(request_id_is_valid(slice_of(text)));
        if (at >= 4) { /* a digit instead of a dash, a dash instead of a digit */
            text[at] = GOOD[at] == '-' ? '0' : '-';
            assert_false(request_id_is_valid(slice_of(text)));
        }
    }
    assert_false(request_id_is_valid((struct slice){GOOD, REQUEST_ID_LEN - 1}));
    assert_false(request_id_is_valid((struct slice){GOOD, REQUEST_ID_LEN + 1}));
    assert_false(request_id_is_valid((struct slice){GOOD + 4, UUID_LEN}));
    assert_false(request_id_is_valid((struct slice){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made),
        cmocka_unit_test(validity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
