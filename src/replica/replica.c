/* Publishing and pinning; garbage.c handles what publications replace.
 *
 * A reader first stores the number n that it has seen, with a mark: it needs some version from n
 * on. Then it loads the current pointer, both sequentially consistent, and stores that version's
 * own number. The writer stores the pointer before it reads the pins. So either the writer sees the
 * mark, or the reader sees the newer version. The same holds for the head of the list of readers,
 * which a new reader stores before its first pin. */
#include "replica/replica.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "replica/replica_internal.h"

#define READER_FREE UINT64_MAX
#define READER_IDLE (UINT64_MAX - 1)
#define PIN_MARK    ((uint64_t)1 << 62) /* some version from this number on */

/* If one call frees that much, it is worth returning memory to the system. */
enum { TRIM_BYTES = 8 << 20 };

/* One call of replica_tidy frees versions for no longer than this, because requests wait for the
 * writer meanwhile. */
enum { TIDY_US = 2000 };

/* On a cache line of its own, so that pinning threads do not slow each other down. It stays in the
 * list until the replica is destroyed; a closed one is opened again. */
struct replica_reader {
    _Alignas(64) _Atomic uint64_t pin;
    struct replica *replica;
    struct replica_reader *next;
};

struct replica {
    _Alignas(64) _Atomic(struct version *) current;
    _Atomic uint64_t number;
    uint64_t last_edit; /* numbers are never reused, not even those of abandoned edits */
    struct garbage garbage;
    uint64_t oldest_seen; /* the oldest pin when the garbage was last scanned */
    bool trim_is_due;
    _Atomic(struct replica_reader *) readers;
    struct counter bytes; /* of the nodes of the newest version */
};

struct replica *replica_create(void)
{
    struct replica *replica = aligned_alloc(64, sizeof(*replica));
    struct version *version = calloc(1, sizeof(*version));
    check(replica != NULL && version != NULL);
    memset(replica, 0, sizeof(*replica));
    atomic_init(&replica->current, version);
    garbage_init(&replica->garbage);
    return replica;
}

static void free_ended(struct replica *replica)
{
    while (garbage_free_part(&replica->garbage))
        continue;
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
    garbage_collect(&replica->garbage, UINT64_MAX);
    free_ended(replica);
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
    if (from == NULL)
        version->load = version->node.birth;
    edit->cow.birth = version->node.birth;
    edit->version = version;
    return edit;
}

struct edit *replica_edit(struct replica *replica)
{
    return edit_make(replica, replica_newest(replica));
}

struct edit *replica_edit_on(struct replica *replica, const struct edit *below)
{
    check(!below->links.active && !below->is_loading);
    return edit_make(replica, below->version);
}

struct edit *replica_edit_empty(struct replica *replica)
{
    free_ended(replica); /* so that its memory is reused */
    struct edit *edit = edit_make(replica, NULL);
    edit->is_loading = true;
    edit->from_nothing = true;
    return edit;
}

static void edit_free(struct edit *edit)
{
    for (uint32_t i = 0; i < edit->loading_count; i++) /* a load that was aborted before the
                                                        * layout */
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

static void note_freed(struct replica *replica, size_t bytes)
{
    if (bytes >= TRIM_BYTES)
        replica->trim_is_due = true;
}

/* Frees what no pin needs; if `sifts`, single nodes, too. */
static void look_through_garbage(struct replica *replica, bool sifts)
{
    struct pins pins = pins_look(replica);
    note_freed(replica, sifts ? garbage_sift(&replica->garbage, &pins)
                              : garbage_drop_loads(&replica->garbage, &pins));
    free(pins.exact);
}

/* Any commit may cause a load, and pins last for minutes, so versions loaded meanwhile are freed at
 * once. */
static void collect_garbage(struct replica *replica, bool has_loaded)
{
    struct garbage *garbage = &replica->garbage;
    note_freed(replica, garbage_collect(garbage, oldest_pin(replica)));
    if (garbage->oldest != NULL && (has_loaded || garbage_is_to_sift(garbage)))
        look_through_garbage(replica, true);
}

void replica_publish_at_once(struct replica *replica, struct edit *edit,
                             const struct version_stamp *stamp)
{
    check(!edit->links.active && !edit->is_loading);
    struct version *version = edit->version;
    struct version *before = atomic_load(&replica->current);
    bool has_loaded = edit->from_nothing;
    uint64_t bytes_before = counter_read(&replica->bytes);
    size_t replaced = has_loaded ? bytes_before : edit->cow.retired_bytes;
    version->stamp = *stamp;
    garbage_add(&replica->garbage, version->node.birth, before, !has_loaded, &edit->cow.retired,
                replaced);
    counter_set(&replica->bytes, bytes_before + edit->cow.made_bytes - replaced);
    atomic_store(&replica->current, version);
    atomic_store(&replica->number, version->node.birth);
    edit_free(edit);
}

void replica_publish(struct replica *replica, struct edit *edit, const struct version_stamp *stamp)
{
    bool has_loaded = edit->from_nothing;
    replica_publish_at_once(replica, edit, stamp);
    collect_garbage(replica, has_loaded);
}

void replica_abandon(struct replica *replica, struct edit *edit)
{
    note_freed(replica, edit->cow.made_bytes);
    free(edit->cow.retired.items);
    version_free(edit->version, edit->cow.birth);
    edit_free(edit);
}

void replica_tidy(struct replica *replica)
{
    struct garbage *garbage = &replica->garbage;
    if (garbage->oldest != NULL) {
        uint64_t oldest = oldest_pin(replica);
        note_freed(replica, garbage_collect(garbage, oldest));
        bool sifts = oldest != replica->oldest_seen || garbage_is_to_sift(garbage);
        if (garbage->oldest != NULL && (sifts || garbage->whole_count > 0))
            look_through_garbage(replica, sifts);
        replica->oldest_seen = oldest;
    }
    uint64_t end_us = clock_monotonic_us() + TIDY_US;
    bool frees = garbage_free_part(garbage);
    while (frees && clock_monotonic_us() < end_us && garbage_free_part(garbage))
        continue;
    if (replica->trim_is_due && !frees) {
        replica->trim_is_due = false;
        malloc_trim(0);
    }
}

size_t replica_waiting(const struct replica *replica)
{
    return (size_t)counter_read(&replica->garbage.count);
}

struct replica_figures replica_figures(const struct replica *replica)
{
    return (struct replica_figures){
        .number = atomic_load(&replica->number),
        .bytes = counter_read(&replica->bytes),
        .retained = counter_read(&replica->garbage.count),
        .retained_bytes = counter_read(&replica->garbage.bytes),
    };
}
