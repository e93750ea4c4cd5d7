/* The parameters of a database URL of MariaDB or MySQL: what the Python drivers accept in a query,
 * and what becomes of it here. */
#ifndef BERTH_STORE_MARIADB_SESSION_URL_PARAMETERS_H
#define BERTH_STORE_MARIADB_SESSION_URL_PARAMETERS_H

#include <stddef.h>

#include "base/slice.h"
#include "store/mariadb/session/url_fields.h"

/* Which Python driver the URL names. */
enum mariadb_driver {
    MARIADB_PYMYSQL = 1,
    MARIADB_MYSQLDB = 2, /* mysqlclient, SQLAlchemy's default */
    MARIADB_CONNECTOR = 4,
    MARIADB_MARIADBCONNECTOR = 8,
    MARIADB_ANY_DRIVER = 15,
};

enum mariadb_parameter_use {
    MARIADB_TEXT,    /* honoured: a text */
    MARIADB_SWITCH,  /* honoured: becomes "0" or "1" */
    MARIADB_SECONDS, /* honoured: 1 to a year */
    MARIADB_MODE,    /* honoured: one of mysqlclient's values of ssl_mode */
    MARIADB_SILENT,  /* without effect, and nobody would notice */
    MARIADB_IGNORED, /* without effect, which is reported */
    MARIADB_REFUSED,
};

struct mariadb_parameter {
    const char *name;
    enum mariadb_parameter_use use;
    unsigned drivers; /* that know it */
    size_t offset;    /* of the member of struct mariadb_url, if it is honoured */
    const char *why;  /* refused: the end of the message */
};

/* NULL: no driver knows it. Any thread. */
const struct mariadb_parameter *mariadb_parameter_find(struct slice name);

/* The value as it is kept: the text itself, "0" or "1" for a switch, an ssl_mode in capitals. NULL:
 * it is not one of the parameter's values. Any thread. */
const char *mariadb_parameter_value(const struct mariadb_parameter *parameter, struct arena *arena,
                                    struct slice text);

/* Reads a number of seconds. 0: it is not one. Any thread. */
unsigned mariadb_parameter_seconds(struct slice text);

#endif
