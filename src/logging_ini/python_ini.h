/* The file format of Python's configparser, in which logging configurations are written; it differs
 * slightly from that of oslo.config (ini.h). Source: Python library reference, configparser,
 * Supported INI File Structure, with its defaults. */
#ifndef BERTH_LOGGING_INI_PYTHON_INI_H
#define BERTH_LOGGING_INI_PYTHON_INI_H

#include "conf/ini.h"

/* Parses a whole file. Keys are in lower case; a section, or a key in one, that occurs twice is an
 * error, as are more than 4096 of them; values are raw (python_ini_get replaces references).
 * Everything in `out` lies in the arena. */
bool python_ini_parse(struct slice text, struct arena *arena, struct ini_file *out,
                      struct ini_error *error) BERTH_MUST_CHECK;

bool python_ini_has_section(const struct ini_file *file, struct slice section);

/* The entry of a key in a section or, failing that, in [DEFAULT]; NULL: there is none. */
const struct ini_entry *python_ini_find(const struct ini_file *file, struct slice section,
                                        const char *key);

/* The entry's value with %(name)s replaced by the value of that key and %% by a percent sign.
 * False: a reference is malformed, refers to a missing key, or is nested deeper than ten, or there
 * are more than 10000. */
bool python_ini_expand(const struct ini_file *file, const struct ini_entry *entry,
                       struct arena *arena, struct slice *value,
                       struct ini_error *error) BERTH_MUST_CHECK;

#endif
