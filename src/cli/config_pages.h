/* Pages generated from THE table of options. */
#ifndef BERTH_CLI_CONFIG_PAGES_H
#define BERTH_CLI_CONFIG_PAGES_H

#include <stdio.h>

/* A commented placement.conf with every option at its default, in the layout of
 * oslo-config-generator: docs/placement.conf.sample. */
void config_write_sample(FILE *out);

/* The reference in Markdown: the generated part of docs/configuration.md. */
void config_write_reference(FILE *out);

/* The options in mdoc: the generated part of docs/man/placement.conf.5. */
void config_write_manual(FILE *out);

#endif
