/* Converts values to the fields of struct conf. */
#ifndef BERTH_CONF_FILL_H
#define BERTH_CONF_FILL_H

#include "conf/faults.h"
#include "conf/settings.h"

/* Fills the fields from conf->values. False: a value is well-formed but not acceptable. */
bool fill_settings(struct conf *conf, struct faults *faults) BERTH_MUST_CHECK;

#endif
