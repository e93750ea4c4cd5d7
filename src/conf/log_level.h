/* The levels of Python's logging by name. */
#ifndef BERTH_CONF_LOG_LEVEL_H
#define BERTH_CONF_LOG_LEVEL_H

#include "base/check.h"
#include "base/slice.h"

/* Parses a level name of Python's logging, NOTSET included. False: it is not one (case matters). */
bool log_level_parse(struct slice name, int *level) BERTH_MUST_CHECK;

#endif
