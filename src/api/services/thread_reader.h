/* A reader of the replica for each thread. */
#ifndef BERTH_API_SERVICES_THREAD_READER_H
#define BERTH_API_SERVICES_THREAD_READER_H

#include "replica/replica.h"

/* The calling thread's reader; it closes with the thread, which ends before the replica does. A
 * process has one replica. */
struct replica_reader *thread_reader(struct replica *replica);

/* The same, but its ownership passes to the caller, with what it has pinned: the caller closes it.
 * The thread gets another reader when it needs one. */
struct replica_reader *thread_reader_take(struct replica *replica);

#endif
