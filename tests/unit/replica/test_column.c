/* Columns against a plain array: headroom, the maxima of runs, holders and odd slots. */
#include <stdlib.h>

#include "replica/version.h"
#include "unit.h"

enum { SLOTS = 4 * CHUNK_SLOTS };

struct model {
    int32_t headroom[SLOTS];
    bool holds[SLOTS];
    bool odd[SLOTS];
};

static void check_same(const struct column *column, const struct model *model)
{
    for (uint32_t chunk = 0; chunk < SLOTS / CHUNK_SLOTS; chunk++) {
        const struct column_chunk *got = column_chunk_at(column, chunk);
        for (uint32_t run = 0; run < CHUNK_RUNS; run++) {
            int32_t most = 0;
            for (uint32_t i = 0; i < CHUNK_RUN; i++) {
                uint32_t slot = chunk * CHUNK_SLOTS + run * CHUNK_RUN + i;
                if (model->headroom[slot] > most)
                    most = model->headroom[slot];
            }
            assert_int_equal(got == NULL ? 0 : got->most[run], most);
        }
    }
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        struct slot_no at = {slot};
        assert_int_equal(column_headroom(column, at), model->headroom[slot]);
        assert_int_equal(slotset_has(&column->holders, at), model->holds[slot]);
        assert_int_equal(slotset_has(&column->odd, at), model->odd[slot]);
    }
}

static void step(struct cow *cow, struct column *column, struct model *model)
{
    uint32_t slot = (uint32_t)random() % SLOTS;
    if (slot / CHUNK_SLOTS == 1)
        slot = CHUNK_SLOTS; /* one chunk stays nearly empty */
    if (random() % 3 == 0) {
        column_clear(cow, column, (struct slot_no){slot});
        model->headroom[slot] = 0;
        model->holds[slot] = model->odd[slot] = false;
        return;
    }
    model->headroom[slot] = (int32_t)(random() % 4 == 0 ? INT32_MAX : random() % 5);
    model->holds[slot] = true;
    model->odd[slot] = random() % 3 == 0;
    column_set(cow, column, (struct slot_no){slot}, model->headroom[slot], model->odd[slot]);
}

static void random_changes(void **state)
{
    (void)state;
    static struct model model, before;
    struct column column = {0};
    struct cow_retired retired = {0};
    srandom(5);
    for (unsigned v = 1; v <= 60; v++) {
        struct cow cow = {.birth = v};
        struct column older = column;
        before = model;
        for (unsigned i = 0; i < 60; i++)
            step(&cow, &column, &model);
        check_same(&column, &model);
        check_same(&older, &before);
        if (v % 7 == 0) {
            column_free(&column, v);
            free(cow.retired.items);
            column = older;
            model = before;
            continue;
        }
        cow_retired_free(&retired);
        retired = cow.retired;
    }
    cow_retired_free(&retired);
    column_free(&column, 0);
}

/* A change to the same value copies nothing. */
static void same_figure_is_free(void **state)
{
    (void)state;
    struct column column = {0};
    struct cow first = {.birth = 1};
    struct slot_no slot = {700};
    column_set(&first, &column, slot, 9, true);
    struct cow second = {.birth = 2};
    const void *chunk = column_chunk_at(&column, 2);
    column_set(&second, &column, slot, 9, true);
    column_clear(&second, &column, (struct slot_no){3});
    assert_ptr_equal(column_chunk_at(&column, 2), chunk);
    assert_null(column_chunk_at(&column, 0));
    assert_int_equal(second.retired.count, 0);
    column_free(&column, 0);
}

/* There may be more classes than columns: those beyond have no inventory. */
static void late_classes_are_empty(void **state)
{
    (void)state;
    struct version version = {.slot_limit = 0};
    struct cow cow = {.birth = 1};
    const uint32_t columns = (uint32_t)COW_LEAVES_MAX << COLUMN_SHAPE.shift;
    struct column *last = cow_array_own(&cow, &version.columns, COLUMN_SHAPE, columns - 1);
    column_set(&cow, last, (struct slot_no){5}, 7, false);
    assert_int_equal(column_headroom(version_column(&version, (struct class_no){columns - 1}),
                                     (struct slot_no){5}),
                     7);
    for (uint32_t class_no = columns - 2; class_no < columns + 2; class_no++)
        if (class_no != columns - 1)
            assert_int_equal(version_column(&version, (struct class_no){class_no})->holders.count,
                             0);
    column_free(last, 0);
    cow_array_free(&version.columns, 0, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes),
        cmocka_unit_test(same_figure_is_free),
        cmocka_unit_test(late_classes_are_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
