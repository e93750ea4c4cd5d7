/* What a database URL of MariaDB or MySQL says. */
#ifndef BERTH_STORE_MARIADB_SESSION_URL_FIELDS_H
#define BERTH_STORE_MARIADB_SESSION_URL_FIELDS_H

#include "base/arena.h"
#include "base/slice.h"

/* Everything is in the arena of the parse. Texts are NULL if they are not set; they are never
 * empty. */
struct mariadb_url {
    const char *user;
    const char *password;
    const char *host;
    unsigned port; /* 0: not set */
    const char *database;
    const char *unix_socket;
    const char *bind_address;
    const char *option_file; /* read_default_file; option_file.h */
    const char *option_group;
    const char *program_name;
    const char *init_command;
    const char *ssl_ca;
    const char *ssl_capath;
    const char *ssl_cert;
    const char *ssl_key;
    const char *ssl_cipher;
    const char *ssl_mode; /* one of mysqlclient's, in capitals */
    /* Switches: "0" or "1". */
    const char *ssl_disabled;
    const char *ssl_check_hostname;
    const char *ssl_verify_cert;
    const char *ssl_verify_identity;
    unsigned connect_timeout_s; /* 0: not set */
    struct slice ignored;       /* names of parameters that have no effect although they would have
                                   one in Python: "a, b"; empty: there are none */
    struct slice target; /* for messages: "mysql://user@host:port/db", never with a password */
};

#endif
