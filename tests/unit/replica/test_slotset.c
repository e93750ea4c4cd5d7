/* Slot sets against plain arrays, over many versions: pages' edges, lists that become bitsets and
 * go back, abandoned edits. */
#include <stdlib.h>
#include <string.h>

#include "replica/slotset.h"
#include "unit.h"

enum { SLOTS = 3 * SLOTSET_PAGE_SLOTS, VERSIONS = 40, KEPT = 4 };

struct model {
    bool has[SLOTS];
    uint32_t count;
};

static unsigned below(unsigned n)
{
    return (unsigned)random() % n;
}

/* Often at the edges of pages, chunks and words. */
static uint32_t random_slot(void)
{
    static const uint32_t EDGES[] = {0, 63, 64, 255, 256, 4095, 4096, 4097, 8191, 8192, SLOTS - 1};
    if (below(10) == 0)
        return EDGES[below(sizeof(EDGES) / sizeof(EDGES[0]))];
    return below(4) == 0 ? below(SLOTS) : 4096 + below(300);
}

static void check_words(const struct slotset *set, const struct model *model)
{
    for (uint32_t page = 0; page < SLOTS / SLOTSET_PAGE_SLOTS; page++) {
        uint64_t words[SLOTSET_PAGE_WORDS];
        memset(words, 0, sizeof(words));
        words[5] = 0x10; /* adds to what is there */
        slotset_page_or(set, page, words);
        for (uint32_t i = 0; i < SLOTSET_PAGE_SLOTS; i++)
            if ((words[i / 64] >> i % 64 & 1) !=
                (model->has[page * SLOTSET_PAGE_SLOTS + i] || i == 5 * 64 + 4))
                fail_msg("page %u, slot %u", page, i);
    }
}

static void check_same(const struct slotset *set, const struct model *model)
{
    assert_int_equal(set->count, model->count);
    uint32_t next = slotset_next(set, 0);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (slotset_has(set, (struct slot_no){slot}) != model->has[slot])
            fail_msg("slot %u", slot);
        if (!model->has[slot])
            continue;
        assert_int_equal(next, slot);
        next = slotset_next(set, slot + 1);
    }
    assert_int_equal(next, NUMBER_NONE);
    check_words(set, model);
}

static void step(struct cow *cow, struct slotset *set, struct model *model, unsigned adds_in_10)
{
    uint32_t slot = random_slot();
    bool add = below(10) < adds_in_10;
    if (add)
        slotset_add(cow, set, (struct slot_no){slot});
    else
        slotset_remove(cow, set, (struct slot_no){slot});
    model->count += add && !model->has[slot];
    model->count -= !add && model->has[slot];
    model->has[slot] = add;
}

static void random_versions(void **state)
{
    (void)state;
    static struct model models[KEPT];
    struct slotset sets[KEPT];
    struct cow_retired retired[KEPT] = {{0}};
    memset(models, 0, sizeof(models));
    memset(sets, 0, sizeof(sets));
    srandom(11);
    for (unsigned v = 1; v <= VERSIONS; v++) {
        unsigned now = v % KEPT;
        unsigned before = (v - 1) % KEPT;
        cow_retired_free(&retired[now]); /* nobody reads a version so old any more */
        struct cow cow = {.birth = v};
        struct slotset set = sets[before];
        models[now] = models[before];
        for (unsigned i = 0; i < 200; i++) /* up to some 280 in the middle page, and down again */
            step(&cow, &set, &models[now], v % 20 < 10 ? 9 : 1);
        if (v % 5 == 0) {
            slotset_free(&set, v);
            free(cow.retired.items);
            cow.retired = (struct cow_retired){0};
            set = sets[before];
            models[now] = models[before];
        }
        sets[now] = set;
        retired[now] = cow.retired;
        for (unsigned i = 0; i < KEPT && i < v; i++)
            check_same(&sets[i], &models[i]);
    }
    for (unsigned i = 0; i < KEPT; i++)
        cow_retired_free(&retired[i]);
    slotset_free(&sets[VERSIONS % KEPT], 0);
    assert_int_equal(sets[VERSIONS % KEPT].count, 0);
}

/* A page filled and emptied one by one, in an order that is not the slots' own. */
static void page_full_and_empty(void **state)
{
    (void)state;
    static struct model model;
    memset(&model, 0, sizeof(model));
    struct cow cow = {.birth = 1};
    struct slotset set = {.count = 0};
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < SLOTSET_PAGE_SLOTS; i++) {
            uint32_t slot = SLOTSET_PAGE_SLOTS + i * 2731 % SLOTSET_PAGE_SLOTS;
            if (round == 0)
                slotset_add(&cow, &set, (struct slot_no){slot});
            else
                slotset_remove(&cow, &set, (struct slot_no){slot});
            model.has[slot] = round == 0;
            model.count = round == 0 ? i + 1 : SLOTSET_PAGE_SLOTS - 1 - i;
            assert_int_equal(set.count, model.count);
            if (model.count < 3 || (model.count > 60 && model.count < 70) ||
                (model.count > 125 && model.count < 132))
                check_same(&set, &model);
        }
    assert_int_equal(slotset_next(&set, 0), NUMBER_NONE);
    assert_int_equal(cow.retired.count, 0); /* all of it was this edit's own */
    slotset_free(&set, 0);
}

static void far_slots(void **state)
{
    (void)state;
    struct cow cow = {.birth = 1};
    struct slotset set = {.count = 0};
    uint32_t far = (uint32_t)COW_LEAVES_MAX * SLOTSET_PAGE_SLOTS / 16 * 15;
    assert_int_equal(slotset_next(&set, 7), NUMBER_NONE);
    slotset_add(&cow, &set, (struct slot_no){far});
    assert_int_equal(slotset_next(&set, 0), far);
    assert_int_equal(slotset_next(&set, far), far);
    assert_int_equal(slotset_next(&set, far + 1), NUMBER_NONE);
    slotset_free(&set, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_versions),
        cmocka_unit_test(page_full_and_empty),
        cmocka_unit_test(far_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
