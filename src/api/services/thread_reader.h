/* Each thread's own reader of the replica. */
#ifndef BERTH_API_SERVICES_THREAD_READER_H
#define BERTH_API_SERVICES_THREAD_READER_H

#include "replica/replica.h"

/* The calling thread's reader; it closes with the thread, which ends before the replica does. There
 * is one replica a process. */
struct replica_reader *thread_reader(struct replica *replica);

#endif
