/* What is wrong with a configuration. A load ends with the first fault; an examination continues
 * and gathers all of them. */
#ifndef BERTH_CONF_FAULTS_H
#define BERTH_CONF_FAULTS_H

#include "base/err.h"
#include "conf/texts.h"

struct faults {
    struct err *err;
    struct texts_builder *all; /* NULL: a load */
    struct arena *arena;
    size_t of_files; /* how many of them are files that cannot be read */
};

/* To be called when something has failed: true if the work continues without it. Its reason is then
 * gathered and err empty again. */
bool faults_go_on(struct faults *faults);

#endif
