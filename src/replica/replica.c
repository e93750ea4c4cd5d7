/* Publishing, pinning, retiring.
 *
 * Invariant: a node born in version b and replaced in version N is freed only when no pinned
 * version is in [b, N).
 *
 * A reader first stores the number n that it saw, marked: it needs some version from n on. Then it
 * loads the current pointer, both sequentially consistent, and stores that version's own number.
 * The writer stores the pointer before it looks at the pins. So either the writer sees the mark, or
 * the reader sees the newer version. The same holds for the head of the list of readers, which a
 * new reader stores before its first pin.
 *
 * What versions replaced is freed in their order, as a rule at once. A search may hold a version
 * for minutes; then what waits is sifted now and then for what that version is no part of, so that
 * a long pin costs the memory of one version and not that of all that is written meanwhile. */
#include "replica/replica.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/counter.h"
#include "replica/rows.h"

#define READER_FREE UINT64_MAX
#define READER_IDLE (UINT64_MAX - 1)
#define PIN_MARK    ((uint64_t)1 << 62) /* some version from this number on */

enum { SIFT_NODES_AT_LEAST = 4096 };

/* On a cache line of its own, so that pinning threads do not slow each other. It stays in the list
 * until the replica ends; a closed one is opened again. */
struct replica_reader {
    _Alignas(64) _Atomic uint64_t pin;
    struct replica *replica;
    struct replica_reader *next;
};

/* What one publication replaced. */
struct replica_debt {
    uint64_t number; /* free once no pin is below */
    struct cow_retired nodes;
    size_t bytes;            /* of these, or, if nothing lives on, of all that the version has */
    struct version *version; /* the version before; NULL: freed already */
    bool shares;             /* its nodes live on in its successor, but for those retired */
    struct replica_debt *next;
};

struct replica {
    _Alignas(64) _Atomic(struct version *) current;
    _Atomic uint64_t number;
    uint64_t last_edit; /* numbers are never used twice: abandoned edits have had theirs */
    struct replica_debt *oldest_debt;
    struct replica_debt *newest_debt;
    size_t waiting_nodes; /* of all debts */
    size_t sift_at;       /* so many are worth a look at each */
    _Atomic(struct replica_reader *) readers;
    struct counter bytes; /* the figures; number has its own */
    struct counter retained;
    struct counter retained_bytes;
};

static void free_places(void *cls, void *leaf)
{
    uint64_t birth = *(const uint64_t *)cls;
    struct place *places = (struct place *)((char *)leaf + COW_LEAF_HEADER);
    for (uint32_t i = 0; i < 1u << PLACE_SHAPE.shift; i++)
        if (places[i].provider != NULL && places[i].provider->node.birth >= birth)
            free((void *)(uintptr_t)places[i].provider);
}

static void free_columns(void *cls, void *leaf)
{
    struct column *columns = (struct column *)((char *)leaf + COW_LEAF_HEADER);
    for (uint32_t i = 0; i < 1u << COLUMN_SHAPE.shift; i++)
        column_free(&columns[i], *(const uint64_t *)cls);
}

static void free_consumer(void *cls, const struct ptree_entry *entry)
{
    struct consumer *consumer = (struct consumer *)(uintptr_t)entry->value;
    if (consumer->node.birth >= *(const uint64_t *)cls)
        free(consumer);
}

static void free_nodes(struct version *version, uint64_t birth)
{
    rows_free(&version->nodes, birth);
    ptree_free(&version->node_by_uuid, birth, NULL, NULL);
    ptree_free(&version->node_by_name, birth, NULL, NULL);
    ptree_free(&version->node_by_instance, birth, NULL, NULL);
    ptree_free(&version->nodes_of_class, birth, NULL, NULL);
    ptree_free(&version->node_classes, birth, NULL, NULL);
    ptree_free(&version->busy_nodes, birth, NULL, NULL);
    rows_free(&version->node_allocations, birth);
    ptree_free(&version->node_allocation_by_uuid, birth, NULL, NULL);
    ptree_free(&version->node_allocation_by_name, birth, NULL, NULL);
    ptree_free(&version->node_allocation_of_node, birth, NULL, NULL);
    ptree_free(&version->allocating, birth, NULL, NULL);
}

