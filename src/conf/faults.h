/* The faults of a configuration. A load ends with the first fault; an examination continues and
 * collects all of them. */
#ifndef BERTH_CONF_FAULTS_H
#define BERTH_CONF_FAULTS_H

#include "base/err.h"
#include "conf/texts.h"

struct faults {
    struct err *err;
    struct texts_builder *all; /* NULL: a load */
    struct arena *arena;
    size_t of_files; /* how many of them are unreadable files */
};

/* Called after a failure: true if the work continues without what failed. The reason is then
 * collected and err is empty again. */
bool faults_go_on(struct faults *faults);

#endif
