/* A version as text: all that the database says and memory keeps, in an order that does not depend
 * on how the version was made. What is derived is the matter of replica/audit.h. */
#ifndef BERTH_TESTS_VERSION_TEXT_H
#define BERTH_TESTS_VERSION_TEXT_H

#include "base/buf.h"
#include "replica/version.h"

void version_write_text(const struct version *version, struct buf *out);

#endif