static void free_valet(struct version *version, uint64_t birth)
{
    for (int table = 0; table < VALET_TABLE_COUNT; table++) {
        rows_free(&version->valet[table].rows, birth);
        for (unsigned i = 0; i < VALET_KEYS_MAX; i++)
            ptree_free(&version->valet[table].by[i], birth, NULL, NULL);
    }
}

/* Frees what of the version was born at or after `birth`, and the version itself. */
static void version_free(struct version *version, uint64_t birth)
{
    cow_array_free(&version->places, birth, free_places, &birth);
    cow_array_free(&version->slot_of, birth, NULL, NULL);
    ptree_free(&version->free_ranges, birth, NULL, NULL);
    ptree_free(&version->free_numbers, birth, NULL, NULL);
    ptree_free(&version->provider_by_id, birth, NULL, NULL);
    ptree_free(&version->provider_by_uuid, birth, NULL, NULL);
    ptree_free(&version->provider_by_name, birth, NULL, NULL);
    catalog_free(&version->classes, birth);
    catalog_free(&version->traits, birth);
    catalog_free(&version->aggregates, birth);
    catalog_free(&version->projects, birth);
    catalog_free(&version->users, birth);
    catalog_free(&version->types, birth);
    cow_array_free(&version->columns, birth, free_columns, &birth);
    name_sets_free(&version->trait_sets, birth);
    name_sets_free(&version->aggregate_sets, birth);
    ptree_free(&version->consumers, birth, free_consumer, &birth);
    ptree_free(&version->provider_consumers, birth, NULL, NULL);
    ptree_free(&version->usages, birth, NULL, NULL);
    free_nodes(version, birth);
    free_valet(version, birth);
    ptree_free(&version->markers, birth, NULL, NULL);
    free(version);
}

struct replica *replica_create(void)
{
    struct replica *replica = aligned_alloc(64, sizeof(*replica));
    struct version *version = calloc(1, sizeof(*version));
    check(replica != NULL && version != NULL);
    memset(replica, 0, sizeof(*replica));
    atomic_init(&replica->current, version);
    replica->sift_at = SIFT_NODES_AT_LEAST;
    return replica;
}

static void debt_free(struct replica *replica, struct replica_debt *debt)
{
    counter_add(&replica->retained, 0 - (uint64_t)1);
    counter_add(&replica->retained_bytes, 0 - (uint64_t)debt->bytes);
    cow_retired_free(&debt->nodes);
    if (debt->shares)
        free(debt->version);
    else
        version_free(debt->version, 0);
    free(debt);
}

/* Frees the debts that no pin below `oldest_pin` can need. */
static void debts_settle(struct replica *replica, uint64_t oldest_pin)
{
    while (replica->oldest_debt != NULL && replica->oldest_debt->number <= oldest_pin) {
        struct replica_debt *debt = replica->oldest_debt;
        replica->oldest_debt = debt->next;
        replica->waiting_nodes -= debt->nodes.count;
        debt_free(replica, debt);
    }
    if (replica->oldest_debt == NULL) {
        replica->newest_debt = NULL;
        replica->sift_at = SIFT_NODES_AT_LEAST;
    }
}

void replica_destroy(struct replica *replica)
{
    if (replica == NULL)
        return;
    struct replica_reader *reader = atomic_load(&replica->readers);
    while (reader != NULL) {
        struct replica_reader *next = reader->next;
        check(atomic_load(&reader->pin) == READER_FREE);
        free(reader);
        reader = next;
    }
    debts_settle(replica, UINT64_MAX);
    version_free(atomic_load(&replica->current), 0);
    free(replica);
}

