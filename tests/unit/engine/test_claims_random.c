/* Thousands of random claims and reshapes: what a count by hand says fits is accepted, the rest is
 * refused, and no accepted write lets the use of a class grow beyond its capacity. Once with few
 * classes, and once with so many that a provider's are sorted to be found. */
#include <stdlib.h>

#include "engine/world.h"
#include "unit.h"

enum { PROVIDERS = 6, FEW_CLASSES = 4, MANY_CLASSES = 60, CONSUMERS = 9, PLANS = 3000 };

static unsigned classes; /* ids 0 and up; the names are single characters from A on */

struct tally {
    int64_t used[PROVIDERS + 1][MANY_CLASSES];
    bool right; /* every amount has an inventory and its units */
};

static unsigned below(unsigned n)
{
    return (unsigned)random() % n;
}

static struct inventory_figures figures(void)
{
    return (struct inventory_figures){
        .total = 1 + (int32_t)below(30),
        .reserved = (int32_t)below(4),
        .min_unit = 1 + (int32_t)(below(6) == 0),
        .max_unit = 4 + (int32_t)below(20),
        .step_size = 1 + (int32_t)(below(6) == 0),
        .allocation_ratio = 0.5 * (1 + below(4)),
    };
}

static void count_used(struct world *world, struct tally *tally)
{
    for (unsigned c = 1; c <= CONSUMERS; c++) {
        const struct consumer *consumer = world_consumer(world, c);
        for (uint32_t i = 0; consumer != NULL && i < consumer->allocation_count; i++) {
            const struct consumer_allocation *held = &consumer->allocation[i];
            int64_t id = version_provider(world->edit->version, held->provider)->id;
            int64_t class_id = catalog_row_at(&world->edit->version->classes, held->class_no.v)->id;
            tally->used[id][class_id] += held->used;
        }
    }
}

static unsigned number_of(struct slice name)
{
    return (unsigned)strtoul(name.data + 1, NULL, 10);
}

/* The inventory that a claim is checked against: the reshape's, or what is there. */
static const struct inventory_figures *
figures_for(struct world *world, const struct reshape *reshape, unsigned p, unsigned class_id)
{
    for (size_t i = 0; i < reshape->provider_count; i++) {
        const struct reshape_provider *provider = &reshape->providers[i];
        for (size_t k = 0; number_of(provider->uuid) == p && k < provider->inventory_count; k++)
            if (provider->inventories[k].class_name.data[0] == 'A' + (char)class_id)
                return &provider->inventories[k].figures;
    }
    const struct provider_inventory *inventory =
        world_inventory(world, p, (char)('A' + (int)class_id));
    return inventory == NULL ? NULL : &inventory->figures;
}

static void tally_claims(struct world *world, const struct reshape *reshape, struct tally *tally)
{
    for (size_t i = 0; i < reshape->claim_count; i++) {
        const struct claim *claim = &reshape->claims[i];
        const struct consumer *consumer = world_consumer(world, number_of(claim->consumer));
        for (uint32_t a = 0; consumer != NULL && a < consumer->allocation_count; a++) {
            const struct consumer_allocation *held = &consumer->allocation[a];
            int64_t id = version_provider(world->edit->version, held->provider)->id;
            int64_t class_id = catalog_row_at(&world->edit->version->classes, held->class_no.v)->id;
            tally->used[id][class_id] -= held->used;
        }
        for (size_t p = 0; p < claim->provider_count; p++)
            for (size_t a = 0; a < claim->providers[p].amount_count; a++) {
                const struct claim_amount *amount = &claim->providers[p].amounts[a];
                unsigned id = number_of(claim->providers[p].uuid);
                unsigned class_id = (unsigned)(amount->class_name.data[0] - 'A');
                const struct inventory_figures *on = figures_for(world, reshape, id, class_id);
                tally->right &= on != NULL && amount->amount >= on->min_unit &&
                                amount->amount <= on->max_unit &&
                                amount->amount % on->step_size == 0;
                tally->used[id][class_id] += amount->amount;
            }
    }
}

static bool expect(struct world *world, const struct reshape *reshape, const struct tally *before,
                   struct tally *after)
{
    *after = *before;
    after->right = true;
    tally_claims(world, reshape, after);
    for (unsigned p = 1; p <= PROVIDERS; p++)
        for (unsigned c = 0; c < classes; c++) {
            const struct inventory_figures *on = figures_for(world, reshape, p, c);
            if (after->used[p][c] > before->used[p][c] && on != NULL &&
                after->used[p][c] > (int64_t)((on->total - on->reserved) * on->allocation_ratio))
                return false;
        }
    for (size_t i = 0; i < reshape->provider_count; i++) {
        const struct reshape_provider *provider = &reshape->providers[i];
        for (unsigned c = 0; c < classes; c++) {
            bool stays = false;
            for (size_t k = 0; k < provider->inventory_count; k++)
                stays |= provider->inventories[k].class_name.data[0] == 'A' + (char)c;
            if (!stays && after->used[number_of(provider->uuid)][c] > 0)
                return false;
        }
    }
    return after->right;
}

