/* See waves.h. Changes are placed in the order of the batch: each says which objects it uses or
 * owns (accesses.h), which gives the earliest moment for its statement. Two changes whose order is
 * reversed in this way have no object in common that one of them owns, so neither notices it.
 *
 * Uses of rows that no change of the batch inserts or deletes are not looked up: usually there are
 * only consumers and generations. Pure; any thread. */
#include "store/waves.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"
#include "store/accesses.h"

/* The kinds of keys. The first ones, of whole tables, are also the positions of their entries. */
enum key_kind {
    KEY_ALL_PROVIDERS,
    KEY_ALL_CLASSES,
    KEY_ALL_TRAITS,
    KEY_ALL_RECORDS, /* one for each of record_tables[] */
    KEY_TABLES_END = KEY_ALL_RECORDS + RECORD_TABLE_COUNT,
    KEY_RECORD = KEY_TABLES_END, /* likewise */
    KEY_CLASS = KEY_RECORD + RECORD_TABLE_COUNT,
    KEY_TRAIT,
    KEY_AGGREGATE,
    KEY_PROJECT,
    KEY_USER,
    KEY_TYPE,
    KEY_PROVIDER,
    KEY_INVENTORY,
    KEY_PROVIDER_TRAIT,
    KEY_PROVIDER_AGGREGATE,
    KEY_CONSUMER /* by its uuid */
};

/* The objects of a row. */
enum { EXISTENCE, CONTENTS, ALLOCATIONS };

/* The objects of a table. Rows are deleted without saying which texts become free, which parent
 * and root they had, and which providers and classes the allocations were of. */
enum { UNIQUE_TEXTS, TREES, ALL_ALLOCATIONS };

/* A row of a statement to be. */
struct placed {
    uint32_t moment;
    struct bundle_row row;
};

struct arranging {
    const struct change *changes;
    uint64_t kinds; /* the kinds of changes in the batch, as bits */
    struct arena *arena;
    struct accesses accesses;
    struct placed *placed; /* in the order of their first changes */
    size_t count;
    uint32_t waves;
};

_Static_assert(CHANGE_KIND_COUNT <= 64, "each kind has a bit");
_Static_assert((uint64_t)WAVES_CHANGES_MOST *BUNDLE_KIND_COUNT < UINT32_MAX, "a moment is 32 bits");

/* ---- what a change touches ---- */

static bool has_kind(const struct arranging *arranging, enum change_kind kind)
{
    return (arranging->kinds >> kind & 1) != 0;
}

/* Whether rows of that kind of key are inserted or deleted in the batch. */
static bool is_owned(const struct arranging *arranging, enum key_kind kind)
{
    switch (kind) {
    case KEY_CLASS:
        return has_kind(arranging, CHANGE_CLASS_INSERT) || has_kind(arranging, CHANGE_CLASS_DELETE);
    case KEY_TRAIT:
        return has_kind(arranging, CHANGE_TRAIT_INSERT) || has_kind(arranging, CHANGE_TRAIT_DELETE);
    case KEY_AGGREGATE:
        return has_kind(arranging, CHANGE_AGGREGATE_INSERT);
    case KEY_PROJECT:
        return has_kind(arranging, CHANGE_PROJECT_INSERT);
    case KEY_USER:
        return has_kind(arranging, CHANGE_USER_INSERT);
    case KEY_TYPE:
        return has_kind(arranging, CHANGE_CONSUMER_TYPE_INSERT);
    case KEY_PROVIDER:
        return has_kind(arranging, CHANGE_PROVIDER_INSERT) ||
               has_kind(arranging, CHANGE_PROVIDER_DELETE);
    default:
        return true;
    }
}

static void touch_table(struct arranging *arranging, int key, unsigned which, enum access access)
{
    accesses_touch(&arranging->accesses, (uint32_t)key, which, access);
}

static uint32_t key_entry(struct arranging *arranging, int kind, int64_t a, int64_t b)
{
    const struct object_key key = {.kind = (uint32_t)kind, .a = a, .b = b};
    return accesses_entry(&arranging->accesses, &key);
}