struct replica_reader *replica_reader_open(struct replica *replica)
{
    struct replica_reader *first = atomic_load(&replica->readers);
    for (struct replica_reader *at = first; at != NULL; at = at->next) {
        uint64_t expected = READER_FREE;
        if (atomic_compare_exchange_strong(&at->pin, &expected, READER_IDLE))
            return at;
    }
    struct replica_reader *reader = aligned_alloc(64, sizeof(*reader));
    check(reader != NULL);
    atomic_init(&reader->pin, READER_IDLE);
    reader->replica = replica;
    reader->next = first;
    while (!atomic_compare_exchange_weak(&replica->readers, &reader->next, reader))
        continue;
    return reader;
}

void replica_reader_close(struct replica_reader *reader)
{
    check(atomic_load(&reader->pin) == READER_IDLE);
    atomic_store(&reader->pin, READER_FREE);
}

const struct version *replica_pin(struct replica_reader *reader)
{
    struct replica *replica = reader->replica;
    check(atomic_load_explicit(&reader->pin, memory_order_relaxed) == READER_IDLE);
    atomic_store(&reader->pin, atomic_load(&replica->number) | PIN_MARK);
    const struct version *version = atomic_load(&replica->current);
    atomic_store_explicit(&reader->pin, version->node.birth, memory_order_release);
    return version;
}

void replica_unpin(struct replica_reader *reader)
{
    atomic_store_explicit(&reader->pin, READER_IDLE, memory_order_release);
}

const struct version *replica_newest(const struct replica *replica)
{
    return atomic_load(&replica->current);
}

static struct edit *edit_make(struct replica *replica, const struct version *from)
{
    struct edit *edit = calloc(1, sizeof(*edit));
    struct version *version = calloc(1, sizeof(*version));
    check(edit != NULL && version != NULL);
    if (from != NULL)
        *version = *from;
    version->node.birth = ++replica->last_edit;
    edit->cow.birth = version->node.birth;
    edit->version = version;
    return edit;
}

struct edit *replica_edit(struct replica *replica)
{
    return edit_make(replica, replica_newest(replica));
}

struct edit *replica_edit_empty(struct replica *replica)
{
    struct edit *edit = edit_make(replica, NULL);
    edit->is_loading = true;
    edit->from_nothing = true;
    return edit;
}

static void edit_free(struct edit *edit)
{
    for (uint32_t i = 0; i < edit->loading_count; i++) /* a load that broke off before the layout */
        free(edit->loading[i].provider);
    free(edit->loading);
    free(edit->links.numbers);
    free(edit->links.at);
    free(edit);
}

static uint64_t oldest_pin(const struct replica *replica)
{
    uint64_t oldest = UINT64_MAX;
    for (const struct replica_reader *at = atomic_load(&replica->readers); at != NULL;
         at = at->next) {
        uint64_t pin = atomic_load(&at->pin);
        if (pin < READER_IDLE && (pin & ~PIN_MARK) < oldest)
            oldest = pin & ~PIN_MARK;
    }
    return oldest;
}

/* The versions that readers hold, as seen at one look. */
struct pins {
    uint64_t from;   /* this one and all after it */
    uint64_t *exact; /* and these, in ascending order */
    size_t count;
};

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static struct pins pins_look(const struct replica *replica)
{
    struct pins pins = {.from = UINT64_MAX};
    const struct replica_reader *first = atomic_load(&replica->readers);
    size_t readers = 0;
    for (const struct replica_reader *at = first; at != NULL; at = at->next)
        readers++;
    pins.exact = calloc(readers + 1, sizeof(*pins.exact));
    check(pins.exact != NULL);
    for (const struct replica_reader *at = first; at != NULL; at = at->next) {
        uint64_t pin = atomic_load(&at->pin);
        if (pin >= READER_IDLE)
            continue;
        if ((pin & PIN_MARK) == 0)
            pins.exact[pins.count++] = pin;
        else if ((pin & ~PIN_MARK) < pins.from)
            pins.from = pin & ~PIN_MARK;
    }
    qsort(pins.exact, pins.count, sizeof(*pins.exact), compare_numbers);
    return pins;
}

