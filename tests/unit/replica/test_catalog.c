/* Catalogs: rows are found by name and id, numbers are reused, versions keep their rows. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "replica/catalog.h"
#include "unit.h"

static void names_and_ids(void **state)
{
    (void)state;
    struct catalog catalog = {.limit = 0};
    struct cow cow = {.birth = 1};
    const struct catalog_row *vcpu = catalog_insert(&cow, &catalog, 0, SLICE_LIT("VCPU"), 5, 6);
    const struct catalog_row *odd = catalog_insert(&cow, &catalog, 7, SLICE_LIT("A\0B"), 0, 0);
    assert_int_equal(vcpu->number, 0);
    assert_int_equal(odd->number, 1);
    assert_int_equal(vcpu->created_at_us, 5);
    assert_int_equal(vcpu->updated_at_us, 6);
    assert_ptr_equal(catalog_find(&catalog, SLICE_LIT("VCPU")), vcpu);
    assert_ptr_equal(catalog_find(&catalog, SLICE_LIT("A\0B")), odd);
    assert_null(catalog_find(&catalog, SLICE_LIT("A")));
    assert_null(catalog_find(&catalog, SLICE_LIT("vcpu")));
    assert_ptr_equal(catalog_find_id(&catalog, 0), vcpu);
    assert_ptr_equal(catalog_find_id(&catalog, 7), odd);
    assert_null(catalog_find_id(&catalog, 1));
    catalog_free(&catalog, 0);
}

static void rename_and_delete(void **state)
{
    (void)state;
    struct catalog catalog = {.limit = 0};
    struct cow cow = {.birth = 1};
    catalog_insert(&cow, &catalog, 1, SLICE_LIT("a"), 10, 0);
    uint32_t b = catalog_insert(&cow, &catalog, 2, SLICE_LIT("b"), 20, 0)->number;
    catalog_insert(&cow, &catalog, 3, SLICE_LIT("c"), 30, 0);
    slotset_add(&cow, catalog_own_slots(&cow, &catalog, b), (struct slot_no){9});
    catalog_rename(&cow, &catalog, b, SLICE_LIT("longer"), 99);
    assert_null(catalog_find(&catalog, SLICE_LIT("b")));
    const struct catalog_row *row = catalog_find(&catalog, SLICE_LIT("longer"));
    assert_int_equal(row->number, b);
    assert_int_equal(row->id, 2);
    assert_int_equal(row->created_at_us, 20);
    assert_int_equal(row->updated_at_us, 99);
    assert_true(slotset_has(&catalog_at(&catalog, b)->slots, (struct slot_no){9}));
    slotset_remove(&cow, catalog_own_slots(&cow, &catalog, b), (struct slot_no){9});
    catalog_delete(&cow, &catalog, b);
    assert_null(catalog_find(&catalog, SLICE_LIT("longer")));
    assert_null(catalog_find_id(&catalog, 2));
    assert_null(catalog_at(&catalog, b)->row);
    row = catalog_insert(&cow, &catalog, 4, SLICE_LIT("b"), 40, 0);
    assert_int_equal(row->number, b); /* used again before a new number */
    assert_int_equal(catalog.limit, 3);
    assert_int_equal(catalog_insert(&cow, &catalog, 5, SLICE_LIT("e"), 0, 0)->number, 3);
    catalog_free(&catalog, 0);
}

/* Projects, users and aggregates are never deleted: over the years there may be millions. */
static void millions_of_rows(void **state)
{
    (void)state;
    const uint32_t many = 16000000;
    struct catalog catalog = {.limit = many};
    struct cow cow = {.birth = 1};
    const struct catalog_row *row = catalog_insert(&cow, &catalog, 7, SLICE_LIT("late"), 0, 0);
    assert_int_equal(row->number, many);
    assert_ptr_equal(catalog_find(&catalog, SLICE_LIT("late")), row);
    assert_ptr_equal(catalog_row_at(&catalog, many), row);
    catalog_free(&catalog, 0);
}

enum { IDS = 60, VERSIONS = 60 };

