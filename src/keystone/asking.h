/* The thread that queries Keystone. */
#ifndef BERTH_KEYSTONE_ASKING_H
#define BERTH_KEYSTONE_ASKING_H

#include "keystone/internal.h"

/* Starts the thread. False: err has one line; asking_stop() must still be called. */
bool asking_start(struct keystone *keystone, struct err *err) BERTH_MUST_CHECK;
/* Ends the thread. No request may be waiting for a query any more. */
void asking_stop(struct keystone *keystone);

#endif
