/* A server on a port of its own that says what a test writes, to a client that expects MariaDB. */
#ifndef BERTH_TESTS_UNIT_STORE_MARIADB_FAKE_SERVER_H
#define BERTH_TESTS_UNIT_STORE_MARIADB_FAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

enum { FAKE_STEPS_MOST = 8 };

/* The packets that are sent to each client, each after the client has sent something, except for
 * the first one. Then everything is read until the client ends. A packet's number is the one that
 * follows the client's. */
struct fake_script {
    struct slice packets[FAKE_STEPS_MOST];
    size_t count;
};

struct fake_server;

/* The caller owns it; one test thread uses it. The script must outlive it. */
struct fake_server *fake_server_start(const struct fake_script *script);
void fake_server_stop(struct fake_server *server);
int fake_server_port(const struct fake_server *server);

/* How many clients have ended. */
unsigned fake_server_ended(struct fake_server *server);

/* Whether a client has sent these bytes. */
bool fake_server_has_read(struct fake_server *server, struct slice bytes);

/* A greeting as MariaDB 10.11 sends it, which offers mysql_native_password, and an answer of OK. */
extern const struct slice fake_greeting;
extern const struct slice fake_greeting_with_tls;
extern const struct slice fake_ok;

#endif
