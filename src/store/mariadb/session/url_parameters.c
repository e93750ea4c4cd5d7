/* A table of what PyMySQL, mysqlclient, MySQL Connector/Python and MariaDB Connector/Python accept
 * as keyword arguments, as far as a URL can have them: SQLAlchemy passes on the whole query.
 *
 * Charsets, SQL modes and the like are those that berth's own statements need, whatever the URL
 * says (session_settings.h), and each operation has a deadline of its own, so that those parameters
 * have no effect. Values of Python's own types (cursorclass, conv) cannot be written in a URL.
 * Pure; any thread. */
#include "store/mariadb/session/url_parameters.h"

#include <ctype.h>

enum { SECONDS_MOST = 31536000 }; /* PyMySQL's */

#define ANY MARIADB_ANY_DRIVER
#define PY  MARIADB_PYMYSQL
#define DB  MARIADB_MYSQLDB
#define CON (MARIADB_CONNECTOR | MARIADB_MARIADBCONNECTOR)

#define TEXT(member)         MARIADB_TEXT, ANY, offsetof(struct mariadb_url, member), NULL
#define TEXT_OF(who, member) MARIADB_TEXT, (who), offsetof(struct mariadb_url, member), NULL
#define SWITCH(who, member)  MARIADB_SWITCH, (who), offsetof(struct mariadb_url, member), NULL
#define SILENT(who)          MARIADB_SILENT, (who), 0, NULL
#define IGNORED(who)         MARIADB_IGNORED, (who), 0, NULL
#define REFUSED(why)         MARIADB_REFUSED, ANY, 0, (why)

static const char NO_URL[] = "cannot be written in a URL";
static const char WRITE_PORT[] = "cannot be given as a parameter: write the port after the host";
static const char WRITE_CA[] = "has no value that a URL can have: write ssl_ca=FILE";
static const char WRITE_FILE[] = "is not supported: write read_default_file=FILE";
static const char NO_COMPRESSION[] = "is not supported";

static const struct mariadb_parameter PARAMETERS[] = {
    {"user", TEXT(user)},
    {"username", TEXT_OF(CON, user)},
    {"password", TEXT(password)},
    {"passwd", TEXT(password)},
    {"host", TEXT(host)},
    {"database", TEXT(database)},
    {"db", TEXT(database)},
    {"port", REFUSED(WRITE_PORT)},
    {"unix_socket", TEXT(unix_socket)},
    {"bind_address", TEXT_OF(PY, bind_address)},
    {"read_default_file", TEXT_OF(PY | DB, option_file)},
    {"read_default_group", TEXT_OF(PY | DB, option_group)},
    {"default_file", TEXT_OF(MARIADB_MARIADBCONNECTOR, option_file)},
    {"default_group", TEXT_OF(MARIADB_MARIADBCONNECTOR, option_group)},
    {"option_files", REFUSED(WRITE_FILE)},
    {"option_groups", REFUSED(WRITE_FILE)},
    {"program_name", TEXT_OF(PY | DB, program_name)},
    {"init_command", TEXT(init_command)},
    {"connect_timeout", MARIADB_SECONDS, ANY, 0, NULL},
    {"connection_timeout", MARIADB_SECONDS, MARIADB_CONNECTOR, 0, NULL},

    {"ssl_ca", TEXT(ssl_ca)},
    {"ssl_capath", TEXT_OF(PY | DB | MARIADB_MARIADBCONNECTOR, ssl_capath)},
    {"ssl_cert", TEXT(ssl_cert)},
    {"ssl_key", TEXT(ssl_key)},
    {"ssl_cipher", TEXT_OF(PY | DB | MARIADB_MARIADBCONNECTOR, ssl_cipher)},
    {"ssl_check_hostname", SWITCH(PY | DB, ssl_check_hostname)},
    {"ssl_verify_cert", SWITCH(PY | CON, ssl_verify_cert)},
    {"ssl_verify_identity", SWITCH(PY | MARIADB_CONNECTOR, ssl_verify_identity)},
    {"ssl_disabled", SWITCH(PY | MARIADB_CONNECTOR, ssl_disabled)},
    {"ssl_mode", MARIADB_MODE, DB, offsetof(struct mariadb_url, ssl_mode), NULL},
    {"ssl", REFUSED(WRITE_CA)},
    {"ssl_key_password", REFUSED("is not supported: the key must not have a password")},
    {"server_public_key", REFUSED(NO_URL)},

    {"charset", SILENT(ANY)},
    {"collation", SILENT(ANY)},
    {"use_unicode", SILENT(ANY)},
    {"binary_prefix", SILENT(PY | DB)},
    {"autocommit", SILENT(ANY)},
    {"local_infile", SILENT(PY | DB | MARIADB_MARIADBCONNECTOR)},
    {"allow_local_infile", SILENT(MARIADB_CONNECTOR)},
    {"max_allowed_packet", SILENT(PY)},
    {"buffered", SILENT(MARIADB_CONNECTOR)},
    {"consume_results", SILENT(MARIADB_CONNECTOR)},
    {"get_warnings", SILENT(MARIADB_CONNECTOR)},
    {"raise_on_warnings", SILENT(MARIADB_CONNECTOR)},
    {"raw", SILENT(MARIADB_CONNECTOR)},
    {"use_pure", SILENT(MARIADB_CONNECTOR)},
    {"pool_size", SILENT(CON)},
    {"pool_name", SILENT(CON)},
    {"pool_reset_session", SILENT(MARIADB_CONNECTOR)},
    {"sql_mode", IGNORED(PY | DB | MARIADB_CONNECTOR)},
    {"read_timeout", IGNORED(PY | DB | MARIADB_MARIADBCONNECTOR)},
    {"write_timeout", IGNORED(PY | DB | MARIADB_MARIADBCONNECTOR)},
    {"client_flag", IGNORED(PY | DB | MARIADB_MARIADBCONNECTOR)},
    {"client_flags", IGNORED(MARIADB_CONNECTOR)},
    {"time_zone", IGNORED(MARIADB_CONNECTOR)},
    {"auth_plugin", IGNORED(DB | MARIADB_CONNECTOR)},
    {"plugin", IGNORED(ANY)}, /* SQLAlchemy's: a program in Python */

    {"compress", REFUSED(NO_COMPRESSION)},
    {"named_pipe", REFUSED("is for Windows only")},
    {"defer_connect", REFUSED(NO_URL)},
    {"cursorclass", REFUSED(NO_URL)},
    {"conv", REFUSED(NO_URL)},
    {"auth_plugin_map", REFUSED(NO_URL)},
};

