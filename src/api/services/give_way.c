/* Expensive work has the same priority as everything else (slow_lane.c explains why), so it would
 * take its full share of the processors while workers need them. What other threads need is
 * measured: the processor time of the process, without that of expensive work itself, over some
 * milliseconds. Other processes do not count, because the kernel is fair among processes anyway. */
#include "api/services/give_way.h"

#include "base/clock.h"

enum {
    LOOK_US = 4000, /* between two measurements of the process */
    IDLE = 50,      /* thousandths: so little use needs no rest */
    REST_MOST = 3,  /* slices */
    REST_MOST_US = 20000
};

static uint64_t rest_of(uint64_t slice_us, unsigned busy)
{
    if (busy < IDLE)
        return 0;
    uint64_t rest_us = slice_us * 4 * busy / 1000;
    if (rest_us > REST_MOST * slice_us)
        rest_us = REST_MOST * slice_us;
    return rest_us < REST_MOST_US ? rest_us : REST_MOST_US;
}

/* Of the threads that call this, one measures again. */
static void give_way_look(struct give_way *way, uint64_t own_us,
                          const struct give_way_clocks *clocks)
{
    uint64_t before_us = atomic_load(&way->looked_us);
    if (clocks->now_us - before_us < LOOK_US ||
        !atomic_compare_exchange_strong(&way->looked_us, &before_us, clocks->now_us))
        return;
    uint64_t process_us =
        clocks->process_us - atomic_exchange(&way->process_us, clocks->process_us);
    uint64_t lanes_us = own_us - atomic_exchange(&way->own_then_us, own_us);
    uint64_t others_us = process_us > lanes_us ? process_us - lanes_us : 0;
    uint64_t span_us = (clocks->now_us - before_us) * way->processors;
    uint64_t busy = others_us < span_us ? others_us * 1000 / span_us : 1000;
    atomic_store(&way->busy, before_us == 0 ? 0 : (unsigned)busy);
}

uint64_t give_way_count(struct give_way *way, uint64_t slice_us,
                        const struct give_way_clocks *clocks)
{
    uint64_t own_us = atomic_fetch_add(&way->own_us, clocks->own_us) + clocks->own_us;
    give_way_look(way, own_us, clocks);
    return rest_of(slice_us, atomic_load(&way->busy));
}

uint64_t give_way_rest_us(void *cls, uint64_t slice_us)
{
    static _Thread_local uint64_t last_us;
    uint64_t thread_us = clock_thread_us();
    struct give_way_clocks clocks = {
        .now_us = clock_monotonic_us(),
        .process_us = clock_process_us(),
        .own_us = thread_us - last_us,
    };
    last_us = thread_us;
    return give_way_count(cls, slice_us, &clocks);
}
