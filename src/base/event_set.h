/* What the library of an event loop (event_loop.h) has put into its epoll set. The library takes a
 * connection out while it is suspended, and puts it back afterwards: two calls of the kernel for
 * each request that waits for the database. So a descriptor that is taken out stays in the set, and
 * its events are kept from the library. When it is put back, the kernel is called only if there
 * were any: then it tells again what the descriptor is ready for, as it does when one is added.
 *
 * That is for descriptors of which the library wants edges (EPOLLET): each event costs one wait at
 * most while it is kept back. Others are added and removed as the library says.
 *
 * Each thread has its own set, and the functions concern that of their thread. */
#ifndef BERTH_BASE_EVENT_SET_H
#define BERTH_BASE_EVENT_SET_H

struct epoll_event;

/* As epoll_ctl(), for the thread's one set, whose events go through event_set_told(). */
int event_set_change(int epoll_fd, int operation, int fd, struct epoll_event *event);

/* Of `count` events, leaves those that the library is to see, as it has asked for them. Returns how
 * many. */
int event_set_told(struct epoll_event *events, int count);

/* The descriptor is about to be closed. Afterwards would be too late: another one may get its
 * number at once. */
void event_set_forget(int fd);

/* Frees what the thread has, which is nothing if all descriptors were forgotten. */
void event_set_end(void);

#endif
