/* A database URL becomes libpq's parameters in the way of SQLAlchemy 1.4's make_url() and of its
 * psycopg2 dialect's create_connect_args() (observed): user and password are percent-decoded, host
 * and database are taken literally, parameters of the query override them, and "host" given several
 * times as "HOST:PORT" becomes libpq's lists. SQLAlchemy 2.0 also accepts one such host.
 *
 * The names of parameters are those of the libpq in use, which it is asked for. Parameters of
 * Python's libraries (plugin, async, dsn) are not among them, and are refused like any other: what
 * they do cannot be done here. Pure; any thread. */
#include "store/postgres/session/url.h"

#include <ctype.h>
#include <libpq-fe.h>

#include "base/utf8.h"
#include "store/postgres/session/target.h"
#include "store/server/url_parts.h"

/* The parameters being collected: values[i] belongs to known[i]; without data, it is not set. */
struct settings {
    PQconninfoOption *known;
    size_t count;
    struct slice *values;
    bool *in_query; /* whether the query sets it */
    struct slice hosts, ports;
    size_t hosts_n; /* in the query */
    struct arena *arena;
};

static bool scheme_is(struct slice scheme, const char *product, const char *const *drivers)
{
    struct slice driver = scheme;
    struct slice before = slice_cut(&driver, '+');
    if (!slice_equal(before, slice_of(product)))
        return false;
    if (before.len == scheme.len || drivers == NULL)
        return true;
    for (size_t i = 0; drivers[i] != NULL; i++)
        if (slice_equal(driver, slice_of(drivers[i])))
            return true;
    return false;
}

bool pg_url_matches(struct slice url)
{
    struct slice scheme = slice_cut(&url, ':');
    return scheme_is(scheme, "postgresql", NULL) || scheme_is(scheme, "postgres", NULL);
}

/* Those whose parameters are libpq's. SQLAlchemy's default is the first; "psycopg" is from 2.0. */
static const char *const DRIVERS[] = {"psycopg2", "psycopg2cffi", "psycopg", NULL};

static bool check_scheme(struct slice scheme, struct err *err)
{
    if (scheme_is(scheme, "postgresql", DRIVERS))
        return true;
    if (scheme_is(scheme, "postgres", NULL))
        return err_set(err, 503, NULL,
                       "the database connection %.*s:// is not supported, and not by SQLAlchemy "
                       "either: write postgresql://",
                       SLICE_ARG(scheme));
    if (scheme_is(scheme, "postgresql", NULL))
        return err_set(err, 503, NULL,
                       "the database connection %.*s:// is not supported, because its driver's "
                       "parameters are not those of libpq: write postgresql:// or "
                       "postgresql+psycopg2://",
                       SLICE_ARG(scheme));
    return err_set(err, 503, NULL, "the database connection %.*s:// is not one of PostgreSQL",
                   SLICE_ARG(scheme));
}

static size_t position(const struct settings *settings, struct slice name)
{
    size_t i = 0;
    while (i < settings->count && !slice_equal(slice_of(settings->known[i].keyword), name))
        i++;
    return i;
}

static struct slice *setting(struct settings *settings, const char *keyword)
{
    size_t at = position(settings, slice_of(keyword));
    check(at < settings->count);
    return &settings->values[at];
}

static bool in_query(const struct settings *settings, const char *keyword)
{
    size_t at = position(settings, slice_of(keyword));
    return at < settings->count && settings->in_query[at];
}

static void learn_keywords(struct settings *settings)
{
    settings->known = PQconninfoParse("", NULL);
    check(settings->known != NULL);
    while (settings->known[settings->count].keyword != NULL)
        settings->count++;
    settings->values = arena_zalloc(settings->arena, settings->count * sizeof(*settings->values));
    settings->in_query =
        arena_zalloc(settings->arena, settings->count * sizeof(*settings->in_query));
}

/* Empty parts count as absent. */
static void set_part(struct settings *settings, const char *keyword, struct slice value)
{
    if (value.len > 0)
        *setting(settings, keyword) = value;
}