const struct mariadb_parameter *mariadb_parameter_find(struct slice name)
{
    for (size_t i = 0; i < sizeof(PARAMETERS) / sizeof(PARAMETERS[0]); i++)
        if (slice_equal(name, slice_of(PARAMETERS[i].name)))
            return &PARAMETERS[i];
    return NULL;
}

static bool matches_any(struct slice text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (slice_equal_nocase(text, slice_of(*words)))
            return true;
    return false;
}

/* SQLAlchemy's asbool(), and PyMySQL's values of ssl_verify_cert: to demand a certificate if there
 * is one means the same as to demand one. */
static const char *switch_value(struct slice text)
{
    static const char *const on[] = {"true", "yes",      "on",       "y", "t",
                                     "1",    "required", "optional", NULL};
    static const char *const off[] = {"false", "no", "off", "n", "f", "0", "none", NULL};
    struct slice word = slice_trim(text);
    return matches_any(word, on) ? "1" : matches_any(word, off) ? "0" : NULL;
}

static const char *mode_value(struct slice text)
{
    static const char *const modes[] = {"DISABLED",  "PREFERRED",       "REQUIRED",
                                        "VERIFY_CA", "VERIFY_IDENTITY", NULL};
    for (size_t i = 0; modes[i] != NULL; i++)
        if (slice_equal(text, slice_of(modes[i])))
            return modes[i];
    return NULL;
}

const char *mariadb_parameter_value(const struct mariadb_parameter *parameter, struct arena *arena,
                                    struct slice text)
{
    if (parameter->use == MARIADB_SWITCH)
        return switch_value(text);
    if (parameter->use == MARIADB_MODE)
        return mode_value(text);
    return arena_copy(arena, text).data;
}

unsigned mariadb_parameter_seconds(struct slice text)
{
    unsigned seconds = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.data[i]) || seconds > SECONDS_MOST)
            return 0;
        seconds = seconds * 10 + (unsigned)(text.data[i] - '0');
    }
    return seconds > SECONDS_MOST ? 0 : seconds;
}
