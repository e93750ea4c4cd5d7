/* An SQLite database as the source of a copy. */
#ifndef BERTH_STORE_SQLITE_COPY_SOURCE_H
#define BERTH_STORE_SQLITE_COPY_SOURCE_H

#include "store/copy_driver.h"

extern const struct copy_source_driver sqlite_copy_source;

#endif