static void own_row(struct arranging *arranging, int kind, int64_t a, int64_t b)
{
    accesses_touch(&arranging->accesses, key_entry(arranging, kind, a, b), EXISTENCE, ACCESS_OWN);
}

/* The change needs that row, or ends a reference to it. id 0: no row. */
static void use_row(struct arranging *arranging, enum key_kind kind, int64_t id)
{
    if (id != 0 && is_owned(arranging, kind))
        accesses_touch(&arranging->accesses, key_entry(arranging, (int)kind, id, 0), EXISTENCE,
                       ACCESS_USE);
}

static void touch_catalog(struct arranging *arranging, const struct change *change,
                          enum key_kind kind)
{
    own_row(arranging, (int)kind, change->catalog.id, 0);
}

/* Rows of catalogs that are also deleted or renamed. */
static void touch_class_or_trait(struct arranging *arranging, const struct change *change)
{
    bool is_class = change->kind <= CHANGE_CLASS_DELETE;
    int table = is_class ? KEY_ALL_CLASSES : KEY_ALL_TRAITS;
    bool is_delete = change->kind == CHANGE_CLASS_DELETE || change->kind == CHANGE_TRAIT_DELETE;
    if (change->kind == CHANGE_CLASS_RENAME) {
        touch_table(arranging, table, UNIQUE_TEXTS, ACCESS_OWN);
        return;
    }
    touch_catalog(arranging, change, is_class ? KEY_CLASS : KEY_TRAIT);
    touch_table(arranging, table, UNIQUE_TEXTS, is_delete ? ACCESS_SHARE : ACCESS_USE);
    if (change->kind == CHANGE_CLASS_DELETE)
        touch_table(arranging, table, ALL_ALLOCATIONS, ACCESS_SHARE);
}

static void touch_provider(struct arranging *arranging, const struct change *change)
{
    const struct change_provider *provider = &change->provider;
    uint32_t entry = key_entry(arranging, KEY_PROVIDER, provider->id, 0);
    if (change->kind == CHANGE_PROVIDER_DELETE) {
        accesses_touch(&arranging->accesses, entry, EXISTENCE, ACCESS_OWN);
        touch_table(arranging, KEY_ALL_PROVIDERS, UNIQUE_TEXTS, ACCESS_SHARE);
        touch_table(arranging, KEY_ALL_PROVIDERS, TREES, ACCESS_SHARE);
        touch_table(arranging, KEY_ALL_PROVIDERS, ALL_ALLOCATIONS, ACCESS_SHARE);
        return;
    }
    if (change->kind == CHANGE_PROVIDER_INSERT) {
        accesses_touch(&arranging->accesses, entry, EXISTENCE, ACCESS_OWN);
        touch_table(arranging, KEY_ALL_PROVIDERS, UNIQUE_TEXTS, ACCESS_USE);
    } else {
        accesses_touch(&arranging->accesses, entry, EXISTENCE, ACCESS_USE);
        accesses_touch(&arranging->accesses, entry, CONTENTS, ACCESS_OWN);
        touch_table(arranging, KEY_ALL_PROVIDERS, TREES, ACCESS_USE);
        if (!change->is_root_only)
            touch_table(arranging, KEY_ALL_PROVIDERS, UNIQUE_TEXTS, ACCESS_OWN);
    }
    if (provider->parent_id != provider->id)
        use_row(arranging, KEY_PROVIDER, provider->parent_id);
    if (provider->root_id != provider->id)
        use_row(arranging, KEY_PROVIDER, provider->root_id);
}

static void touch_inventory(struct arranging *arranging, const struct change *change)
{
    own_row(arranging, KEY_INVENTORY, change->inventory.provider_id, change->inventory.class_id);
    use_row(arranging, KEY_PROVIDER, change->inventory.provider_id);
    use_row(arranging, KEY_CLASS, change->inventory.class_id);
}

