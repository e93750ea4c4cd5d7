/* What is different between two configurations, for a reload. */
#ifndef BERTH_CONF_CHANGES_H
#define BERTH_CONF_CHANGES_H

#include "conf/settings.h"

/* Logs a line for each mutable option with another value than before (`in_force`), and one line, a
 * warning, with all others that differ from those the process was started with: they need a
 * restart. Options without effect are left out. Values of secrets are not shown. Returns how many
 * mutable options changed. The main thread. */
size_t changes_log(const struct conf *started, const struct conf *in_force,
                   const struct conf *next);

#endif
