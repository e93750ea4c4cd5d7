/* Threads of the lowest priority for queries that cost too much for a worker. */
#ifndef BERTH_API_SERVICES_SLOW_LANE_H
#define BERTH_API_SERVICES_SLOW_LANE_H

#include <stdint.h>

struct slow_lane;

/* One job: `run` is called once on a slow-lane thread. The caller owns it and keeps it until then;
 * nothing touches it once `run` has begun. */
struct slow_job {
    void (*run)(void *cls);
    void *cls;
    uint64_t owner;        /* whose it is, a hash; 0: nobody's, who is one owner, too */
    struct slow_job *next; /* the lane's, and so is the turn */
    uint64_t turn;
};

/* Starts 1 to 16 threads; the caller ends them with slow_lane_stop. NULL: the system has no more.
 */
struct slow_lane *slow_lane_start(unsigned threads);

/* Any thread. Jobs of one owner begin in the order in which they come, and owners take turns, so
 * that who has many waiting holds up nobody else by more than one. Never refuses: there is at most
 * one job for each request in flight, and connections are limited. Linear in what waits. */
void slow_lane_submit(struct slow_lane *lane, struct slow_job *job);

/* For metrics. */
struct slow_lane_figures {
    unsigned queued; /* jobs that wait */
    unsigned running;
    unsigned long begun; /* ever */
};

/* Any thread, until slow_lane_stop() is called. */
struct slow_lane_figures slow_lane_figures(struct slow_lane *lane);

/* Returns when every submitted job has run; nobody submits any more. Frees the lane. */
void slow_lane_stop(struct slow_lane *lane);

#endif
