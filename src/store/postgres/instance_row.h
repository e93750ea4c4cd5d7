/* The row of berth_instances that shows other instances, and operators, that this one runs. */
#ifndef BERTH_STORE_POSTGRES_INSTANCE_ROW_H
#define BERTH_STORE_POSTGRES_INSTANCE_ROW_H

#include <stdint.h>

#include "base/err.h"
#include "store/postgres/session.h"

enum { INSTANCE_NAME_BYTES = 37, INSTANCE_HOST_BYTES = 256 };

/* An instance. The name is a uuid, new at each start: processes in containers may have the same
 * host and process id. */
struct instance_row {
    char name[INSTANCE_NAME_BYTES];
    char host[INSTANCE_HOST_BYTES];
    int32_t pid;
};

/* This process, with a new name. False: the system gives out no random bytes. */
bool instance_row_init(struct instance_row *row) BERTH_MUST_CHECK;

/* Inserts or updates the row, with the server's time; `followed` is the number of the newest batch
 * that memory has. Also deletes the rows of instances that have not written for a day. A failure
 * leaves the session in no transaction, or closed. */
enum server_outcome instance_row_write(struct pg_session *session, const struct instance_row *row,
                                       int64_t followed, uint64_t deadline_us,
                                       struct err *err) BERTH_MUST_CHECK;

enum server_outcome instance_row_delete(struct pg_session *session, const struct instance_row *row,
                                        uint64_t deadline_us, struct err *err) BERTH_MUST_CHECK;

#endif
