/* How long it takes to arrange a batch in waves: nanoseconds for each change, the quickest of many
 * runs. Run by hand. */
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/waves.h"

enum { RUNS = 300 };

static struct slice uuid_of(struct arena *arena, int n)
{
    return arena_printf(arena, "%08x-0000-4000-8000-%012x", (unsigned)n * 2654435761u, (unsigned)n);
}

/* Claims with three allocations; new consumers, or ones that held something else. */
static struct store_batch claims(struct arena *arena, int count, bool is_new)
{
    struct change_list list = {.arena = arena};
    size_t *ends = arena_array(arena, (size_t)count, sizeof(*ends));
    for (int n = 0; n < count; n++) {
        struct slice uuid = uuid_of(arena, n);
        if (!is_new)
            change_append(&list, CHANGE_ALLOCATIONS_OF_DELETE)->allocation.consumer_uuid = uuid;
        struct change *consumer =
            change_append(&list, is_new ? CHANGE_CONSUMER_INSERT : CHANGE_CONSUMER_UPDATE);
        consumer->consumer = (struct change_consumer){.id = n + 1, .uuid = uuid};
        for (int i = 0; i < 3; i++)
            change_append(&list, CHANGE_ALLOCATION_INSERT)->allocation =
                (struct change_allocation){3 * n + i + 1, n + 1, n + 1, i, 1, uuid};
        change_append(&list, CHANGE_PROVIDER_GENERATION)->generation =
            (struct change_generation){(int64_t)n * 7919 % count + 1, 1, 2};
        ends[n] = list.count;
    }
    return (struct store_batch){.changes = list.items, .ends = ends, .requests = (size_t)count};
}

/* Pairs of a put and a delete of a node: as many waves. */
static struct store_batch nodes(struct arena *arena, int count)
{
    struct change_list list = {.arena = arena};
    size_t *ends = arena_array(arena, 1, sizeof(*ends));
    for (int n = 0; n < count; n++)
        change_append(&list, n % 2 == 0 ? CHANGE_NODE_PUT : CHANGE_NODE_DELETE)->row.id = n + 1;
    ends[0] = list.count;
    return (struct store_batch){.changes = list.items, .ends = ends, .requests = 1};
}

static void measure(const char *what, const struct store_batch *batch)
{
    size_t changes = batch->ends[batch->requests - 1];
    uint64_t best_us = UINT64_MAX;
    struct waves waves = {0};
    struct arena *arena = arena_create();
    for (int run = 0; run < RUNS; run++) {
        uint64_t began_us = clock_monotonic_us();
        for (int again = 0; again < 10; again++) {
            arena_reset(arena);
            waves = waves_arrange(batch, arena);
        }
        uint64_t took_us = clock_monotonic_us() - began_us;
        best_us = took_us < best_us ? took_us : best_us;
    }
    printf("%-22s %6zu changes, %5u waves, %5zu statements: %5.1f ns a change, arena %zu kB\n",
           what, changes, waves.waves, waves.count, (double)best_us * 100 / (double)changes,
           arena_footprint_bytes(arena) / 1024);
    arena_destroy(arena);
}

int main(void)
{
    static const int COUNTS[] = {1, 16, 256, 5000};
    for (size_t i = 0; i < sizeof(COUNTS) / sizeof(COUNTS[0]); i++) {
        struct arena *arena = arena_create();
        struct store_batch batch = claims(arena, COUNTS[i], true);
        measure("new claims", &batch);
        batch = claims(arena, COUNTS[i], false);
        measure("replacements", &batch);
        batch = nodes(arena, 5 * COUNTS[i]);
        measure("nodes put and deleted", &batch);
        arena_destroy(arena);
    }
    return 0;
}
