/* Threads with an event loop (base/event_loop.h) ask for the newest state by themselves, each for
 * the requests that it submits: no thread has to wake another one then. If such a thread is not
 * connected, or if its answer does not come soon, the store's threads ask instead.
 *
 * All functions are called under the currency's lock, except the last one. */
#ifndef BERTH_ENGINE_ASKER_H
#define BERTH_ENGINE_ASKER_H

#include "engine/currency_internal.h"

/* Takes a request of this thread. False: the store's threads are to ask for it. */
bool asker_submit(struct currency *currency, struct pipeline_request *request, struct todo *todo);

/* Requests whose answer has not come soon are left to the store's threads. Any thread. */
void askers_give_up(struct currency *currency, struct todo *todo);

/* All requests are to be refused. Any thread. */
void askers_refuse(struct currency *currency, struct queue *refused);

/* No thread uses them any more. */
void askers_destroy(struct currency *currency);

#endif
