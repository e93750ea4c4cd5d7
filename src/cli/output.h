/* What a tool has printed has to arrive: a page that was cut by a full disk is no page. */
#ifndef BERTH_CLI_OUTPUT_H
#define BERTH_CLI_OUTPUT_H

#include <stdio.h>

#include "base/slice.h"

/* At a tool's end: writes out what standard output still holds. Gives back `code`, or, if not
 * everything could be written, `lost` after a line on standard error. */
int output_end(const char *program, int code, int lost);

/* Ends a line about a name that does not exist: with what was probably meant, if `meant` is not
 * NULL. */
void output_suggestion(FILE *errors, const char *meant);

/* Writes text (UTF-8) that another program sent, so that it cannot move a terminal's cursor or
 * forge a line: control characters, those of C1 included, as \xNN. */
void output_text(FILE *out, const char *text);

/* The same for valid JSON: inside its strings as \u00NN, between them line ends and tabs stay. */
void output_json(FILE *out, struct slice json);

#endif