/* SQLAlchemy converts the port to a number; 0 counts as absent. */
static bool set_port(struct settings *settings, struct slice text, struct err *err)
{
    if (text.data == NULL)
        return true;
    unsigned port = 0;
    bool is_number = text.len > 0;
    for (size_t i = 0; i < text.len && is_number; i++) {
        is_number = isdigit((unsigned char)text.data[i]);
        port = port * 10 + (unsigned)(text.data[i] - '0');
        is_number = is_number && port <= 65535;
    }
    if (!is_number)
        return err_set(err, 503, NULL,
                       "the port of the database connection is not a number from 1 to 65535");
    if (port > 0)
        set_part(settings, "port", arena_printf(settings->arena, "%u", port));
    return true;
}

static bool set_parts(struct settings *settings, const struct url_parts *parts, struct err *err)
{
    set_part(settings, "user", url_parts_decode(settings->arena, parts->user, false));
    set_part(settings, "password", url_parts_decode(settings->arena, parts->password, false));
    set_part(settings, "host", parts->host);
    set_part(settings, "dbname", parts->database);
    return set_port(settings, parts->port, err);
}

/* A name is not repeated in the message if it may be a piece of an unencoded password. */
static bool fail_parameter(const struct settings *settings, struct slice name, const char *why,
                           struct err *err)
{
    bool is_plain = name.len > 0 && name.len <= 40;
    for (size_t i = 0; i < name.len && is_plain; i++)
        is_plain = isalnum((unsigned char)name.data[i]) || name.data[i] == '_';
    if (!is_plain || in_query(settings, "password") || in_query(settings, "sslpassword"))
        return err_set(err, 503, NULL, "a parameter of the database connection %s", why);
    return err_set(err, 503, NULL, "the parameter \"%.*s\" of the database connection %s",
                   SLICE_ARG(name), why);
}

static bool add_host(struct settings *settings, struct slice value, struct err *err)
{
    bool is_path = value.data[0] == '/' || value.data[0] == '@';
    if (!is_path && memchr(value.data, '=', value.len) != NULL) /* of another parameter */
        return fail_parameter(settings, SLICE_LIT("host"), "contains \"=\"", err);
    if (settings->hosts_n++ == 0) {
        settings->hosts = value;
        return true;
    }
    struct slice first = settings->hosts;
    bool is_second = settings->hosts_n == 2;
    struct slice both[] = {first, value};
    struct slice hosts[2], ports[2];
    for (size_t i = is_second ? 0 : 1; i < 2; i++) {
        ports[i] = both[i];
        hosts[i] = slice_cut(&ports[i], ':');
        if (memchr(ports[i].data, ':', ports[i].len) != NULL)
            return err_set(err, 503, NULL,
                           "a host of the database connection has more than one \":\": for IPv6 "
                           "addresses, write host=ADDRESS,ADDRESS&port=PORT,PORT");
    }
    struct slice comma = SLICE_LIT(",");
    struct slice all_hosts[] = {is_second ? hosts[0] : first, comma, hosts[1]};
    struct slice all_ports[] = {is_second ? ports[0] : settings->ports, comma, ports[1]};
    settings->hosts = arena_join(settings->arena, all_hosts, 3);
    settings->ports = arena_join(settings->arena, all_ports, 3);
    return true;
}

static bool add_parameter(struct settings *settings, struct slice name, struct slice value,
                          struct err *err)
{
    bool is_database = slice_equal(name, SLICE_LIT("database"));
    size_t at = position(settings, is_database ? SLICE_LIT("dbname") : name);
    if (at == settings->count)
        return fail_parameter(settings, name, "is not one of libpq's", err);
    if (slice_equal(name, SLICE_LIT("host"))) {
        settings->in_query[at] = true;
        return add_host(settings, value, err);
    }
    bool names_database_again =
        slice_equal(name, SLICE_LIT("dbname")) && settings->values[at].len > 0;
    if (settings->in_query[at] || names_database_again)
        return fail_parameter(settings, name, "is given twice", err);
    settings->in_query[at] = true;
    settings->values[at] = value;
    return true;
}

static bool add_query(struct settings *settings, struct slice query, struct err *err)
{
    while (query.len > 0) {
        struct slice raw = slice_cut(&query, '&');
        struct slice name = slice_cut(&raw, '=');
        if (raw.len == 0)
            continue; /* as Python's parse_qsl() */
        if (!add_parameter(settings, url_parts_decode(settings->arena, name, true),
                           url_parts_decode(settings->arena, raw, true), err))
            return false;
    }
    return true;
}

