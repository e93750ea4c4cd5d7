/* Limits expensive work so that it leaves processor time to the rest of the process. */
#ifndef BERTH_API_SERVICES_GIVE_WAY_H
#define BERTH_API_SERVICES_GIVE_WAY_H

#include <stdatomic.h>
#include <stdint.h>

/* Measurements of the other threads' work. One for all lanes; initially zero except for
 * `processors`. */
struct give_way {
    unsigned processors;
    _Atomic uint64_t own_us;      /* processor time that expensive work has taken since the start */
    _Atomic uint64_t looked_us;   /* time of the last measurement of the process; 0: never */
    _Atomic uint64_t process_us;  /* the processor time of the process at that time, */
    _Atomic uint64_t own_then_us; /* and the part of it taken by expensive work */
    _Atomic unsigned busy; /* thousandths of all processors that other threads used before that
                            * measurement */
};

/* Readings at one point in time, in microseconds. */
struct give_way_clocks {
    uint64_t now_us;     /* monotonic */
    uint64_t process_us; /* processor time of the process */
    uint64_t own_us;     /* of the calling thread, since its last call */
};

/* Counts a slice of expensive work and returns how long to sleep after it: not at all while other
 * threads do little, and up to three times the length of the slice if they need all processors. Any
 * thread. */
uint64_t give_way_count(struct give_way *way, uint64_t slice_us,
                        const struct give_way_clocks *clocks);

/* The same with the system's clocks: for slow_lane_settings. `cls` is a struct give_way. */
uint64_t give_way_rest_us(void *cls, uint64_t slice_us);

#endif
