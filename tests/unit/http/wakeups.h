/* How threads of this process wait for sockets, and how often they come back from it: one that
 * keeps a processor busy does so all the time. For programs that are linked with wakeups_dep. */
#ifndef BERTH_TESTS_HTTP_WAKEUPS_H
#define BERTH_TESTS_HTTP_WAKEUPS_H

#include <stdbool.h>

/* Watches until they have become rare. False: they have not after some seconds, which is before the
 * deadlines of clients that only wait would end their connections. */
bool wakeups_become_rare(void);

/* From now on, each thread pauses for so long before it calls epoll_pwait(): what it has done to
 * sockets has then reached their other ends, and the answers have come back. Whole milliseconds. */
void wakeups_delay_ms(unsigned ms);

#endif
