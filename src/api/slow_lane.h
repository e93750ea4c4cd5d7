/* Threads of the lowest priority for queries that cost too much for a worker. */
#ifndef BERTH_API_SLOW_LANE_H
#define BERTH_API_SLOW_LANE_H

struct slow_lane;

/* One job: `run` is called once on a slow-lane thread. */
struct slow_job {
    void (*run)(void *cls);
    void *cls;
    struct slow_job *next;
};

struct slow_lane *slow_lane_start(unsigned threads);
void slow_lane_submit(struct slow_lane *lane, struct slow_job *job);

/* Ends when every submitted job has run. */
void slow_lane_stop(struct slow_lane *lane);

#endif
