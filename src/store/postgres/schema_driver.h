/* PostgreSQL's row among the drivers of schemas. */
#ifndef BERTH_STORE_POSTGRES_SCHEMA_DRIVER_H
#define BERTH_STORE_POSTGRES_SCHEMA_DRIVER_H

#include "store/schema_drivers.h"

extern const struct schema_driver pg_schema_driver;

#endif
