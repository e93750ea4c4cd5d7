/* Where and how to connect: a URL, and the option file that it names. */
#ifndef BERTH_STORE_MARIADB_SESSION_LOGIN_H
#define BERTH_STORE_MARIADB_SESSION_LOGIN_H

#include <stdbool.h>

#include "base/check.h"
#include "store/mariadb/session/url_fields.h"

enum mariadb_tls {
    MARIADB_TLS_OFF,
    MARIADB_TLS_ENCRYPTED, /* nothing is verified */
    MARIADB_TLS_CHAIN,     /* the server's certificate is signed by a known CA */
    MARIADB_TLS_HOST,      /* and it is for this host */
};

enum { MARIADB_DEFAULT_PORT = 3306 };

/* NULL: not set. */
struct mariadb_login {
    const char *user; /* NULL: the user of this process */
    const char *password;
    const char *host; /* NULL: it is a unix socket */
    unsigned port;
    const char *database;
    const char *unix_socket;
    const char *bind_address;
    const char *program_name;
    const char *init_command;
    enum mariadb_tls tls;
    /* Not set if TLS is off. */
    const char *ssl_ca; /* ssl_ca or ssl_capath is set if something is verified */
    const char *ssl_capath;
    const char *ssl_cert;
    const char *ssl_key;
    const char *ssl_cipher;
};

/* Reads the option file, if there is one, each time. False: *reason says why there is no login, a
 * line in the arena without secrets. The login refers to the URL and the arena. Any thread. */
bool mariadb_login_read(const struct mariadb_url *url, struct arena *arena,
                        struct mariadb_login *login, struct slice *reason) BERTH_MUST_CHECK;

/* Whether the files of TLS can be read; libmariadb's messages do not name them. False: *reason is a
 * line in the arena. Any thread. */
bool mariadb_login_check_files(const struct mariadb_login *login, struct arena *arena,
                               struct slice *reason) BERTH_MUST_CHECK;

#endif
