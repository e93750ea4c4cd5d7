/* How much of the processors expensive work leaves to everything else in the process. */
#ifndef BERTH_API_SERVICES_GIVE_WAY_H
#define BERTH_API_SERVICES_GIVE_WAY_H

#include <stdatomic.h>
#include <stdint.h>

/* What is known of the others' work. One for all lanes; zeroed at first, but for `processors`. */
struct give_way {
    unsigned processors;
    _Atomic uint64_t own_us;      /* processor time that expensive work has taken, ever */
    _Atomic uint64_t looked_us;   /* when it was last looked what the process has taken; 0: never */
    _Atomic uint64_t process_us;  /* what it was then, */
    _Atomic uint64_t own_then_us; /* and what of it was expensive work */
    _Atomic unsigned busy; /* thousandths of all processors that others took before that look */
};

/* At one point in time, in microseconds. */
struct give_way_clocks {
    uint64_t now_us;     /* monotonic */
    uint64_t process_us; /* processor time of the process */
    uint64_t own_us;     /* of the calling thread, since its last call */
};

/* Counts a slice of expensive work, and returns how long to sleep after it: not at all while others
 * do little, and up to three times as long as the slice took when they need all. Any thread. */
uint64_t give_way_count(struct give_way *way, uint64_t slice_us,
                        const struct give_way_clocks *clocks);

/* The same by the clocks of the system: for slow_lane_settings. `cls` is a struct give_way. */
uint64_t give_way_rest_us(void *cls, uint64_t slice_us);

#endif
