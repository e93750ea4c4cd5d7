/* Another server takes the place of the one that a test runs on. In truth it is the same server,
 * which is given another id: for programs that are linked with --wrap of server_lineage_join and
 * server_session_connect. */
#ifndef BERTH_TESTS_UNIT_STORE_SERVER_NEW_SERVER_H
#define BERTH_TESTS_UNIT_STORE_SERVER_NEW_SERVER_H

#include "store/store.h"

/* Some session of the store has reached another server, which has just been started. All sessions
 * that connect from now on reach it as well, such as those of the store's own threads. Once for
 * each store. */
void replace_server(struct store *base);

/* Called before a session connects, by its thread; NULL: nothing is. */
extern void (*_Atomic session_connects)(void);

#endif
