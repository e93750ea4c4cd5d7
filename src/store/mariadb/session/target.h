/* The name of a database on a MariaDB or MySQL server, for messages. */
#ifndef BERTH_STORE_MARIADB_SESSION_TARGET_H
#define BERTH_STORE_MARIADB_SESSION_TARGET_H

#include "base/arena.h"
#include "store/mariadb/session/url_fields.h"

/* "mysql://user@host:port/db", or "mysql://user@/db?unix_socket=/path"; with
 * "?read_default_file=/path" if there is one, since it may name the server. In the arena. */
struct slice mariadb_target_render(struct arena *arena, const struct mariadb_url *url);

#endif
