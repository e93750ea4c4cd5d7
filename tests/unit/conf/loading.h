/* Loads a configuration in a test. Each test has an empty directory of its own as $HOME and working
 * directory, an empty environment, and these. */
#ifndef BERTH_UNIT_CONF_LOADING_H
#define BERTH_UNIT_CONF_LOADING_H

#include "conf/load.h"

extern char home[64];
extern struct conf_inputs inputs; /* the command line; empty at first */
extern struct err err;
extern struct conf *conf; /* the last one loaded */

#define BASE "[placement_database]\nconnection = sqlite:////x.db\n"

void put(const char *path, const char *text);

/* Writes the file and names it on the command line. */
void use_file(const char *path, const char *text);
void override(const char *section, const char *name, const char *value);

void load_ok(void);
void expect_error(const char *message);

/* One file with BASE and this text, refused with this message. */
void expect_refused(const char *text, const char *message);

int loading_setup(void **state);
int loading_teardown(void **state);

#define LOADING_TEST(name) cmocka_unit_test_setup_teardown(name, loading_setup, loading_teardown)

#endif
