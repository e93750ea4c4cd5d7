/* Which texts are UUIDs: the answers of oslo_utils.uuidutils.is_uuid_like, and the dashed form. */
#include "api/text/uuid_like.h"
#include "unit.h"

#define DASHED "01234567-89ab-cdef-0123-456789abcdef"

static void forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_like;
        bool is_dashed;
    } CASES[] = {
        {DASHED, true, true},
        {"01234567-89AB-CDEF-0123-456789ABCDEF", true, true},
        {"0123456789abcdef0123456789abcdef", true, false},
        {"{" DASHED "}", true, false},
        {"{{" DASHED, true, false},
        {"urn:uuid:" DASHED, true, false},
        {"uuid:" DASHED, true, false},
        {"{urn:uuid:" DASHED "}", true, false},
        {"0123urn:4567-89ab-cdef-0123-456789abcdef", true, false},
        {"--01234567--89ab-cdef-0123-456789abcdef-", true, false},
        {"0-1234567-89ab-cdef-0123-456789abcde-f", true, false},
        {"012345678-9ab-cdef-0123-456789abcdef", true, false}, /* 36 long, dashes elsewhere */
        {"", false, false},
        {"{}", false, false},
        {"01234567-89ab-cdef-0123-456789abcde", false, false},
        {"01234567-89ab-cdef-0123-456789abcdef0", false, false},
        {"01234567-89ab-cdef-0123-456789abcdeg", false, false},
        {"01234567-89ab-cdef-0123-456789abcd f", false, false},
        {"URN:UUID:" DASHED, false, false},
        {"0123456789abcdef{}0123456789abcdef", false, false},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char dashed[UUID_LIKE_LEN];
        struct slice text = slice_of(CASES[i].text);
        if (uuid_like_read(text, dashed) != CASES[i].is_like ||
            uuid_like_read(text, NULL) != CASES[i].is_like ||
            uuid_like_is_dashed(text) != CASES[i].is_dashed)
            fail_msg("%s", CASES[i].text);
        if (CASES[i].is_like)
            assert_memory_equal(dashed, DASHED, UUID_LIKE_LEN);
    }
}

static void long_texts(void **state)
{
    (void)state;
    char text[1000];
    memset(text, '{', sizeof(text));
    memcpy(text + 200, DASHED, UUID_LIKE_LEN);
    assert_true(uuid_like_read((struct slice){text, 200 + UUID_LIKE_LEN}, NULL));
    assert_false(uuid_like_read((struct slice){text, sizeof(text)}, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms),
        cmocka_unit_test(long_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
