/* Slot sets compared with plain arrays, over many versions: small sets that grow into pages and
 * shrink back, the edges of pages, lists that become bitsets and lists again, abandoned edits; and
 * the cost of sets. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "replica/slotset.h"
#include "unit.h"

enum { SLOTS = 3 * SLOTSET_PAGE_SLOTS, KEPT = 4 };

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
    assert_true(slotset_is_sound(set));
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

static void put(struct cow *cow, struct slotset *set, struct model *model, uint32_t slot, bool add)
{
    if (add)
        slotset_add(cow, set, (struct slot_no){slot});
    else
        slotset_remove(cow, set, (struct slot_no){slot});
    model->count += add && !model->has[slot];
    model->count -= !add && model->has[slot];
    model->has[slot] = add;
}

/* The changes of the v-th version. */
typedef void changes(struct cow *cow, struct slotset *set, struct model *model, unsigned v);

/* Each version is another edit of the one before, while the last few are still read. */
static void run_versions(unsigned versions, changes *change)
{
    static struct model models[KEPT];
    struct slotset sets[KEPT];
    struct cow_retired retired[KEPT] = {{0}};
    memset(models, 0, sizeof(models));
    memset(sets, 0, sizeof(sets));
    srandom(11);
    for (unsigned v = 1; v <= versions; v++) {
        unsigned now = v % KEPT;
        unsigned before = (v - 1) % KEPT;
        cow_retired_free(&retired[now]); /* nobody reads a version that old any more */
        struct cow cow = {.birth = v};
        struct slotset set = sets[before];
        models[now] = models[before];
        change(&cow, &set, &models[now], v);
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
    slotset_free(&sets[versions % KEPT], 0);
    assert_int_equal(sets[versions % KEPT].count, 0);
}

/* Up to about 280 in the middle page, and down again. */
static void many_slots(struct cow *cow, struct slotset *set, struct model *model, unsigned v)
{
    for (unsigned i = 0; i < 200; i++)
        put(cow, set, model, random_slot(), below(10) < (v % 20 < 10 ? 9 : 1));
}

static void random_versions(void **state)
{
    (void)state;
    run_versions(40, many_slots);
}

/* A few slots in all pages: the set grows from nothing to all of them, shrinks to nothing, and
 * stays for a while at the sizes where its representation changes; by one slot a version, or by
 * several. */
static void few_slots(struct cow *cow, struct slotset *set, struct model *model, unsigned v)
{
    enum { SOME = SLOTSET_FEW_MAX + 30, APART = SLOTS / SOME };
    static const unsigned HEIGHTS[] = {1, 2, 3, 1, 0, 5, 4, SLOTSET_FEW_MAX, SOME, 0, SOME, 2, 9};
    static unsigned goal;
    if (v == 1)
        goal = 0;
    if (model->count == HEIGHTS[goal] && below(4) == 0)
        goal = (goal + 1) % (sizeof(HEIGHTS) / sizeof(HEIGHTS[0]));
    for (unsigned i = below(2) == 0 ? 1 : below(20); i > 0; i--) {
        unsigned n = below(SOME);
        unsigned height = HEIGHTS[goal];
        bool add = model->count < height || (model->count == height && below(2) == 0);
        while (model->has[n * APART] == add && model->count != (add ? SOME : 0))
            n = (n + 1) % SOME;
        put(cow, set, model, n * APART, add);
    }
}

static void few_versions(void **state)
{
    (void)state;
    run_versions(600, few_slots);
}

static size_t bytes_in_use(void)
{
    return mallinfo2().uordblks; /* 0 under a sanitizer's allocator */
}

enum { SETS = 1000 };

/* The cost of a set after that many members were added, each in a version of its own, and after
 * they were removed. */
static void expect_cost(uint32_t members, uint32_t distance, size_t most)
{
    static struct slotset sets[SETS];
    uint64_t birth = 1;
    memset(sets, 0, sizeof(sets));
    size_t before = bytes_in_use();
    for (uint32_t n = 0; n < 2 * members; n++) {
        struct cow cow = {.birth = birth++};
        for (unsigned i = 0; i < SETS; i++) {
            struct slot_no slot = {i + n % members * distance};
            if (n < members)
                slotset_add(&cow, &sets[i], slot);
            else
                slotset_remove(&cow, &sets[i], slot);
        }
        cow_retired_free(&cow.retired);
        if (n == members - 1 && bytes_in_use() > before + most * SETS)
            fail_msg("%u members, %u apart: %zu bytes a set", members, distance,
                     (bytes_in_use() - before) / SETS);
    }
    if (bytes_in_use() > before + 16 * SETS) /* malloc keeps some for the thread */
        fail_msg("%zu bytes for empty sets", bytes_in_use() - before);
}

static void costs_little(void **state)
{
    (void)state;
    expect_cost(1, 1, 1);
    expect_cost(4, 5000, 40);
    expect_cost(40, 1, 40 * 8);
    expect_cost(SLOTSET_FEW_MAX, 5000, SLOTSET_FEW_MAX * 8);
    expect_cost(SLOTSET_FEW_MAX + 1, 1, 5 * 1024);
}

/* A page filled and emptied one by one, in another order than that of the slots. */
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
    assert_int_equal(cow.retired.count, 0); /* all of it belonged to this edit */
    slotset_free(&set, 0);
}