static void touch_link(struct arranging *arranging, const struct change *change)
{
    bool is_trait = change->kind == CHANGE_PROVIDER_TRAIT_INSERT ||
                    change->kind == CHANGE_PROVIDER_TRAIT_DELETE;
    own_row(arranging, is_trait ? KEY_PROVIDER_TRAIT : KEY_PROVIDER_AGGREGATE,
            change->link.provider_id, change->link.other_id);
    use_row(arranging, KEY_PROVIDER, change->link.provider_id);
    use_row(arranging, is_trait ? KEY_TRAIT : KEY_AGGREGATE, change->link.other_id);
}

static uint32_t consumer_entry(struct arranging *arranging, struct slice uuid)
{
    const struct object_key key = {.kind = KEY_CONSUMER, .text = uuid};
    return accesses_entry(&arranging->accesses, &key);
}

static void touch_consumer(struct arranging *arranging, const struct change *change)
{
    uint32_t entry = consumer_entry(arranging, change->consumer.uuid);
    bool is_update = change->kind == CHANGE_CONSUMER_UPDATE;
    accesses_touch(&arranging->accesses, entry, EXISTENCE, is_update ? ACCESS_USE : ACCESS_OWN);
    if (is_update)
        accesses_touch(&arranging->accesses, entry, CONTENTS, ACCESS_OWN);
    if (change->kind == CHANGE_CONSUMER_DELETE)
        return;
    use_row(arranging, KEY_PROJECT, change->consumer.project_id);
    use_row(arranging, KEY_USER, change->consumer.user_id);
    use_row(arranging, KEY_TYPE, change->consumer.type_id);
}

static void touch_allocation(struct arranging *arranging, const struct change *change)
{
    uint32_t entry = consumer_entry(arranging, change->allocation.consumer_uuid);
    accesses_touch(&arranging->accesses, entry, EXISTENCE, ACCESS_USE);
    if (change->kind == CHANGE_ALLOCATION_INSERT) {
        accesses_touch(&arranging->accesses, entry, ALLOCATIONS, ACCESS_USE);
        use_row(arranging, KEY_PROVIDER, change->allocation.provider_id);
        use_row(arranging, KEY_CLASS, change->allocation.class_id);
        return;
    }
    accesses_touch(&arranging->accesses, entry, ALLOCATIONS, ACCESS_SHARE);
    touch_table(arranging, KEY_ALL_PROVIDERS, ALL_ALLOCATIONS, ACCESS_USE);
    touch_table(arranging, KEY_ALL_CLASSES, ALL_ALLOCATIONS, ACCESS_USE);
}

/* A put that changes unique texts may take one that an earlier put has given up. */
static void touch_record(struct arranging *arranging, const struct change *change)
{
    const struct record_table_info *info = record_table_of(change->kind);
    int table = (int)(info - record_tables);
    bool is_delete = change->kind == info->delete;
    bool is_update = !is_delete && !change->is_new;
    uint32_t entry = key_entry(arranging, KEY_RECORD + table, change->row.id, 0);
    accesses_touch(&arranging->accesses, entry, EXISTENCE, is_update ? ACCESS_USE : ACCESS_OWN);
    if (is_update)
        accesses_touch(&arranging->accesses, entry, CONTENTS, ACCESS_OWN);
    if (is_update && change->keeps_names)
        return;
    touch_table(arranging, KEY_ALL_RECORDS + table, UNIQUE_TEXTS,
                is_update   ? ACCESS_OWN
                : is_delete ? ACCESS_SHARE
                            : ACCESS_USE);
}

