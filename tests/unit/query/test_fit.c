/* The kernels compared with a loop over single providers, on clouds of more than one page. */
#include <stdlib.h>

#include "cloud.h"
#include "query/fit.h"
#include "unit.h"

static const struct provider *at(const struct version *version, uint32_t slot)
{
    const struct place *place = version_place(version, (struct slot_no){slot});
    return place == NULL ? NULL : place->provider;
}

static void fill_random(uint64_t words[FIT_WORDS], uint64_t before[FIT_WORDS])
{
    for (unsigned i = 0; i < FIT_WORDS; i++) {
        words[i] = (uint64_t)random() << 42 ^ (uint64_t)random() << 21 ^ (uint64_t)random();
        if (i % 7 == 0)
            words[i] = i % 2 == 0 ? 0 : ~(uint64_t)0;
        before[i] = words[i];
    }
}

static bool naive_fits(const struct provider *provider, struct class_no class_no, int64_t amount)
{
    const struct provider_inventory *inventory =
        provider == NULL ? NULL : provider_inventory_of(provider, class_no);
    return inventory != NULL && capacity_unit_fits(&inventory->figures, amount) &&
           inventory->used + amount <= capacity_of(&inventory->figures);
}

static void check_demand(const struct version *version, const struct fit_demand *demand)
{
    unsigned fitting = 0;
    for (uint32_t page = 0; page * FIT_PAGE_SLOTS < version->slot_limit; page++) {
        uint64_t words[FIT_WORDS];
        uint64_t before[FIT_WORDS];
        fill_random(words, before);
        fit_demand_page(version, demand, page, words);
        for (uint32_t i = 0; i < FIT_PAGE_SLOTS; i++) {
            uint32_t slot = page * FIT_PAGE_SLOTS + i;
            const struct provider *provider = slot < version->slot_limit ? at(version, slot) : NULL;
            bool fits = naive_fits(provider, demand->class_no, demand->amount);
            bool had = before[i / 64] >> i % 64 & 1;
            if ((words[i / 64] >> i % 64 & 1) != (had && fits))
                fail_msg("slot %u, amount %lld", slot, (long long)demand->amount);
            if (provider != NULL)
                assert_int_equal(fit_demand_slot(version, demand, (struct slot_no){slot}), fits);
            fitting += fits;
        }
    }
    if (demand->amount > 20)
        assert_int_equal(fitting, 0);
}

static void demands(void **state)
{
    (void)state;
    srandom(4);
    struct cloud cloud = cloud_create(6000, 3, 0);
    assert_true(cloud.version->slot_limit > FIT_PAGE_SLOTS);
    static const int64_t AMOUNTS[] = {1,
                                      2,
                                      3,
                                      4,
                                      5,
                                      6,
                                      9,
                                      10,
                                      INT32_MAX,
                                      (int64_t)INT32_MAX + 1,
                                      (int64_t)1 << 32,
                                      ((int64_t)1 << 32) + 1,
                                      INT64_MAX};
    for (unsigned c = 1; c <= CLOUD_CLASSES; c++)
        for (size_t i = 0; i < sizeof(AMOUNTS) / sizeof(AMOUNTS[0]); i++) {
            const struct catalog_row *row = catalog_find_id(&cloud.version->classes, c);
            struct class_no class_no = {row->number};
            struct fit_demand demand = {.column = version_column(cloud.version, class_no),
                                        .class_no = class_no,
                                        .amount = AMOUNTS[i]};
            check_demand(cloud.version, &demand);
        }
    struct class_no nobodys = {CLOUD_CLASSES + 10};
    struct fit_demand demand = {
        .column = version_column(cloud.version, nobodys), .class_no = nobodys, .amount = 1};
    uint64_t words[FIT_WORDS];
    memset(words, 0xff, sizeof(words));
    fit_demand_page(cloud.version, &demand, 0, words);
    assert_true(fit_words_empty(words));
    cloud_destroy(&cloud);
}

static const struct slotset *trait_set(const struct cloud *cloud, unsigned id)
{
    const struct catalog_row *row = catalog_find_id(&cloud->version->traits, id);
    return &catalog_at(&cloud->version->traits, row->number)->slots;
}

