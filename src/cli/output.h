/* Checks that a tool's output was written: a page cut off by a full disk is a failure. */
#ifndef BERTH_CLI_OUTPUT_H
#define BERTH_CLI_OUTPUT_H

#include <stdio.h>

#include "base/slice.h"

/* Called at the end of a tool: flushes standard output. Returns `code`, or, if not everything could
 * be written, `lost` after printing a line to standard error. */
int output_end(const char *program, int code, int lost);

/* Ends a line about a name that does not exist; suggests `meant` if it is not NULL. */
void output_suggestion(FILE *errors, const char *meant);

/* Writes text (UTF-8) that another program sent, so that it cannot move a terminal's cursor or
 * forge a line: control characters, those of C1 included, as \xNN. */
void output_text(FILE *out, const char *text);

/* The same for valid JSON: inside its strings as \u00NN, between them line ends and tabs stay. */
void output_json(FILE *out, struct slice json);

#endif
