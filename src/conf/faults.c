/* Implements the two ways of handling a fault. Used while the process starts and on a reload: one
 * thread. */
#include "conf/faults.h"

bool faults_go_on(struct faults *faults)
{
    if (faults->all == NULL)
        return false;
    if (err_is_set(faults->err))
        texts_add(faults->all, faults->arena, arena_copy(faults->arena, faults->err->message).data);
    *faults->err = (struct err){.arena = faults->err->arena};
    return true;
}
