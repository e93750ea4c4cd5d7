/* Losses as JSON objects, as docs/postgresql.md describes them. */
#ifndef BERTH_ENGINE_LOSS_JSON_H
#define BERTH_ENGINE_LOSS_JSON_H

#include "base/buf.h"
#include "replica/losses.h"

/* Append a member to an object that has at least one. Without data, the text is null. */
void loss_json_text(struct buf *buf, const char *name, struct slice text);
void loss_json_number(struct buf *buf, const char *name, int64_t value);

/* Appends the loss as one line. */
void loss_json_write(struct buf *buf, const struct loss *loss, const struct version *before,
                     const struct version *after);

#endif
