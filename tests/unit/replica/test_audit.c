/* The audit finds each kind of damage; the other tests rely on that. test_nodes.c has the trees of
 * nodes, test_slotset.c the slot sets. */
#include "base/arena.h"
#include "replica/apply.h"
#include "replica/audit.h"
#include "replica/forest.h"
#include "replica/replica.h"
#include "unit.h"

enum { ROOT = 1, CHILD = 2, CLASS = 1, OTHER_CLASS = 2, TRAIT = 1, AGGREGATE = 1, CONSUMER = 1 };

static void append_names(struct change_list *list)
{
    change_append(list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){CLASS, SLICE_LIT("CUSTOM_A")};
    change_append(list, CHANGE_CLASS_INSERT)->catalog =
        (struct change_catalog){OTHER_CLASS, SLICE_LIT("CUSTOM_B")};
    change_append(list, CHANGE_TRAIT_INSERT)->catalog =
        (struct change_catalog){TRAIT, SLICE_LIT("CUSTOM_T")};
    change_append(list, CHANGE_AGGREGATE_INSERT)->catalog =
        (struct change_catalog){AGGREGATE, SLICE_LIT("aggregate")};
    change_append(list, CHANGE_PROJECT_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("project")};
    change_append(list, CHANGE_USER_INSERT)->catalog =
        (struct change_catalog){1, SLICE_LIT("user")};
}

static void append_rows(struct change_list *list)
{
    change_append(list, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){ROOT, 0, ROOT, 0, SLICE_LIT("uuid-1"), SLICE_LIT("root")};
    change_append(list, CHANGE_PROVIDER_INSERT)->provider =
        (struct change_provider){CHILD, ROOT, ROOT, 0, SLICE_LIT("uuid-2"), SLICE_LIT("child")};
    change_append(list, CHANGE_INVENTORY_INSERT)->inventory = (struct change_inventory){
        .provider_id = CHILD,
        .class_id = CLASS,
        .total = 10,
        .min_unit = 1,
        .max_unit = 10,
        .step_size = 1,
        .allocation_ratio = 1,
    };
    change_append(list, CHANGE_PROVIDER_TRAIT_INSERT)->link = (struct change_link){CHILD, TRAIT};
    change_append(list, CHANGE_PROVIDER_AGGREGATE_INSERT)->link =
        (struct change_link){CHILD, AGGREGATE};
    change_append(list, CHANGE_CONSUMER_INSERT)->consumer = (struct change_consumer){
        .id = CONSUMER, .project_id = 1, .user_id = 1, .uuid = SLICE_LIT("consumer")};
    change_append(list, CHANGE_ALLOCATION_INSERT)->allocation = (struct change_allocation){
        .consumer_id = CONSUMER,
        .provider_id = CHILD,
        .class_id = CLASS,
        .used = 3,
        .consumer_uuid = SLICE_LIT("consumer"),
    };
}

static struct provider *child(struct edit *edit)
{
    return edit_own_provider(edit, version_provider_by_id(edit->version, CHILD)->no);
}

static struct slot_no child_slot(const struct edit *edit)
{
    return version_slot(edit->version, version_provider_by_id(edit->version, CHILD)->no);
}

static struct column *column(struct edit *edit)
{
    uint32_t number = catalog_find_id(&edit->version->classes, CLASS)->number;
    return cow_array_own(&edit->cow, &edit->version->columns, COLUMN_SHAPE, number);
}

static struct column_chunk *chunk(struct edit *edit)
{
    return (struct column_chunk *)(uintptr_t)column_chunk_at(column(edit), 0);
}

/* One more in the first entry's value. */
static void raise_first(struct edit *edit, struct ptree *tree)
{
    struct ptree_iter iter;
    ptree_seek(tree, 0, 0, &iter);
    struct ptree_entry entry = *ptree_iter_get(&iter);
    ptree_set(&edit->cow, tree, entry.k1, entry.k2, entry.value + 1);
}

static void remove_first(struct edit *edit, struct ptree *tree)
{
    struct ptree_iter iter;
    ptree_seek(tree, 0, 0, &iter);
    struct ptree_entry entry = *ptree_iter_get(&iter);
    ptree_remove(&edit->cow, tree, entry.k1, entry.k2);
}

static void change_sum(struct edit *edit)
{
    raise_first(edit, &edit->version->usages);
}

static void add_sum(struct edit *edit)
{
    ptree_set(&edit->cow, &edit->version->usages, 77, 0, 1);
}

static void count_allocation(struct edit *edit)
{
    edit->version->allocation_count++;
}

static void forget_consumer(struct edit *edit)
{
    remove_first(edit, &edit->version->provider_consumers);
}

static void know_consumer(struct edit *edit)
{
    ptree_set(&edit->cow, &edit->version->provider_consumers, 0, 77, 0);
}

static void end_beyond(struct edit *edit)
{
    struct place *place =
        cow_array_own(&edit->cow, &edit->version->places, PLACE_SHAPE, child_slot(edit).v);
    place->end = edit->version->slot_limit + 1;
}

static void lose_name(struct edit *edit)
{
    remove_first(edit, &edit->version->provider_by_name);
}

static void change_used(struct edit *edit)
{
    child(edit)->inventory[0].used++;
}

static void change_summary(struct edit *edit)
{
    child(edit)->inventory[0].summary[0] = '[';
}

static void change_headroom(struct edit *edit)
{
    chunk(edit)->headroom[child_slot(edit).v]--;
}

static void be_odd(struct edit *edit)
{
    slotset_add(&edit->cow, &column(edit)->odd, child_slot(edit));
}

