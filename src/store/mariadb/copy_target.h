/* A MariaDB or MySQL database as the target of a copy. */
#ifndef BERTH_STORE_MARIADB_COPY_TARGET_H
#define BERTH_STORE_MARIADB_COPY_TARGET_H

#include "store/copy_driver.h"

extern const struct copy_target_driver mariadb_copy_target;

#endif