static void touch_all(struct arranging *arranging, const struct change *change)
{
    switch (change->kind) {
    case CHANGE_CLASS_INSERT:
    case CHANGE_CLASS_RENAME:
    case CHANGE_CLASS_DELETE:
    case CHANGE_TRAIT_INSERT:
    case CHANGE_TRAIT_DELETE:
        touch_class_or_trait(arranging, change);
        return;
    case CHANGE_AGGREGATE_INSERT:
        touch_catalog(arranging, change, KEY_AGGREGATE);
        return;
    case CHANGE_PROJECT_INSERT:
        touch_catalog(arranging, change, KEY_PROJECT);
        return;
    case CHANGE_USER_INSERT:
        touch_catalog(arranging, change, KEY_USER);
        return;
    case CHANGE_CONSUMER_TYPE_INSERT:
        touch_catalog(arranging, change, KEY_TYPE);
        return;
    case CHANGE_PROVIDER_INSERT:
    case CHANGE_PROVIDER_UPDATE:
    case CHANGE_PROVIDER_DELETE:
        touch_provider(arranging, change);
        return;
    case CHANGE_INVENTORY_INSERT:
    case CHANGE_INVENTORY_UPDATE:
    case CHANGE_INVENTORY_DELETE:
        touch_inventory(arranging, change);
        return;
    case CHANGE_PROVIDER_TRAIT_INSERT:
    case CHANGE_PROVIDER_TRAIT_DELETE:
    case CHANGE_PROVIDER_AGGREGATE_INSERT:
    case CHANGE_PROVIDER_AGGREGATE_DELETE:
        touch_link(arranging, change);
        return;
    case CHANGE_CONSUMER_INSERT:
    case CHANGE_CONSUMER_UPDATE:
    case CHANGE_CONSUMER_DELETE:
        touch_consumer(arranging, change);
        return;
    case CHANGE_ALLOCATION_INSERT:
    case CHANGE_ALLOCATIONS_OF_DELETE:
        touch_allocation(arranging, change);
        return;
    default:
        touch_record(arranging, change);
    }
}

/* ---- placing ---- */

/* The first moment of that kind of statement at which the change may be executed. */
static uint32_t first_moment(const struct arranging *arranging, enum bundle_kind kind)
{
    uint32_t earliest = arranging->accesses.earliest;
    uint32_t in_first_wave = (uint32_t)kind + 1;
    if (earliest <= in_first_wave)
        return in_first_wave;
    uint32_t wave = (earliest - in_first_wave + BUNDLE_KIND_COUNT - 1) / BUNDLE_KIND_COUNT;
    return wave * BUNDLE_KIND_COUNT + in_first_wave;
}

static void place(struct arranging *arranging, enum bundle_kind kind, uint32_t at)
{
    uint32_t moment = first_moment(arranging, kind);
    accesses_place(&arranging->accesses, moment);
    arranging->placed[arranging->count++] = (struct placed){moment, {at, at}};
    uint32_t wave = (moment - 1) / BUNDLE_KIND_COUNT;
    if (wave >= arranging->waves)
        arranging->waves = wave + 1;
}

/* The row of the provider's last compare-and-set if this one can be folded into it: nothing has
 * written the provider in between, and the generations follow on each other. */
static struct placed *fold_target(struct arranging *arranging, const struct object_entry *entry,
                                  const struct change_generation *wanted)
{
    if (entry->note_and_1 == 0)
        return NULL;
    struct placed *last = &arranging->placed[entry->note_and_1 - 1];
    const struct change_generation *before = &arranging->changes[last->row.last].generation;
    bool is_undisturbed = entry->object[CONTENTS].owned == last->moment &&
                          arranging->accesses.earliest <= last->moment;
    return is_undisturbed && before->next == wanted->expected ? last : NULL;
}

static void place_generation(struct arranging *arranging, uint32_t at)
{
    const struct change_generation *wanted = &arranging->changes[at].generation;
    uint32_t entry = key_entry(arranging, KEY_PROVIDER, wanted->provider_id, 0);
    accesses_touch(&arranging->accesses, entry, EXISTENCE, ACCESS_USE);
    struct placed *target = fold_target(arranging, &arranging->accesses.entries[entry], wanted);
    if (target != NULL) {
        accesses_place(&arranging->accesses, target->moment);
        target->row.last = at;
        return;
    }
    accesses_touch(&arranging->accesses, entry, CONTENTS, ACCESS_OWN);
    arranging->accesses.entries[entry].note_and_1 = (uint32_t)arranging->count + 1;
    place(arranging, BUNDLE_PROVIDER_GENERATION, at);
}

