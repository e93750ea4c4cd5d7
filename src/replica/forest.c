/* The forest.
 *
 * Invariant 5 of the architecture: a tree's slots are contiguous and in pre-order; `end` nests. A
 * tree of n providers has a range whose size is the next power of two, so that most children are
 * appended in place. A tree that no longer fits is read, cleared and written to a larger range.
 * Freed ranges are kept by size and split when needed. Trees are small, so a change in the middle
 * of a tree rewrites it from there. */
#include "replica/forest_internal.h"

#include <stdlib.h>
#include <string.h>

#include "replica/over_capacity.h"

static unsigned log2_ceil(uint32_t n)
{
    return n <= 1 ? 0 : 32 - (unsigned)__builtin_clz(n - 1);
}

static void range_free(struct edit *edit, uint32_t start, unsigned log2)
{
    ptree_set(&edit->cow, &edit->version->free_ranges, log2, start, 0);
}

static uint32_t range_alloc(struct edit *edit, unsigned log2)
{
    struct version *version = edit->version;
    struct ptree_iter iter;
    ptree_seek(&version->free_ranges, log2, 0, &iter);
    const struct ptree_entry *entry = ptree_iter_get(&iter);
    if (entry == NULL) {
        uint32_t start = version->slot_limit;
        check(start < NUMBER_MAX - (1u << log2));
        version->slot_limit += 1u << log2;
        return start;
    }
    unsigned have = (unsigned)entry->k1;
    uint32_t start = (uint32_t)entry->k2;
    ptree_remove(&edit->cow, &version->free_ranges, have, start);
    while (have > log2) {
        have--;
        range_free(edit, start + (1u << have), have);
    }
    return start;
}

static struct place *own_place(struct edit *edit, uint32_t slot)
{
    return cow_array_own(&edit->cow, &edit->version->places, PLACE_SHAPE, slot);
}

static struct column *own_column(struct edit *edit, struct class_no class_no)
{
    return cow_array_own(&edit->cow, &edit->version->columns, COLUMN_SHAPE, class_no.v);
}

static void fill_set(struct edit *edit, struct catalog *catalog, const struct name_set *set,
                     struct slot_no slot)
{
    for (uint32_t i = 0; i < set->count; i++)
        slotset_add(&edit->cow, catalog_own_slots(&edit->cow, catalog, set->numbers[i]), slot);
}

static void clear_set(struct edit *edit, struct catalog *catalog, const struct name_set *set,
                      struct slot_no slot)
{
    for (uint32_t i = 0; i < set->count; i++)
        slotset_remove(&edit->cow, catalog_own_slots(&edit->cow, catalog, set->numbers[i]), slot);
}

static void put_headroom(struct edit *edit, struct slot_no slot,
                         const struct provider_inventory *inventory)
{
    column_set(&edit->cow, own_column(edit, inventory->class_no), slot,
               capacity_headroom(&inventory->figures, inventory->used),
               capacity_is_odd(&inventory->figures));
}

static void slot_fill(struct edit *edit, uint32_t at, const struct provider *provider, uint32_t end,
                      uint32_t root)
{
    struct slot_no slot = {at};
    *own_place(edit, at) = (struct place){provider, end, root};
    uint32_t *slot_of =
        cow_array_own(&edit->cow, &edit->version->slot_of, SLOT_OF_SHAPE, provider->no.v);
    *slot_of = at + 1;
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        put_headroom(edit, slot, &provider->inventory[i]);
    fill_set(edit, &edit->version->traits, provider->traits, slot);
    fill_set(edit, &edit->version->aggregates, provider->aggregates, slot);
}

static void slot_clear_contents(struct edit *edit, const struct provider *provider,
                                struct slot_no slot)
{
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        column_clear(&edit->cow, own_column(edit, provider->inventory[i].class_no), slot);
    clear_set(edit, &edit->version->traits, provider->traits, slot);
    clear_set(edit, &edit->version->aggregates, provider->aggregates, slot);
}

static void slot_clear(struct edit *edit, uint32_t at)
{
    struct place *place = own_place(edit, at);
    const struct provider *provider = place->provider;
    *place = (struct place){0};
    slot_clear_contents(edit, provider, (struct slot_no){at});
}

static uint32_t tree_size(const struct version *version, uint32_t root)
{
    return version_place(version, (struct slot_no){root})->end - root;
}

static struct branch *tree_read(const struct version *version, uint32_t root, uint32_t extra)
{
    uint32_t n = tree_size(version, root);
    struct branch *branches = calloc(n + extra, sizeof(*branches));
    check(branches != NULL);
    for (uint32_t i = 0; i < n; i++) {
        const struct place *place = version_place(version, (struct slot_no){root + i});
        branches[i] = (struct branch){place->provider, place->end - root};
    }
    return branches;
}

/* Writes branches[from, n) of the tree whose range starts at `root`. */
static void tree_write(struct edit *edit, uint32_t root, const struct branch *branches,
                       uint32_t from, uint32_t n)
{
    for (uint32_t i = from; i < n; i++)
        slot_fill(edit, root + i, branches[i].provider, root + branches[i].end, root);
}

