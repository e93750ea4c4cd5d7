/* Each thread's own reader of the replica. */
#ifndef BERTH_API_SERVICES_THREAD_READER_H
#define BERTH_API_SERVICES_THREAD_READER_H

#include "replica/replica.h"

/* The calling thread's reader; it closes with the thread, which ends before the replica does. There
 * is one replica a process. */
struct replica_reader *thread_reader(struct replica *replica);

/* The same, which is the caller's from now on, with what it has pinned: the caller closes it. The
 * thread gets another one when it needs one. */
struct replica_reader *thread_reader_take(struct replica *replica);

#endif