static void check_filter(const struct cloud *cloud, const struct fit_filter *filter)
{
    const struct version *version = cloud->version;
    for (uint32_t page = 0; page * FIT_PAGE_SLOTS < version->slot_limit; page++) {
        uint64_t words[FIT_WORDS];
        uint64_t before[FIT_WORDS];
        fill_random(words, before);
        fit_filter_page(filter, page, words);
        for (uint32_t i = 0; i < FIT_PAGE_SLOTS; i++) {
            struct slot_no slot = {page * FIT_PAGE_SLOTS + i};
            bool passes = true;
            for (uint32_t k = 0; k < filter->any_count; k++) {
                bool any = false;
                for (uint32_t s = 0; s < filter->any[k].count; s++)
                    any = any || slotset_has(filter->any[k].sets[s], slot);
                passes = passes && any;
            }
            for (uint32_t k = 0; k < filter->none_count; k++)
                passes = passes && !slotset_has(filter->none[k], slot);
            bool had = before[i / 64] >> i % 64 & 1;
            if ((words[i / 64] >> i % 64 & 1) != (had && passes))
                fail_msg("slot %u", slot.v);
            assert_int_equal(fit_filter_slot(filter, slot), passes);
        }
    }
}

static void filters(void **state)
{
    (void)state;
    srandom(8);
    struct cloud cloud = cloud_create(4500, 0, 1);
    for (unsigned i = 0; i < 60; i++) {
        const struct slotset *sets[3][2];
        const struct slotset *none[2];
        struct fit_any any[3];
        struct fit_filter filter = {any, cloud_below(4), none, cloud_below(3)};
        for (uint32_t k = 0; k < filter.any_count; k++) {
            any[k] = (struct fit_any){sets[k], cloud_below(10) == 0 ? 0 : 1 + cloud_below(2)};
            for (uint32_t s = 0; s < any[k].count; s++)
                sets[k][s] = trait_set(&cloud, 1 + cloud_below(CLOUD_TRAITS + 1));
        }
        for (uint32_t k = 0; k < filter.none_count; k++)
            none[k] = trait_set(&cloud, 1 + cloud_below(CLOUD_TRAITS + 1));
        check_filter(&cloud, &filter);
    }
    cloud_destroy(&cloud);
}

/* A given headroom replaces the column's, and nothing else. */
static void headrooms(void **state)
{
    (void)state;
    srandom(6);
    struct cloud cloud = cloud_create(6000, 3, 0);
    const struct catalog_row *row = catalog_find_id(&cloud.version->classes, 1);
    struct class_no class_no = {row->number};
    struct fit_headroom list[600];
    struct fit_demand demand = {
        .column = version_column(cloud.version, class_no), .class_no = class_no, .headrooms = list};
    for (uint32_t slot = 0; slot < cloud.version->slot_limit && demand.headroom_count < 600; slot++)
        if (at(cloud.version, slot) != NULL && cloud_below(10) == 0 &&
            provider_inventory_of(at(cloud.version, slot), class_no) != NULL)
            list[demand.headroom_count++] =
                (struct fit_headroom){class_no, {slot}, (int32_t)cloud_below(8)};
    assert_true(demand.headroom_count > 200);
    for (demand.amount = 1; demand.amount < 8; demand.amount++) {
        uint32_t next = 0;
        for (uint32_t page = 0; page * FIT_PAGE_SLOTS < cloud.version->slot_limit; page++) {
            uint64_t words[FIT_WORDS];
            uint64_t before[FIT_WORDS];
            fill_random(words, before);
            fit_demand_page(cloud.version, &demand, page, words);
            for (uint32_t i = 0; i < FIT_PAGE_SLOTS; i++) {
                struct slot_no slot = {page * FIT_PAGE_SLOTS + i};
                if (slot.v >= cloud.version->slot_limit || at(cloud.version, slot.v) == NULL)
                    continue;
                bool fits = naive_fits(at(cloud.version, slot.v), class_no, demand.amount);
                if (next < demand.headroom_count && list[next].slot.v == slot.v) {
                    const struct inventory_figures *figures =
                        &provider_inventory_of(at(cloud.version, slot.v), class_no)->figures;
                    fits =
                        demand.amount <= list[next++].headroom &&
                        demand.amount >= figures->min_unit &&
                        (!capacity_is_odd(figures) || capacity_unit_fits(figures, demand.amount));
                }
                assert_int_equal(words[i / 64] >> i % 64 & 1,
                                 fits && (before[i / 64] >> i % 64 & 1));
                assert_int_equal(fit_demand_slot(cloud.version, &demand, slot), fits);
            }
        }
    }
    cloud_destroy(&cloud);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demands),
        cmocka_unit_test(headrooms),
        cmocka_unit_test(filters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
