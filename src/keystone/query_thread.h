/* The thread that queries Keystone. */
#ifndef BERTH_KEYSTONE_QUERY_THREAD_H
#define BERTH_KEYSTONE_QUERY_THREAD_H

#include "keystone/internal.h"

/* Starts the thread. False: err has one line; query_thread_stop() must still be called. */
bool query_thread_start(struct keystone *keystone, struct err *err) BERTH_MUST_CHECK;
/* Ends the thread. No request may be waiting for a query any more. */
void query_thread_stop(struct keystone *keystone);

#endif
