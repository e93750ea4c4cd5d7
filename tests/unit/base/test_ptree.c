/* The persistent tree compared with a plain array, over many versions, some abandoned; the previous
 * one stays readable. */
#include <stdlib.h>
#include <string.h>

#include "base/ptree.h"
#include "unit.h"

enum { KEYS = 700, VERSIONS = 60, KEPT = 8 };

struct model {
    bool there[KEYS];
    uint64_t value[KEYS];
};

static uint64_t k1_of(unsigned key)
{
    return key / 3; /* several keys share k1 */
}

static void check_equal(const struct ptree *tree, const struct model *model)
{
    uint64_t count = 0;
    struct ptree_iter iter;
    ptree_seek(tree, 0, 0, &iter);
    for (unsigned key = 0; key < KEYS; key++) {
        uint64_t value;
        assert_int_equal(ptree_find(tree, k1_of(key), key, &value), model->there[key]);
        if (!model->there[key])
            continue;
        assert_int_equal(value, model->value[key]);
        const struct ptree_entry *entry = ptree_iter_get(&iter);
        assert_non_null(entry);
        assert_int_equal(entry->k1, k1_of(key));
        assert_int_equal(entry->k2, key);
        ptree_iter_next(&iter);
        count++;
    }
    assert_null(ptree_iter_get(&iter));
    assert_int_equal(tree->count, count);
}

static void check_seek(const struct ptree *tree, const struct model *model, unsigned key)
{
    struct ptree_iter iter;
    ptree_seek(tree, k1_of(key), key, &iter);
    while (key < KEYS && !model->there[key])
        key++;
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    if (key == KEYS)
        assert_null(entry);
    else
        assert_int_equal(entry->k2, key);
}

static void run(unsigned seed, unsigned per_version, unsigned removals_in_10)
{
    srandom(seed);
    struct ptree tree = {0};
    struct model model = {0};
    struct cow_retired retired[KEPT] = {0};
    for (unsigned version = 1; version <= VERSIONS; version++) {
        struct cow cow = {.birth = version};
        struct ptree before = tree;
        struct model model_before = model;
        for (unsigned i = 0; i < per_version; i++) {
            unsigned key = (unsigned)random() % KEYS;
            if ((unsigned)random() % 10 < removals_in_10) {
                assert_int_equal(ptree_remove(&cow, &tree, k1_of(key), key), model.there[key]);
                model.there[key] = false;
            } else {
                model.value[key] = (uint64_t)random();
                model.there[key] = true;
                ptree_set(&cow, &tree, k1_of(key), key, model.value[key]);
            }
            check_seek(&tree, &model, (unsigned)random() % KEYS);
        }
        check_equal(&tree, &model);
        check_equal(&before, &model_before);
        if (random() % 4 == 0) { /* abandon this edit */
            ptree_free(&tree, version, NULL, NULL);
            free(cow.retired.items);
            tree = before;
            model = model_before;
            check_equal(&tree, &model);
            continue;
        }
        /* versions older than KEPT are unreadable from here on */
        unsigned slot = version % KEPT;
        cow_retired_free(&retired[slot]);
        retired[slot] = cow.retired;
    }
    for (unsigned i = 0; i < KEPT; i++)
        cow_retired_free(&retired[i]);
    check_equal(&tree, &model);
    ptree_free(&tree, 0, NULL, NULL);
}

static void random_edits(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 12; seed++)
        run(seed, seed % 3 == 0 ? 400 : 40, seed % 2 == 0 ? 3 : 6);
}

static void ascending_load_fills_nodes(void **state)
{
    (void)state;
    struct ptree tree = {0};
    struct cow cow = {.birth = 1};
    for (uint64_t i = 0; i < 100000; i++)
        ptree_set(&cow, &tree, i, 0, i * 2);
    assert_int_equal(tree.count, 100000);
    for (uint64_t i = 0; i < 100000; i += 997) {
        uint64_t value;
        assert_true(ptree_find(&tree, i, 0, &value));
        assert_int_equal(value, i * 2);
    }
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(ptree_remove(&cow, &tree, i, 0));
    assert_null(tree.root);
    cow_retired_free(&cow.retired);
}

static void the_last_entry(void **state)
{
    (void)state;
    struct ptree tree = {0};
    struct cow cow = {.birth = 1};
    assert_null(ptree_last(&tree));
    for (uint64_t i = 0; i < 1000; i++) {
        ptree_set(&cow, &tree, i * 7 % 1000, i, i);
        const struct ptree_entry *last = ptree_last(&tree);
        struct ptree_iter iter;
        ptree_seek(&tree, last->k1, last->k2, &iter);
        assert_ptr_equal(ptree_iter_get(&iter), last);
        ptree_iter_next(&iter);
        assert_null(ptree_iter_get(&iter));
    }
    assert_int_equal(ptree_last(&tree)->k1, 999);
    ptree_free(&tree, 0, NULL, NULL);
    cow_retired_free(&cow.retired);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_edits),
        cmocka_unit_test(ascending_load_fills_nodes),
        cmocka_unit_test(the_last_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
