/* A database URL becomes parameters in the way of SQLAlchemy 1.4's make_url() and of the
 * create_connect_args() of its MySQL dialects (observed): user and password are percent-decoded,
 * host and database are taken literally, and parameters of the query override them.
 *
 * What the drivers then make of a parameter is in url_parameters.c. Where Python's reading would
 * surprise the one who wrote the URL (ssl_disabled=false disables TLS, because the text is not
 * empty), the value means here what it says. Pure; any thread. */
#include "store/mariadb/session/url.h"

#include <ctype.h>
#include <sys/un.h>

#include "base/utf8.h"
#include "store/mariadb/session/target.h"
#include "store/mariadb/session/url_parameters.h"
#include "store/server/url_parts.h"

enum { ALIASES = 4 };

/* A URL that is being parsed. */
struct reading {
    struct mariadb_url *parsed;
    struct arena *arena;
    unsigned driver;
    struct slice plugins; /* SQLAlchemy's, separated by commas */
    struct slice *names;  /* of the parameters of the query so far */
    size_t names_n, names_room;
};

static const struct {
    const char *name; /* after the "+"; "": without one */
    unsigned driver;
} DRIVERS[] = {
    {"pymysql", MARIADB_PYMYSQL},
    {"mysqldb", MARIADB_MYSQLDB},
    {"", MARIADB_MYSQLDB},
    {"mysqlconnector", MARIADB_CONNECTOR},
    {"mariadbconnector", MARIADB_MARIADBCONNECTOR},
};

static bool is_product(struct slice scheme)
{
    struct slice product = slice_cut(&scheme, '+');
    return slice_equal(product, SLICE_LIT("mysql")) || slice_equal(product, SLICE_LIT("mariadb"));
}

bool mariadb_url_matches(struct slice url)
{
    return is_product(slice_cut(&url, ':'));
}

/* 0: not one of those whose parameters are known. */
static unsigned driver_of(struct slice scheme)
{
    struct slice driver = scheme;
    bool has_driver = slice_cut(&driver, '+').len < scheme.len;
    for (size_t i = 0; i < sizeof(DRIVERS) / sizeof(DRIVERS[0]); i++)
        if (slice_equal(driver, slice_of(DRIVERS[i].name)) && has_driver == (driver.len > 0))
            return DRIVERS[i].driver;
    return 0;
}

static bool check_scheme(struct reading *reading, struct slice scheme, struct err *err)
{
    if (!is_product(scheme))
        return err_set(err, 503, NULL,
                       "the database connection %.*s:// is not one of MariaDB or MySQL",
                       SLICE_ARG(scheme));
    reading->driver = driver_of(scheme);
    if (reading->driver == 0)
        return err_set(err, 503, NULL,
                       "the database connection %.*s:// is not supported, because the parameters "
                       "of its driver are not known: write mysql+pymysql://",
                       SLICE_ARG(scheme));
    return true;
}

static bool check_text(struct slice value, const char *name, struct err *err)
{
    for (size_t at = 0; at < value.len;) {
        size_t len = utf8_length(value.data + at, value.len - at);
        const char *what = len == 0                 ? "bytes that are not UTF-8"
                           : value.data[at] == '\0' ? "U+0000"
                                                    : NULL;
        if (what != NULL)
            return err_set(err, 503, NULL, "the %s of the database connection contains %s", name,
                           what);
        at += len;
    }
    return true;
}

/* ---- the parts ---- */

/* Empty parts count as absent. */
static bool set_part(const struct reading *reading, const char **member, struct slice value,
                     const char *name, struct err *err)
{
    *member = value.len == 0 ? NULL : arena_copy(reading->arena, value).data;
    return check_text(value, name, err);
}

/* SQLAlchemy converts the port to a number; 0 counts as absent. */
static bool set_port(unsigned *port, struct slice text, struct err *err)
{
    if (text.data == NULL)
        return true;
    unsigned found = 0;
    bool is_number = text.len > 0;
    for (size_t i = 0; i < text.len && is_number; i++) {
        is_number = isdigit((unsigned char)text.data[i]);
        found = found * 10 + (unsigned)(text.data[i] - '0');
        is_number = is_number && found <= 65535;
    }
    if (!is_number)
        return err_set(err, 503, NULL,
                       "the port of the database connection is not a number from 1 to 65535");
    *port = found;
    return true;
}

static bool set_parts(struct reading *reading, const struct url_parts *parts, struct err *err)
{
    struct mariadb_url *url = reading->parsed;
    struct slice user = url_parts_decode(reading->arena, parts->user, false);
    struct slice password = url_parts_decode(reading->arena, parts->password, false);
    return set_part(reading, &url->user, user, "user", err) &&
           set_part(reading, &url->password, password, "password", err) &&
           set_part(reading, &url->host, parts->host, "host", err) &&
           set_part(reading, &url->database, parts->database, "database", err) &&
           set_port(&url->port, parts->port, err);
}