struct model {
    unsigned name[IDS]; /* 0: no such id */
};

static struct slice name_of(char text[16], unsigned name)
{
    return (struct slice){text, (size_t)snprintf(text, 16, "name%u", name)};
}

static void check_same(const struct catalog *catalog, const struct model *model)
{
    char text[16];
    struct ptree_iter iter;
    ptree_seek(&catalog->by_id, 0, 0, &iter);
    for (unsigned id = 0; id < IDS; id++) {
        const struct catalog_row *row = catalog_find_id(catalog, id);
        assert_int_equal(row != NULL, model->name[id] != 0);
        if (row == NULL)
            continue;
        assert_true(slice_equal(catalog_name(row), name_of(text, model->name[id])));
        assert_ptr_equal(catalog_find(catalog, name_of(text, model->name[id])), row);
        assert_ptr_equal(catalog_row_at(catalog, row->number), row);
        assert_int_equal(ptree_iter_get(&iter)->k1, id); /* the order of the rows */
        ptree_iter_next(&iter);
    }
    assert_null(ptree_iter_get(&iter));
    assert_int_equal(catalog->by_name.count, catalog->by_id.count);
    for (unsigned n = 0; n < catalog->limit; n++) {
        const struct catalog_row *row = catalog_at(catalog, n)->row;
        assert_true(row == NULL || row->number == n);
    }
}

static void random_versions(void **state)
{
    (void)state;
    struct catalog catalog = {.limit = 0};
    struct model model = {{0}};
    struct cow_retired retired = {0};
    unsigned names = 0;
    char text[16];
    srandom(2);
    for (unsigned v = 1; v <= VERSIONS; v++) {
        struct cow cow = {.birth = v};
        struct catalog before = catalog;
        struct model model_before = model;
        for (unsigned i = 0; i < 20; i++) {
            unsigned id = (unsigned)random() % IDS;
            const struct catalog_row *row = catalog_find_id(&catalog, id);
            if (row == NULL) {
                model.name[id] = ++names;
                catalog_insert(&cow, &catalog, id, name_of(text, names), v, 0);
            } else if (random() % 2 == 0) {
                model.name[id] = ++names;
                catalog_rename(&cow, &catalog, row->number, name_of(text, names), v);
            } else {
                model.name[id] = 0;
                catalog_delete(&cow, &catalog, row->number);
            }
        }
        check_same(&catalog, &model);
        check_same(&before, &model_before);
        assert_true(catalog.limit <= IDS);
        if (v % 6 == 0) {
            catalog_free(&catalog, v);
            free(cow.retired.items);
            catalog = before;
            model = model_before;
            check_same(&catalog, &model);
            continue;
        }
        cow_retired_free(&retired);
        retired = cow.retired;
    }
    cow_retired_free(&retired);
    catalog_free(&catalog, 0);
}

/* An aggregate of one host, as there may be several for each: row, indexes and member. */
static void costs_little(void **state)
{
    (void)state;
    enum { ROWS = 10000, MOST = 256 };
    struct catalog catalog = {.limit = 0};
    size_t before = mallinfo2().uordblks; /* 0 under a sanitizer's allocator */
    for (uint32_t n = 0; n < ROWS; n++) {
        struct cow cow = {.birth = n + 1};
        char uuid[37];
        snprintf(uuid, sizeof(uuid), "%08x-0000-4000-8000-%012x", n * 2654435761u, n);
        uint32_t number =
            catalog_insert(&cow, &catalog, n + 1, (struct slice){uuid, 36}, 0, 0)->number;
        slotset_add(&cow, catalog_own_slots(&cow, &catalog, number), (struct slot_no){n});
        cow_retired_free(&cow.retired);
    }
    size_t bytes = mallinfo2().uordblks - before;
    if (bytes > (size_t)ROWS * MOST)
        fail_msg("%zu bytes an aggregate", bytes / ROWS);
    catalog_free(&catalog, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_ids),    cmocka_unit_test(rename_and_delete),
        cmocka_unit_test(millions_of_rows), cmocka_unit_test(random_versions),
        cmocka_unit_test(costs_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