static void tree_clear(struct edit *edit, uint32_t root, uint32_t from, uint32_t n)
{
    for (uint32_t i = from; i < n; i++)
        slot_clear(edit, root + i);
}

void forest_create_tree(struct edit *edit, const struct branch *branches, uint32_t n)
{
    tree_write(edit, range_alloc(edit, log2_ceil(n)), branches, 0, n);
}

/* Adds to the ends of branch `at` and its ancestors, which are the branches up to `at` whose
 * interval contains it. */
static void branches_grow(struct branch *branches, uint32_t at, uint32_t by)
{
    uint32_t end = branches[at].end;
    for (uint32_t i = 0; i <= at; i++)
        if (branches[i].end >= end)
            branches[i].end += by;
}

/* Inserts sub[0, m) (ends relative to itself) as the last children of branch `parent`; there must
 * be room for n + m. Returns the position of the first of them. */
static uint32_t branches_insert(struct branch *branches, uint32_t n, uint32_t parent,
                                const struct branch *sub, uint32_t m)
{
    uint32_t at = branches[parent].end;
    branches_grow(branches, parent, m);
    memmove(&branches[at + m], &branches[at], (n - at) * sizeof(*branches));
    for (uint32_t i = at + m; i < n + m; i++)
        branches[i].end += m;
    for (uint32_t i = 0; i < m; i++)
        branches[at + i] = (struct branch){sub[i].provider, sub[i].end + at};
    return at;
}

/* Removes branch `at` with its subtree; returns the number of branches removed. */
static uint32_t branches_remove(struct branch *branches, uint32_t n, uint32_t at)
{
    uint32_t end = branches[at].end;
    uint32_t m = end - at;
    for (uint32_t i = 0; i < at; i++)
        if (branches[i].end >= end)
            branches[i].end -= m;
    memmove(&branches[at], &branches[end], (n - end) * sizeof(*branches));
    for (uint32_t i = at; i < n - m; i++)
        branches[i].end -= m;
    return m;
}

/* Stores those ends of branches[0, n) that changed, for a tree that stays in place. */
static void ends_write(struct edit *edit, uint32_t root, const struct branch *branches, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (version_place(edit->version, (struct slot_no){root + i})->end != root + branches[i].end)
            own_place(edit, root + i)->end = root + branches[i].end;
}

void forest_insert(struct edit *edit, struct provider *provider)
{
    struct version *version = edit->version;
    if (provider->parent.v == NUMBER_NONE) {
        provider->root = provider->no;
        forest_create_tree(edit, &(struct branch){provider, 1}, 1);
        return;
    }
    version->nested_count++;
    uint32_t parent = version_slot(version, provider->parent).v;
    const struct place *parent_place = version_place(version, (struct slot_no){parent});
    provider->root = parent_place->provider->root;
    uint32_t root = parent_place->root;
    uint32_t n = tree_size(version, root);
    struct branch *branches = tree_read(version, root, 1);
    uint32_t at = branches_insert(branches, n, parent - root, &(struct branch){provider, 1}, 1);
    if (log2_ceil(n + 1) == log2_ceil(n)) {
        tree_clear(edit, root, at, n);
        ends_write(edit, root, branches, at);
        tree_write(edit, root, branches, at, n + 1);
    } else {
        tree_clear(edit, root, 0, n);
        range_free(edit, root, log2_ceil(n));
        forest_create_tree(edit, branches, n + 1);
    }
    free(branches);
}

/* Frees the part of its range that a tree which shrank in place no longer needs. */
static void range_shrink(struct edit *edit, uint32_t root, uint32_t from, uint32_t to)
{
    for (unsigned log2 = log2_ceil(from); log2 > log2_ceil(to); log2--)
        range_free(edit, root + (1u << (log2 - 1)), log2 - 1);
}

void forest_remove(struct edit *edit, struct provider_no no)
{
    struct version *version = edit->version;
    uint32_t slot = version_slot(version, no).v;
    const struct place *place = version_place(version, (struct slot_no){slot});
    check(place->end == slot + 1);
    uint32_t root = place->root;
    uint32_t n = tree_size(version, root);
    struct branch *branches = tree_read(version, root, 0);
    branches_remove(branches, n, slot - root);
    tree_clear(edit, root, slot - root, n);
    if (n == 1) {
        range_free(edit, root, 0);
    } else {
        version->nested_count--;
        ends_write(edit, root, branches, slot - root);
        tree_write(edit, root, branches, slot - root, n - 1);
        range_shrink(edit, root, n, n - 1);
    }
    free(branches);
    uint32_t *slot_of = cow_array_own(&edit->cow, &version->slot_of, SLOT_OF_SHAPE, no.v);
    *slot_of = 0;
}

