/* MariaDB and MySQL as a driver of schema.h and repair.h. */
#ifndef BERTH_STORE_MARIADB_SCHEMA_DRIVER_H
#define BERTH_STORE_MARIADB_SCHEMA_DRIVER_H

#include "store/schema_drivers.h"

extern const struct schema_driver mariadb_schema_driver;

#endif