/* Is a version in [birth, number) pinned? */
static bool pins_need(const struct pins *pins, uint64_t birth, uint64_t number)
{
    size_t low = 0;
    size_t high = pins->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pins->exact[middle] < birth)
            low = middle + 1;
        else
            high = middle;
    }
    return pins->from < number || (low < pins->count && pins->exact[low] < number);
}

static void debt_sift(struct replica *replica, struct replica_debt *debt, const struct pins *pins)
{
    struct cow_retired *nodes = &debt->nodes;
    size_t kept = 0;
    size_t bytes = debt->bytes;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct cow_node *node = nodes->items[i];
        if (pins_need(pins, node->birth, debt->number)) {
            nodes->items[kept++] = nodes->items[i];
            continue;
        }
        debt->bytes -= cow_node_bytes(node);
        free(nodes->items[i]);
    }
    nodes->count = kept;
    counter_add(&replica->retained_bytes, debt->bytes - bytes);
    if (debt->version != NULL && !pins_need(pins, debt->version->node.birth, debt->number)) {
        free(debt->version);
        debt->version = NULL;
    }
}

static void debts_sift(struct replica *replica)
{
    struct pins pins = pins_look(replica);
    struct replica_debt **at = &replica->oldest_debt;
    replica->newest_debt = NULL;
    replica->waiting_nodes = 0;
    while (*at != NULL) {
        struct replica_debt *debt = *at;
        if (debt->shares)
            debt_sift(replica, debt, &pins);
        if (debt->version == NULL && debt->nodes.count == 0) {
            *at = debt->next;
            debt_free(replica, debt);
            continue;
        }
        replica->newest_debt = debt;
        replica->waiting_nodes += debt->nodes.count;
        at = &debt->next;
    }
    /* twice as many: each node is looked at a few times, however long a version is held */
    replica->sift_at = 2 * replica->waiting_nodes + SIFT_NODES_AT_LEAST;
    free(pins.exact);
}

/* What the version before had is the debt's now, or lives on. */
static void count_bytes(struct replica *replica, const struct edit *edit, struct replica_debt *debt)
{
    uint64_t before = counter_read(&replica->bytes);
    debt->bytes = debt->shares ? edit->cow.retired_bytes : before;
    counter_set(&replica->bytes, before + edit->cow.made_bytes - debt->bytes);
    counter_add(&replica->retained_bytes, debt->bytes);
    counter_add(&replica->retained, 1);
}

void replica_publish(struct replica *replica, struct edit *edit, const struct version_stamp *stamp)
{
    check(!edit->links.active && !edit->is_loading);
    struct version *version = edit->version;
    struct version *before = atomic_load(&replica->current);
    struct replica_debt *debt = calloc(1, sizeof(*debt));
    check(debt != NULL);
    version->stamp = *stamp;
    debt->number = version->node.birth;
    debt->nodes = edit->cow.retired;
    debt->version = before;
    debt->shares = !edit->from_nothing;
    count_bytes(replica, edit, debt);
    if (replica->newest_debt == NULL)
        replica->oldest_debt = debt;
    else
        replica->newest_debt->next = debt;
    replica->newest_debt = debt;
    replica->waiting_nodes += debt->nodes.count;
    atomic_store(&replica->current, version);
    atomic_store(&replica->number, version->node.birth);
    edit_free(edit);
    debts_settle(replica, oldest_pin(replica));
    if (replica->waiting_nodes > replica->sift_at)
        debts_sift(replica);
}

void replica_abandon(struct replica *replica, struct edit *edit)
{
    (void)replica;
    free(edit->cow.retired.items);
    version_free(edit->version, edit->cow.birth);
    edit_free(edit);
}

size_t replica_waiting(const struct replica *replica)
{
    size_t n = 0;
    for (const struct replica_debt *debt = replica->oldest_debt; debt != NULL; debt = debt->next)
        n++;
    return n;
}

struct replica_figures replica_figures(const struct replica *replica)
{
    return (struct replica_figures){
        .number = atomic_load(&replica->number),
        .bytes = counter_read(&replica->bytes),
        .retained = counter_read(&replica->retained),
        .retained_bytes = counter_read(&replica->retained_bytes),
    };
}