static void use_nothing(struct edit *edit)
{
    ptree_set(&edit->cow, &edit->version->stray_uses, 0, 1, 5);
}

static void leave_trait(struct edit *edit)
{
    slotset_remove(&edit->cow, catalog_own_slots(&edit->cow, &edit->version->traits, 0),
                   child_slot(edit));
}

static void join_aggregate(struct edit *edit)
{
    slotset_add(&edit->cow, catalog_own_slots(&edit->cow, &edit->version->aggregates, 0),
                (struct slot_no){77});
}

static void mark(struct edit *edit)
{
    ptree_set(&edit->cow, &edit->version->markers, 0, 0, 0);
}

static void count_set(struct edit *edit)
{
    raise_first(edit, &edit->version->aggregate_sets.tree);
}

static void count_nested(struct edit *edit)
{
    edit->version->nested_count++;
}

static void hold_elsewhere(struct edit *edit)
{
    slotset_add(&edit->cow, &column(edit)->holders, (struct slot_no){77});
}

static void raise_maximum(struct edit *edit)
{
    chunk(edit)->most[0]++;
}

static void lower_maximum(struct edit *edit)
{
    chunk(edit)->most[0] = 0;
}

static void give_room(struct edit *edit)
{
    chunk(edit)->headroom[77] = chunk(edit)->most[77 / CHUNK_RUN] = 1;
}

static void lose_trait_name(struct edit *edit)
{
    remove_first(edit, &edit->version->traits.by_name);
}

static void free_number(struct edit *edit)
{
    ptree_set(&edit->cow, &edit->version->users.free, 0, 0, 0);
}

static void raise_consumer(struct edit *edit)
{
    row_sums_add(&edit->version->consumer_sums, 0, 1);
}

static void raise_provider(struct edit *edit)
{
    child(edit)->generation++;
}

static void count_trait_twice(struct edit *edit)
{
    row_sums_add(&edit->version->traits.sums, TRAIT, 0);
}

static void exceed(struct edit *edit)
{
    uint32_t number = catalog_find_id(&edit->version->classes, CLASS)->number;
    struct provider_no no = child(edit)->no;
    ptree_set(&edit->cow, &edit->version->over_capacity, no.v, number, 1);
}

static void exceed_nothing(struct edit *edit)
{
    ptree_set(&edit->cow, &edit->version->over_capacity, 77, 0, 1);
}

static void exceed_before(struct edit *edit)
{
    struct provider *provider = child(edit);
    struct provider_inventory *inventory = &provider->inventory[0];
    inventory->figures.total = 2;
    provider_inventory_summarise(inventory);
    forest_refresh(edit, provider, inventory);
    remove_first(edit, &edit->version->over_capacity_since);
}

static void count_exceeded(struct edit *edit)
{
    edit->version->over_capacity_providers++;
}

static void key_nothing(struct edit *edit)
{
    ptree_set(&edit->cow, &edit->version->valet[VALET_PLANS].by[0], 1, 1, 0);
}

static const struct {
    void (*damage)(struct edit *edit);
    const char *found; /* the complaint ends so */
} DAMAGES[] = {
    {change_sum, "a sum differs"},
    {add_sum, "sums of nobody"},
    {count_allocation, "count of allocations differs"},
    {forget_consumer, "its provider does not know it"},
    {know_consumer, "providers know consumers that are gone"},
    {end_beyond, "slot 2: end 4"},
    {lose_name, "an index misses the provider"},
    {change_used, "used differs"},
    {change_summary, "the summary's text is old"},
    {change_headroom, "headroom differs"},
    {be_odd, "holders or odd differ"},
    {use_nothing, "use of nobody without inventory"},
    {leave_trait, "missing in a slot set"},
    {join_aggregate, "slot set has others"},
    {mark, "markers: counts differ"},
    {count_set, "sets have 3 users"},
    {count_nested, "nested count differs"},
    {hold_elsewhere, "others hold it"},
    {raise_maximum, "maximum too large"},
    {lower_maximum, "maximum too small"},
    {give_room, "headroom of another"},
    {lose_trait_name, "an index misses the row"},
    {free_number, "catalog: counts differ"},
    {raise_consumer, "consumers: sums differ"},
    {raise_provider, "providers: sums differ"},
    {count_trait_twice, "catalog: sums differ"},
    {exceed, "over capacity differs"},
    {exceed_nothing, "over capacity: counts differ"},
    {exceed_before, "over capacity since another version"},
    {count_exceeded, "over capacity: counts differ"},
    {key_nothing, "key 0: counts differ"},
};

static void expect_complaint(const struct version *version, const char *end)
{
    struct buf why = {0};
    struct slice wanted = slice_of(end);
    assert_false(audit_version(version, &why));
    if (why.len < wanted.len || memcmp(why.data + why.len - wanted.len, end, wanted.len) != 0)
        fail_msg("%.*s instead of %s", SLICE_ARG(buf_slice(&why)), end);
    buf_free(&why);
}

static void damage_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(DAMAGES) / sizeof(DAMAGES[0]); i++) {
        struct arena *arena = arena_create();
        struct replica *replica = replica_create();
        struct edit *edit = replica_edit(replica);
        struct change_list list = {.arena = arena};
        struct buf why = {0};
        append_names(&list);
        append_rows(&list);
        apply_changes(edit, &list);
        assert_true(audit_version(edit->version, &why));
        DAMAGES[i].damage(edit);
        expect_complaint(edit->version, DAMAGES[i].found);
        replica_abandon(replica, edit);
        replica_destroy(replica);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
