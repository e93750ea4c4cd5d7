/* The event loop of a thread that serves connections, for others who run on that thread: they can
 * begin something when the thread has nothing else to do, and are called when what they wait for
 * can be read. So such a thread asks the database by itself for what its requests need, and no
 * other thread has to be woken for it, nor has to wake this one.
 *
 * The loop is a library's; each of its turns goes through event_loop_wait(). Everything happens on
 * the loop's own thread. */
#ifndef BERTH_BASE_EVENT_LOOP_H
#define BERTH_BASE_EVENT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct epoll_event;

/* Outlives all loops on which it is used. None of its functions may wait. */
struct event_watcher {
    /* See event_loop_when_idle(); NULL: not used. */
    void (*idle)(struct event_watcher *watcher);
    /* A watched descriptor is readable, or was: another thread may have read it meanwhile. */
    void (*readable)(struct event_watcher *watcher);
};

/* This thread has a loop from now on, if it does not have one already. */
void event_loop_begin(void);

/* It has none any more, and its watchers may be freed. */
void event_loop_end(void);

/* A number that no other thread's loop has, or has had; 0: this thread has no loop. */
uint64_t event_loop_number(void);

/* Whether the thread has a loop, which waits for that epoll set. */
bool event_loop_waits_for(int epoll_fd);

/* Has `idle` called once, before the thread next goes to sleep: as long as other events are ready,
 * these come first, so that what they need can be begun together; but not for longer than 200 us.
 * With gather_us > 0, the thread does not count as idle before it has waited that long for more
 * events. If it is called again before `idle` is, by whichever watcher, the shortest of the times
 * counts, each from the first call on. */
void event_loop_when_idle(struct event_watcher *watcher, uint64_t gather_us);

/* Has `readable` called whenever the descriptor is readable, has ended or has failed, until it is
 * closed. May be repeated. False: that is not possible. */
bool event_loop_watch(struct event_watcher *watcher, int fd);

/* The same, but only once. */
bool event_loop_watch_once(struct event_watcher *watcher, int fd);

/* Does what is to be done for watchers, without waiting: for code that keeps the thread waiting for
 * something else, which may need just that. */
void event_loop_run_own(void);

/* As epoll_wait(), for the library: does the above as well, and returns only what is the library's,
 * which may be nothing before the time is over. */
int event_loop_wait(int epoll_fd, struct epoll_event *events, int events_max, int timeout_ms);

#endif
