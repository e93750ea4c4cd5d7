/* How often threads of this process come back from waiting for sockets: one that keeps a processor
 * busy does so all the time. For programs that are linked with wakeups_dep. */
#ifndef BERTH_TESTS_HTTP_WAKEUPS_H
#define BERTH_TESTS_HTTP_WAKEUPS_H

#include <stdbool.h>

/* Watches for some milliseconds. */
bool wakeups_are_rare(void);

#endif