static struct claim random_claim(struct world *world, unsigned consumer)
{
    struct claim claim = world_claim(world, consumer);
    claim.project = below(2) == 0 ? SLICE_LIT("one") : SLICE_LIT("two");
    if (below(3) == 0)
        claim.type = below(2) == 0 ? SLICE_LIT("T1") : SLICE_LIT("T2");
    for (unsigned p = 1; p <= PROVIDERS; p++)
        for (unsigned c = 0, first = below(classes); c < classes && below(3) == 0; c++) {
            char name = (char)('A' + (first + c) % classes);
            if (below(3) == 0 && (world_inventory(world, p, name) != NULL || below(40) == 0))
                world_add(world, &claim, p, name, 1 + below(6));
        }
    return claim;
}

static struct reshape_provider random_reshape(struct world *world, unsigned p)
{
    struct reshape_inventory *inventories =
        arena_zalloc(world->arena, classes * sizeof(struct reshape_inventory));
    struct reshape_provider provider = {
        .uuid = world_uuid(world, 'p', p),
        .generation = world_provider(world, p)->generation,
        .inventories = inventories,
    };
    for (unsigned c = 0; c < classes; c++)
        if (below(4) > 0)
            inventories[provider.inventory_count++] = (struct reshape_inventory){
                arena_printf(world->arena, "%c", 'A' + (int)c), figures()};
    return provider;
}

static void add_classes(struct world *world)
{
    for (unsigned c = FEW_CLASSES; c < classes; c++)
        change_append(&world->changes, CHANGE_CLASS_INSERT)->catalog =
            (struct change_catalog){c, arena_printf(world->arena, "%c", 'A' + (int)c)};
    world_apply(world);
}

static void run(unsigned seed, unsigned plans, unsigned *accepted, unsigned *refused)
{
    srandom(seed);
    struct world world;
    world_open(&world, PROVIDERS);
    add_classes(&world);
    for (unsigned plan = 0; plan < plans; plan++) {
        if (below(8) == 0)
            world_put_inventory(&world, 1 + below(PROVIDERS), (char)('A' + (int)below(classes)),
                                figures());
        struct claim claims[3];
        struct reshape_provider providers[2];
        struct reshape reshape = {providers, 0, claims, 0};
        unsigned first = below(CONSUMERS);
        for (unsigned n = below(3) + 1; reshape.claim_count < n; reshape.claim_count++)
            claims[reshape.claim_count] =
                random_claim(&world, 1 + (first + (unsigned)reshape.claim_count) % CONSUMERS);
        bool reshapes = below(3) == 0;
        for (unsigned p = 1 + below(PROVIDERS - 1); reshapes && reshape.provider_count < 2; p++)
            providers[reshape.provider_count++] = random_reshape(&world, p);
        struct tally before = {0};
        struct tally after;
        count_used(&world, &before);
        bool expected = expect(&world, &reshape, &before, &after);
        bool fits = reshapes ? world_reshape(&world, &reshape)
                             : world_write(&world, claims, reshape.claim_count, CLAIM_BY_POST);
        assert_int_equal(fits, expected);
        struct tally now = {0};
        count_used(&world, &now);
        assert_memory_equal(now.used, fits ? after.used : before.used, sizeof(now.used));
        ++*(fits ? accepted : refused);
        if (plan % 100 == 99) { /* the texts of a hundred plans are enough */
            world.changes = (struct change_list){.arena = world.arena};
            arena_reset(world.arena);
        }
    }
    world_close(&world);
}

static void few_classes(void **state)
{
    (void)state;
    unsigned accepted = 0;
    unsigned refused = 0;
    classes = FEW_CLASSES;
    for (unsigned seed = 1; seed <= 3; seed++)
        run(seed, PLANS, &accepted, &refused);
    assert_true(accepted > PLANS && refused > PLANS / 2);
}

static void many_classes(void **state)
{
    (void)state;
    unsigned accepted = 0;
    unsigned refused = 0;
    classes = MANY_CLASSES;
    run(4, PLANS / 3, &accepted, &refused);
    assert_true(accepted > PLANS / 10 && refused > PLANS / 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_classes),
        cmocka_unit_test(many_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
