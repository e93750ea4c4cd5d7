/* From values to the part of struct conf that one section has; fill.c puts them together. */
#ifndef BERTH_CONF_FILL_SECTIONS_H
#define BERTH_CONF_FILL_SECTIONS_H

#include "conf/settings.h"

/* False: a value is well-formed but makes no sense. */
bool fill_baremetal(struct conf *conf, struct err *err) BERTH_MUST_CHECK;
bool fill_healthcheck(struct conf *conf, struct err *err) BERTH_MUST_CHECK;
bool fill_valet(struct conf *conf, struct err *err) BERTH_MUST_CHECK;

#endif