/* Whether this is NAME:PORT, and not an IPv6 address or a path. */
static bool is_name_and_port(struct slice host)
{
    struct slice port = host;
    struct slice name = slice_cut(&port, ':');
    if (name.len == host.len)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!isalnum((unsigned char)name.data[i]) && name.data[i] != '.' && name.data[i] != '-')
            return false;
    for (size_t i = 0; i < port.len; i++)
        if (!isdigit((unsigned char)port.data[i]))
            return false;
    return true;
}

static bool set_hosts(struct settings *settings, struct err *err)
{
    struct slice *port = setting(settings, "port");
    if (settings->hosts_n > 1 && port->len > 0)
        return err_set(err, 503, NULL,
                       "the database connection has several hosts and a port: write host=A,B&"
                       "port=1,2 or host=A:1&host=B:2");
    if (settings->hosts_n > 1)
        *port = settings->ports;
    if (settings->hosts_n == 1 && !in_query(settings, "port") &&
        is_name_and_port(settings->hosts)) {
        struct slice rest = settings->hosts;
        settings->hosts = slice_cut(&rest, ':');
        if (rest.len > 0)
            *port = rest;
    }
    if (settings->hosts_n > 0)
        *setting(settings, "host") = settings->hosts;
    return true;
}

static bool check_values(const struct settings *settings, struct err *err)
{
    for (size_t i = 0; i < settings->count; i++) {
        struct slice value = settings->values[i];
        for (size_t at = 0; at < value.len;) {
            size_t len = utf8_length(value.data + at, value.len - at);
            const char *what = len == 0                 ? "bytes that are not UTF-8"
                               : value.data[at] == '\0' ? "U+0000"
                                                        : NULL;
            if (what != NULL)
                return err_set(err, 503, NULL, "the %s of the database connection contains %s",
                               settings->known[i].keyword, what);
            at += len;
        }
    }
    return true;
}

static void finish_url(struct settings *settings, struct pg_url *parsed)
{
    size_t room = settings->count + 1;
    parsed->count = 0;
    parsed->keywords = arena_array(settings->arena, room, sizeof(*parsed->keywords));
    parsed->values = arena_array(settings->arena, room, sizeof(*parsed->values));
    for (size_t i = 0; i < settings->count; i++) {
        if (settings->values[i].len == 0)
            continue;
        struct slice keyword = slice_of(settings->known[i].keyword);
        parsed->keywords[parsed->count] = arena_copy(settings->arena, keyword).data;
        parsed->values[parsed->count++] = arena_copy(settings->arena, settings->values[i]).data;
    }
    parsed->keywords[parsed->count] = parsed->values[parsed->count] = NULL;
    parsed->target =
        pg_target_render(settings->arena, &(struct pg_target){
                                              .user = *setting(settings, "user"),
                                              .host = *setting(settings, "host"),
                                              .port = *setting(settings, "port"),
                                              .address = *setting(settings, "hostaddr"),
                                              .database = *setting(settings, "dbname"),
                                              .service = *setting(settings, "service"),
                                          });
}

bool pg_url_parse(struct slice url, struct slice parameters, struct arena *arena,
                  struct pg_url *parsed, struct err *err)
{
    struct settings settings = {.arena = arena};
    struct url_parts parts;
    if (!url_parts_parse(url, &parts, err) || !check_scheme(parts.scheme, err))
        return false;
    learn_keywords(&settings);
    bool ok = set_parts(&settings, &parts, err) && add_query(&settings, parts.query, err) &&
              add_query(&settings, parameters, err) && set_hosts(&settings, err) &&
              check_values(&settings, err);
    if (ok)
        finish_url(&settings, parsed);
    PQconninfoFree(settings.known);
    return ok;
}

const char *pg_url_value(const struct pg_url *url, const char *keyword)
{
    for (size_t i = 0; i < url->count; i++)
        if (strcmp(url->keywords[i], keyword) == 0)
            return url->values[i];
    return NULL;
}
