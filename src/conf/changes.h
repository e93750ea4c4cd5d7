/* The differences between two configurations, for a reload. */
#ifndef BERTH_CONF_CHANGES_H
#define BERTH_CONF_CHANGES_H

#include "conf/settings.h"

/* Logs one line for each mutable option whose value differs from `in_force`, and one warning that
 * lists all other options whose values differ from those the process was started with: they need a
 * restart. Options without effect are left out. Values of secrets are not shown. Returns the number
 * of mutable options that changed. The main thread. */
size_t changes_log(const struct conf *started, const struct conf *in_force,
                   const struct conf *next);

#endif
