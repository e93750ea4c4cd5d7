/* The row of berth_instances that shows other instances, and operators, that this one runs. */
#ifndef BERTH_STORE_SERVER_INSTANCE_ROW_H
#define BERTH_STORE_SERVER_INSTANCE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/server/lineage.h"

enum { INSTANCE_NAME_BYTES = 37, INSTANCE_HOST_BYTES = 256 };

/* An instance. The name is a uuid, new at each start: processes in containers may have the same
 * host and process id. */
struct instance_row {
    char name[INSTANCE_NAME_BYTES];
    char host[INSTANCE_HOST_BYTES];
    int32_t pid;
    char node[SERVER_NODE_BYTES]; /* through which it writes; "": the server is in no cluster */
};

/* This process, with a new name. False: the system gives out no random bytes. */
bool instance_row_init(struct instance_row *row) BERTH_MUST_CHECK;

#endif
