/* The functions of store/coexist.h on a MariaDB or MySQL server. Neither can be one transaction: if
 * one is interrupted, the status says that triggers are missing, and calling it again goes on. */
#ifndef BERTH_STORE_MARIADB_FOREIGN_COEXIST_H
#define BERTH_STORE_MARIADB_FOREIGN_COEXIST_H

#include "store/coexist.h"

bool mariadb_coexist_enable(struct slice connection, struct err *err) BERTH_MUST_CHECK;
bool mariadb_coexist_disable(struct slice connection, struct err *err) BERTH_MUST_CHECK;
bool mariadb_coexist_read_status(struct slice connection, struct coexist_status *status,
                                 struct err *err) BERTH_MUST_CHECK;

#endif