static void place_all(struct arranging *arranging, size_t count)
{
    for (size_t i = 0; i < count; i++)
        arranging->kinds |= (uint64_t)1 << arranging->changes[i].kind;
    for (int key = 0; key < KEY_TABLES_END; key++)
        check(key_entry(arranging, key, 0, 0) == (uint32_t)key);
    for (size_t i = 0; i < count; i++) {
        const struct change *change = &arranging->changes[i];
        enum bundle_kind kind = bundle_kind_of(change);
        if (kind == BUNDLE_PROVIDER_GENERATION) {
            place_generation(arranging, (uint32_t)i);
            continue;
        }
        touch_all(arranging, change);
        place(arranging, kind, (uint32_t)i);
    }
}

/* ---- the order of execution ---- */

static uint32_t digit_of(const struct placed *placed, bool is_wave)
{
    uint32_t moment = placed->moment - 1;
    return is_wave ? moment / BUNDLE_KIND_COUNT : moment % BUNDLE_KIND_COUNT;
}

/* A stable sort by one digit, of which there are `digits`. */
static struct placed *sort_by_digit(const struct arranging *arranging, const struct placed *from,
                                    uint32_t digits, bool is_wave)
{
    size_t *at = arena_zalloc(arranging->arena, ((size_t)digits + 1) * sizeof(size_t));
    struct placed *to = arena_array(arranging->arena, arranging->count, sizeof(*to));
    for (size_t i = 0; i < arranging->count; i++)
        at[digit_of(&from[i], is_wave) + 1]++;
    for (uint32_t digit = 0; digit < digits; digit++)
        at[digit + 1] += at[digit];
    for (size_t i = 0; i < arranging->count; i++)
        to[at[digit_of(&from[i], is_wave)]++] = from[i];
    return to;
}

static const struct placed *in_order(const struct arranging *arranging)
{
    const struct placed *sorted =
        sort_by_digit(arranging, arranging->placed, BUNDLE_KIND_COUNT, false);
    return arranging->waves > 1 ? sort_by_digit(arranging, sorted, arranging->waves, true) : sorted;
}

_Static_assert(offsetof(struct change, consumer.id) == offsetof(struct change, row.id) &&
                   offsetof(struct change, generation.provider_id) ==
                       offsetof(struct change, row.id),
               "the id is at one place");

static int compare_ids(const void *left, const void *right, void *cls)
{
    const struct change *changes = cls;
    int64_t a = changes[((const struct bundle_row *)left)->first].row.id;
    int64_t b = changes[((const struct bundle_row *)right)->first].row.id;
    return (a > b) - (a < b);
}

static void sort_compare_and_set(const struct arranging *arranging, enum bundle_kind kind,
                                 struct bundle_row *rows, size_t count)
{
    if (kind >= BUNDLE_CONSUMER_UPDATE)
        qsort_r(rows, count, sizeof(*rows), compare_ids, (void *)(uintptr_t)arranging->changes);
}

static struct waves bundle_all(const struct arranging *arranging)
{
    const struct placed *placed = in_order(arranging);
    size_t count = arranging->count;
    struct bundle_row *rows = arena_array(arranging->arena, count, sizeof(*rows));
    size_t bundles = 0;
    for (size_t i = 0; i < count; i++) {
        rows[i] = placed[i].row;
        bundles += i == 0 || placed[i].moment != placed[i - 1].moment;
    }
    struct bundle *bundle = arena_array(arranging->arena, bundles, sizeof(*bundle));
    struct waves waves = {bundle, bundles, arranging->waves};
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && placed[to].moment == placed[from].moment)
            to++;
        enum bundle_kind kind = (enum bundle_kind)digit_of(&placed[from], false);
        sort_compare_and_set(arranging, kind, &rows[from], to - from);
        *bundle++ = (struct bundle){kind, digit_of(&placed[from], true), &rows[from], to - from};
    }
    return waves;
}

struct waves waves_arrange(const struct store_batch *batch, struct arena *arena)
{
    size_t count = batch->requests == 0 ? 0 : batch->ends[batch->requests - 1];
    check(count <= WAVES_CHANGES_MOST);
    struct arranging arranging = {
        .changes = batch->changes,
        .arena = arena,
        .accesses = {.arena = arena},
        .placed = arena_array(arena, count, sizeof(struct placed)),
    };
    place_all(&arranging, count);
    return bundle_all(&arranging);
}
