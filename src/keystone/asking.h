/* The thread that asks Keystone. */
#ifndef BERTH_KEYSTONE_ASKING_H
#define BERTH_KEYSTONE_ASKING_H

#include "keystone/internal.h"

/* Starts the thread. False: err has one line; asking_stop() is still to be called. */
bool asking_start(struct keystone *keystone, struct err *err) BERTH_MUST_CHECK;
/* Ends it. Nobody waits for a question any more. */
void asking_stop(struct keystone *keystone);

#endif