static void set_roots(struct edit *edit, uint32_t slot, struct provider_no root)
{
    uint32_t end = version_place(edit->version, (struct slot_no){slot})->end;
    for (uint32_t i = slot; i < end; i++) {
        const struct provider *provider =
            version_place(edit->version, (struct slot_no){i})->provider;
        if (provider->root.v != root.v)
            edit_own_provider(edit, provider->no)->root = root;
    }
}

void forest_move(struct edit *edit, struct provider_no no, struct provider_no parent)
{
    struct version *version = edit->version;
    struct provider *moved = edit_own_provider(edit, no);
    version->nested_count += (uint32_t)(parent.v != NUMBER_NONE);
    version->nested_count -= (uint32_t)(moved->parent.v != NUMBER_NONE);
    moved->parent = parent;
    uint32_t slot = version_slot(version, no).v;
    set_roots(edit, slot, parent.v == NUMBER_NONE ? no : version_provider(version, parent)->root);

    uint32_t root = version_place(version, (struct slot_no){slot})->root;
    uint32_t n = tree_size(version, root);
    struct branch *rest = tree_read(version, root, n);
    uint32_t m = rest[slot - root].end - (slot - root);
    struct branch *sub = calloc(m, sizeof(*sub));
    check(sub != NULL);
    for (uint32_t i = 0; i < m; i++)
        sub[i] = (struct branch){rest[slot - root + i].provider,
                                 rest[slot - root + i].end - (slot - root)};
    branches_remove(rest, n, slot - root);
    tree_clear(edit, root, 0, n);
    range_free(edit, root, log2_ceil(n));

    if (parent.v == NUMBER_NONE) {
        forest_create_tree(edit, sub, m);
        if (n > m)
            forest_create_tree(edit, rest, n - m);
        free(rest);
        free(sub);
        return;
    }
    uint32_t in_rest = 0;
    while (in_rest < n - m && rest[in_rest].provider->no.v != parent.v)
        in_rest++;
    if (in_rest < n - m) {
        branches_insert(rest, n - m, in_rest, sub, m);
        forest_create_tree(edit, rest, n);
    } else {
        uint32_t parent_slot = version_slot(version, parent).v;
        uint32_t other = version_place(version, (struct slot_no){parent_slot})->root;
        uint32_t other_n = tree_size(version, other);
        struct branch *target = tree_read(version, other, m);
        branches_insert(target, other_n, parent_slot - other, sub, m);
        tree_clear(edit, other, 0, other_n);
        range_free(edit, other, log2_ceil(other_n));
        forest_create_tree(edit, target, other_n + m);
        free(target);
        if (n > m)
            forest_create_tree(edit, rest, n - m);
    }
    free(rest);
    free(sub);
}

static uint64_t work_of_places(const struct version *version, uint32_t from, uint32_t end)
{
    uint64_t work = 0;
    for (uint32_t slot = from; slot < end; slot++) {
        const struct provider *provider = version_place(version, (struct slot_no){slot})->provider;
        work += FOREST_WORK_OF_PLACE + provider->inventory_count + provider->traits->count +
                provider->aggregates->count;
    }
    return work;
}

static uint64_t work_of_tree(const struct version *version, uint32_t root)
{
    return work_of_places(version, root, version_place(version, (struct slot_no){root})->end);
}

uint64_t forest_insert_work(const struct version *version, struct provider_no parent)
{
    const struct place *place = version_place(version, version_slot(version, parent));
    uint32_t n = tree_size(version, place->root);
    bool is_in_place = log2_ceil(n + 1) == log2_ceil(n);
    return work_of_places(version, is_in_place ? place->end : place->root, place->root + n);
}

uint64_t forest_remove_work(const struct version *version, struct provider_no no)
{
    struct slot_no slot = version_slot(version, no);
    uint32_t root = version_place(version, slot)->root;
    return work_of_places(version, slot.v, root + tree_size(version, root));
}

uint64_t forest_move_work(const struct version *version, struct provider_no no,
                          struct provider_no parent)
{
    uint32_t root = version_place(version, version_slot(version, no))->root;
    uint64_t work = work_of_tree(version, root);
    if (parent.v == NUMBER_NONE)
        return work;
    uint32_t other = version_place(version, version_slot(version, parent))->root;
    return other == root ? work : work + work_of_tree(version, other);
}

void forest_refresh(struct edit *edit, const struct provider *provider,
                    const struct provider_inventory *inventory)
{
    put_headroom(edit, version_slot(edit->version, provider->no), inventory);
    over_capacity_update(&edit->cow, edit->version, provider->no, inventory);
}

void forest_clear_contents(struct edit *edit, struct provider_no no)
{
    const struct provider *provider = version_provider(edit->version, no);
    slot_clear_contents(edit, provider, version_slot(edit->version, no));
    for (uint32_t i = 0; i < provider->inventory_count; i++)
        over_capacity_clear(&edit->cow, edit->version, no, provider->inventory[i].class_no);
}

void forest_clear_class(struct edit *edit, struct provider_no no, struct class_no class_no)
{
    column_clear(&edit->cow, own_column(edit, class_no), version_slot(edit->version, no));
    over_capacity_clear(&edit->cow, edit->version, no, class_no);
}