/* One page is emptied while another keeps the set in pages: bits, then a list, then no page. */
static void page_empties_beside_another(void **state)
{
    (void)state;
    enum { BOTH = 200 };
    static struct model model;
    memset(&model, 0, sizeof(model));
    struct cow cow = {.birth = 1};
    struct slotset set = {.count = 0};
    for (uint32_t i = 0; i < BOTH; i++) {
        put(&cow, &set, &model, i * 19, true);
        put(&cow, &set, &model, SLOTSET_PAGE_SLOTS + i * 7, true);
    }
    assert_non_null(slotset_page_bits(&set, 0));
    for (uint32_t i = 0; i < BOTH; i++) {
        put(&cow, &set, &model, i * 77 % BOTH * 19, false); /* 77 and 200: no common divisor */
        check_same(&set, &model);
    }
    assert_null(slotset_page_bits(&set, 0));
    assert_null(cow_array_leaf(&set.pages, 0));
    assert_int_equal(set.count, BOTH);
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

static void unsound_is_seen(void **state)
{
    (void)state;
    struct cow cow = {.birth = 1};
    struct slotset set = {.count = 0};
    for (uint32_t slot = 0; slot < SLOTSET_FEW_MAX + 10; slot++)
        slotset_add(&cow, &set, (struct slot_no){slot});
    assert_true(slotset_is_sound(&set));
    set.count++;
    assert_false(slotset_is_sound(&set));
    set.count--;
    uint64_t *bits = (uint64_t *)(uintptr_t)slotset_page_bits(&set, 0);
    bits[1] ^= 1; /* one member less than the page counts */
    assert_false(slotset_is_sound(&set));
    bits[1] ^= 1;
    assert_true(slotset_is_sound(&set));
    slotset_free(&set, 0);
}

/* The members of a list are what follows its header. */
static void unsound_list_is_seen(void **state)
{
    (void)state;
    struct cow cow = {.birth = 1};
    struct slotset set = {.count = 0};
    for (uint32_t slot = 10; slot < 13; slot++)
        slotset_add(&cow, &set, (struct slot_no){slot});
    uint32_t *few = (uint32_t *)((char *)set.few + sizeof(struct cow_node));
    assert_int_equal(few[0], 10);
    few[0] = 11;
    assert_false(slotset_is_sound(&set));
    few[0] = 10;
    for (uint32_t slot = 0; slot < SLOTSET_FEW_MAX; slot++)
        slotset_add(&cow, &set, (struct slot_no){SLOTSET_PAGE_SLOTS + slot});
    assert_true(slotset_is_sound(&set));
    uint16_t *list = (uint16_t *)((char *)(uintptr_t)cow_array_leaf(&set.pages, 0) +
                                  sizeof(struct cow_node) + 2 * sizeof(uint32_t));
    assert_int_equal(list[0], 10);
    list[0] = 11;
    assert_false(slotset_is_sound(&set));
    slotset_free(&set, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_versions), cmocka_unit_test(few_versions),
        cmocka_unit_test(costs_little),    cmocka_unit_test(page_full_and_empty),
        cmocka_unit_test(far_slots),       cmocka_unit_test(page_empties_beside_another),
        cmocka_unit_test(unsound_is_seen), cmocka_unit_test(unsound_list_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