/* ---- the query ---- */

static bool has_name(const struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->names_n; i++)
        if (slice_equal(reading->names[i], slice_of(name)))
            return true;
    return false;
}

/* A name is not repeated in the message if it may be a piece of an unencoded password. */
static bool fail_parameter(const struct reading *reading, struct slice name, const char *why,
                           struct err *err)
{
    bool is_plain = name.len > 0 && name.len <= 40;
    for (size_t i = 0; i < name.len && is_plain; i++)
        is_plain = isalnum((unsigned char)name.data[i]) || name.data[i] == '_';
    if (!is_plain || has_name(reading, "password") || has_name(reading, "passwd"))
        return err_set(err, 503, NULL, "a parameter of the database connection %s", why);
    return err_set(err, 503, NULL, "the parameter \"%.*s\" of the database connection %s",
                   SLICE_ARG(name), why);
}

static const char **text_member(const struct reading *reading, size_t offset)
{
    return (const char **)(void *)((char *)reading->parsed + offset);
}

/* Of a plugin of SQLAlchemy, such as collectd_host of "plugin=collectd". */
static bool is_of_plugin(struct slice plugins, struct slice name)
{
    while (plugins.len > 0) {
        struct slice plugin = slice_cut(&plugins, ',');
        if (plugin.len > 0 && name.len > plugin.len && slice_starts_with(name, plugin) &&
            name.data[plugin.len] == '_')
            return true;
    }
    return false;
}

static void add_ignored(struct reading *reading, struct slice name)
{
    struct slice *ignored = &reading->parsed->ignored;
    struct slice parts[] = {*ignored, SLICE_LIT(", "), name};
    size_t from = ignored->len == 0 ? 2 : 0;
    *ignored = arena_join(reading->arena, parts + from, 3 - from);
}

/* Another name of a part that the URL has, or that the query has given under its first name. */
static bool names_again(const struct reading *reading, const struct mariadb_parameter *parameter)
{
    static const char *const others[ALIASES] = {"db", "passwd", "username", "connection_timeout"};
    const unsigned *seconds = &reading->parsed->connect_timeout_s;
    for (size_t i = 0; i < ALIASES; i++)
        if (strcmp(parameter->name, others[i]) == 0)
            return parameter->use == MARIADB_SECONDS
                       ? *seconds != 0
                       : *text_member(reading, parameter->offset) != NULL;
    return false;
}

static bool set_value(struct reading *reading, const struct mariadb_parameter *parameter,
                      struct slice name, struct slice value, struct err *err)
{
    if (!check_text(value, parameter->name, err))
        return false;
    if (parameter->use == MARIADB_SECONDS) {
        reading->parsed->connect_timeout_s = mariadb_parameter_seconds(value);
        return reading->parsed->connect_timeout_s > 0 ||
               fail_parameter(reading, name, "is not a number of seconds from 1 to 31536000", err);
    }
    const char *kept = mariadb_parameter_value(parameter, reading->arena, value);
    if (kept == NULL && parameter->use == MARIADB_SWITCH)
        return fail_parameter(reading, name, "is neither true nor false", err);
    if (kept == NULL)
        return fail_parameter(reading, name,
                              "is not one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA and "
                              "VERIFY_IDENTITY",
                              err);
    *text_member(reading, parameter->offset) = kept;
    return true;
}

static bool use_parameter(struct reading *reading, const struct mariadb_parameter *parameter,
                          struct slice name, struct slice value, struct err *err)
{
    switch (parameter->use) {
    case MARIADB_REFUSED:
        return fail_parameter(reading, name, parameter->why, err);
    case MARIADB_IGNORED:
        add_ignored(reading, slice_of(parameter->name));
        return true;
    case MARIADB_SILENT:
        return true;
    default:
        return set_value(reading, parameter, name, value, err);
    }
}

static bool add_parameter(struct reading *reading, struct slice name, struct slice value,
                          struct err *err)
{
    const struct mariadb_parameter *parameter = mariadb_parameter_find(name);
    bool is_plugins = is_of_plugin(reading->plugins, name);
    bool is_known =
        is_plugins || (parameter != NULL && (parameter->drivers & reading->driver) != 0);
    if (!is_known)
        return fail_parameter(reading, name, "is not one of its driver's", err);
    for (size_t i = 0; i < reading->names_n; i++)
        if (slice_equal(reading->names[i], name))
            return fail_parameter(reading, name, "is given twice", err);
    if (!is_plugins && names_again(reading, parameter))
        return fail_parameter(reading, name, "is given twice", err);
    reading->names = arena_grow(reading->arena, reading->names, reading->names_n,
                                &reading->names_room, sizeof(*reading->names));
    reading->names[reading->names_n++] = name;
    return is_plugins || use_parameter(reading, parameter, name, value, err);
}

