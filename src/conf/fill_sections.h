/* Converts values to the part of struct conf that belongs to one section; fill.c puts the parts
 * together. */
#ifndef BERTH_CONF_FILL_SECTIONS_H
#define BERTH_CONF_FILL_SECTIONS_H

#include "conf/settings.h"

/* False: a value is well-formed but not acceptable. */
bool fill_baremetal(struct conf *conf, struct err *err) BERTH_MUST_CHECK;
bool fill_healthcheck(struct conf *conf, struct err *err) BERTH_MUST_CHECK;
bool fill_valet(struct conf *conf, struct err *err) BERTH_MUST_CHECK;

#endif
