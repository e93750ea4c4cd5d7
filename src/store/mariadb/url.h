/* Connection parameters from a database URL as SQLAlchemy accepts it for MariaDB and MySQL. */
#ifndef BERTH_STORE_MARIADB_URL_H
#define BERTH_STORE_MARIADB_URL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
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

/* Whether the URL is meant for MariaDB or MySQL, so that mariadb_url_parse() explains what is wrong
 * with it. Any thread. */
bool mariadb_url_matches(struct slice url);

/* Parses a URL as SQLAlchemy's make_url() and its MySQL dialects do, and appends `parameters`
 * (oslo.db's connection_parameters: "name=value&name=value", or empty) to its query as oslo.db
 * does.
 *
 * False with one line (503), which never has a secret in it: another driver; a parameter that is
 * unknown, given twice, or has a value that would be misread; and whatever SQLAlchemy accepts but
 * would misread (U+0000, bytes that are not UTF-8, text that it drops, an unencoded "@"). Any
 * thread. */
bool mariadb_url_parse(struct slice url, struct slice parameters, struct arena *arena,
                       struct mariadb_url *parsed, struct err *err) BERTH_MUST_CHECK;

/* A copy in the arena. Any thread. */
struct mariadb_url mariadb_url_copy(const struct mariadb_url *url, struct arena *arena);

#endif
