/* A group of an option file (my.cnf), as PyMySQL reads it. */
#ifndef BERTH_STORE_MARIADB_SESSION_OPTION_FILE_H
#define BERTH_STORE_MARIADB_SESSION_OPTION_FILE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"

/* Texts in the arena; NULL: the group does not have the option, or it has no value. */
struct mariadb_option_file {
    const char *user;
    const char *password;
    const char *host;
    const char *database;
    const char *socket;
    const char *port;
    const char *bind_address;
    const char *ssl_ca;
    const char *ssl_capath;
    const char *ssl_cert;
    const char *ssl_key;
    const char *ssl_cipher;
};

/* Reads the group ("client", for example) of the text of a file. False: *reason says what is wrong,
 * in the arena, without a value. Any thread. */
bool mariadb_option_text_read(struct slice text, const char *group, struct arena *arena,
                              struct mariadb_option_file *options,
                              struct slice *reason) BERTH_MUST_CHECK;

/* The same for a file, whose path may begin with "~/". A file that cannot be read is an error: it
 * may be what demands TLS. Any thread. */
bool mariadb_option_file_read(const char *path, const char *group, struct arena *arena,
                              struct mariadb_option_file *options,
                              struct slice *reason) BERTH_MUST_CHECK;

#endif
