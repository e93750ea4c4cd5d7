/* A file with a token, as returned by Keystone. */
#ifndef BERTH_CLI_TOKEN_FILE_H
#define BERTH_CLI_TOKEN_FILE_H

#include "auth/identity.h"
#include "base/arena.h"
#include "base/err.h"

/* Reads the body of GET /v3/auth/tokens, as oslopolicy-checker's --access does, and builds the
 * identity that the service would give a caller with that token. "-": standard input. The texts are
 * in the arena. */
bool token_file_read(const char *path, struct arena *arena, struct identity *identity,
                     struct err *err) BERTH_MUST_CHECK;

/* The same from a text. */
bool token_text_read(const char *path, struct slice text, struct arena *arena,
                     struct identity *identity, struct err *err) BERTH_MUST_CHECK;

#endif