/* Calls add_parameter() for each that has a value, as Python's parse_qsl(); or only finds the
 * plugins. */
static bool read_query(struct reading *reading, struct slice query, bool plugins_only,
                       struct err *err)
{
    while (query.len > 0) {
        struct slice raw = slice_cut(&query, '&');
        struct slice name = url_parts_decode(reading->arena, slice_cut(&raw, '='), true);
        struct slice value = url_parts_decode(reading->arena, raw, true);
        if (value.len == 0)
            continue;
        if (plugins_only && slice_equal(name, SLICE_LIT("plugin")))
            reading->plugins = value;
        else if (!plugins_only && !add_parameter(reading, name, value, err))
            return false;
    }
    return true;
}

/* ---- the whole ---- */

/* libmariadb reads lists, and whole connection strings, from a host. */
static bool check_host(const char *host, struct err *err)
{
    for (; host != NULL && *host != '\0'; host++)
        if (!isalnum((unsigned char)*host) && strchr(".-_:%", *host) == NULL)
            return err_set(err, 503, NULL,
                           "the host of the database connection is not the name or address of one "
                           "host");
    return true;
}

static bool is_switched_on(const char *value)
{
    return value != NULL && value[0] == '1';
}

static bool check_whole(const struct mariadb_url *url, struct err *err)
{
    if (!check_host(url->host, err))
        return false;
    if (url->unix_socket != NULL &&
        strlen(url->unix_socket) >= sizeof(((struct sockaddr_un *)0)->sun_path))
        return err_set(err, 503, NULL, "the unix_socket of the database connection is too long");
    bool verifies =
        is_switched_on(url->ssl_verify_identity) || is_switched_on(url->ssl_check_hostname);
    if (verifies && url->ssl_verify_cert != NULL && !is_switched_on(url->ssl_verify_cert))
        return err_set(err, 503, NULL,
                       "the database connection verifies the host, but with ssl_verify_cert=false "
                       "not the certificate: leave one of these parameters out");
    return true;
}

bool mariadb_url_parse(struct slice url, struct slice parameters, struct arena *arena,
                       struct mariadb_url *parsed, struct err *err)
{
    struct url_parts parts;
    struct slice rest = url;
    struct slice scheme = slice_cut(&rest, ':');
    *parsed = (struct mariadb_url){.ignored = SLICE_LIT("")};
    struct reading reading = {.parsed = parsed, .arena = arena, .plugins = SLICE_LIT("")};
    if (scheme.len == url.len || !slice_starts_with(rest, SLICE_LIT("//")))
        return err_set(err, 503, NULL,
                       "the database connection is not a URL "
                       "(mysql+pymysql://USER:PASSWORD@HOST:PORT/DATABASE)");
    if (!url_parts_parse(url, &parts, err) || !check_scheme(&reading, parts.scheme, err) ||
        !set_parts(&reading, &parts, err))
        return false;
    (void)read_query(&reading, parts.query, true, err);
    (void)read_query(&reading, parameters, true, err);
    if (!read_query(&reading, parts.query, false, err) ||
        !read_query(&reading, parameters, false, err) || !check_whole(parsed, err))
        return false;
    parsed->target = mariadb_target_render(arena, parsed);
    return true;
}

struct mariadb_url mariadb_url_copy(const struct mariadb_url *url, struct arena *arena)
{
    struct mariadb_url copy = *url;
    const char **texts[] = {
        &copy.user,
        &copy.password,
        &copy.host,
        &copy.database,
        &copy.unix_socket,
        &copy.bind_address,
        &copy.option_file,
        &copy.option_group,
        &copy.program_name,
        &copy.init_command,
        &copy.ssl_ca,
        &copy.ssl_capath,
        &copy.ssl_cert,
        &copy.ssl_key,
        &copy.ssl_cipher,
        &copy.ssl_mode,
        &copy.ssl_disabled,
        &copy.ssl_check_hostname,
        &copy.ssl_verify_cert,
        &copy.ssl_verify_identity,
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (*texts[i] != NULL)
            *texts[i] = arena_copy(arena, slice_of(*texts[i])).data;
    copy.ignored = arena_copy(arena, url->ignored);
    copy.target = arena_copy(arena, url->target);
    return copy;
}
