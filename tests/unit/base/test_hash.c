/* The hash compared with SipHash-1-3's values for the key 00 01 ... 0f, which replaces the random
 * one here, and checked for its properties. The values come from an implementation that reproduces
 * the vectors of SipHash-2-4 (Aumasson and Bernstein, appendix A), with the rounds of the 1-3
 * variant. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <sys/random.h>

#include "base/hash.h"
#include "unit.h"

/* Replaces the C library's. */
ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
    (void)flags;
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)buffer)[i] = (unsigned char)i;
    return (ssize_t)size;
}

static void known_values(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        uint64_t hash;
    } CASES[] = {
        {0, 0xabac0158050fc4dcu},  {1, 0xc9f49bf37d57ca93u},  {7, 0xd3927d989bb11140u},
        {8, 0x369095118d299a8eu},  {9, 0x25a48eb36c063de4u},  {15, 0xd320d86d2a519956u},
        {2, 0x82cb9b024dc7d44du},  {3, 0x8bf80ab8e7ddf7fbu},  {4, 0xcf75576088d38328u},
        {5, 0xdef9d52f49533b67u},  {6, 0xc50d2b50c59f22a7u},  {10, 0x79de85ee92ff097fu},
        {11, 0x70c118c1f94dc352u}, {12, 0x78a384b157b4d9a2u}, {13, 0x306f760c1229ffa7u},
        {14, 0x605aa111c0f95d34u}, {16, 0xcc4fdd1a7d908b66u}, {36, 0x2cf508d3ada26206u},
        {63, 0x9d199062b7bbb3a8u},
    };
    char text[64];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)i;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        assert_int_equal(hash_text((struct slice){text, CASES[i].len}), CASES[i].hash);
}

static void same_text_same_hash(void **state)
{
    (void)state;
    char text[64];
    for (size_t len = 0; len < 40; len++)
        for (size_t shift = 0; shift < 8; shift++) {
            memset(text, 'x', sizeof(text));
            uint64_t want = hash_text((struct slice){text, len});
            memset(text, '?', sizeof(text));
            memset(text + shift, 'x', len); /* elsewhere, among other bytes */
            assert_int_equal(hash_text((struct slice){text + shift, len}), want);
        }
    assert_int_equal(hash_text((struct slice){0}), hash_text(SLICE_LIT("")));
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A cut of 64 bits: two of some 100 000 different texts have equal hashes with a probability of
 * 3e-10. */
static void different_texts_differ(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    uint64_t *hashes = calloc(COUNT, sizeof(*hashes));
    for (unsigned i = 0; i < COUNT; i++) {
        char text[64] = {0};
        size_t len = i % 2 == 0 ? (size_t)snprintf(text, sizeof(text), "host%u", i) : i % 48;
        if (i % 2 != 0) /* zero bytes except the number: the length and every byte count */
            memcpy(text + 48, &i, sizeof(i));
        hashes[i] = i % 2 == 0 ? hash_text((struct slice){text, len})
                               : hash_text((struct slice){text + 48 - len, len + 4});
    }
    qsort(hashes, COUNT, sizeof(*hashes), compare);
    for (unsigned i = 1; i < COUNT; i++)
        assert_int_not_equal(hashes[i - 1], hashes[i]);
    free(hashes);
}

/* Each bit of the text changes about half of the hash's bits. */
static void bits_spread(void **state)
{
    (void)state;
    for (size_t len = 1; len <= 20; len++) {
        char text[20] = "allocation candidat";
        uint64_t before = hash_text((struct slice){text, len});
        unsigned turned = 0;
        for (size_t bit = 0; bit < 8 * len; bit++) {
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
            turned += (unsigned)__builtin_popcountll(before ^ hash_text((struct slice){text, len}));
            text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        }
        assert_true(turned > 8 * len * 24 && turned < 8 * len * 40);
    }
}

static void *hash_elsewhere(void *result)
{
    *(uint64_t *)result = hash_text(SLICE_LIT("VCPU"));
    return NULL;
}

static void threads_agree(void **state)
{
    (void)state;
    pthread_t threads[4];
    uint64_t results[4];
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hash_elsewhere, &results[i]), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(results[i], hash_text(SLICE_LIT("VCPU")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_agree),       cmocka_unit_test(known_values),
        cmocka_unit_test(same_text_same_hash), cmocka_unit_test(different_texts_differ),
        cmocka_unit_test(bits_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
