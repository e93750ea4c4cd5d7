/* How often threads of this process come back from waiting for sockets: one that keeps a processor
 * busy does so all the time. For programs that are linked with wakeups_dep. */
#ifndef BERTH_TESTS_HTTP_WAKEUPS_H
#define BERTH_TESTS_HTTP_WAKEUPS_H

#include <stdbool.h>

/* Watches until they have become rare. False: they have not after some seconds, which is before the
 * deadlines of clients that only wait would end their connections. */
bool wakeups_become_rare(void);

#endif
