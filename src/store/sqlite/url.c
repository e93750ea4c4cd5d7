/* SQLAlchemy's URL grammar, as far as SQLite uses it: NAME "://" [USER [":" PASSWORD] "@"] [HOST]
 * [":" PORT] ["/" DATABASE] ["?" QUERY]. The behaviour is that of SQLAlchemy 1.4's make_url and of
 * its pysqlite dialect (observed): the database part is used literally. Pure; any thread. */
#include "store/sqlite/url.h"

#include <ctype.h>

static size_t find_any(struct slice s, const char *set)
{
    size_t at = 0;
    while (at < s.len && (s.data[at] == '\0' || strchr(set, s.data[at]) == NULL))
        at++;
    return at;
}

static bool scheme_is_text(struct slice scheme)
{
    for (size_t i = 0; i < scheme.len; i++)
        if (!isalnum((unsigned char)scheme.data[i]) && scheme.data[i] != '_' &&
            scheme.data[i] != '+')
            return false;
    return scheme.len > 0;
}

/* Whether the part before the path is empty in effect: ":" and "@" alone, and port 0, name no user
 * or host. */
static bool authority_is_empty(struct slice authority)
{
    struct slice rest = authority;
    size_t at = find_any(rest, "@");
    if (at < rest.len) {
        for (size_t i = 0; i < at; i++)
            if (rest.data[i] != ':' || i > 0)
                return false;
        rest = slice_skip(rest, at + 1);
    }
    if (rest.len == 0)
        return true;
    if (rest.data[0] != ':')
        return false;
    for (size_t i = 1; i < rest.len; i++)
        if (rest.data[i] != '0')
            return false;
    return true;
}

bool sqlite_url_parse(struct slice url, struct slice *path, struct err *err)
{
    size_t colon = find_any(url, ":");
    struct slice scheme = {url.data, colon};
    struct slice rest = slice_skip(url, colon);
    if (!scheme_is_text(scheme) || !slice_starts_with(rest, SLICE_LIT("://")))
        return err_set(err, 503, NULL,
                       "the database connection is not a URL (sqlite:////absolute/path)");
    if (!slice_equal(scheme, SLICE_LIT("sqlite")) &&
        !slice_equal(scheme, SLICE_LIT("sqlite+pysqlite")))
        return err_set(err, 503, NULL,
                       "the database connection %.*s:// is not supported in this build",
                       SLICE_ARG(scheme));
    rest = slice_skip(rest, 3);
    size_t end = find_any(rest, "/?");
    if (!authority_is_empty((struct slice){rest.data, end}))
        return err_set(err, 503, NULL,
                       "the sqlite connection names a host or user: sqlite:///relative and "
                       "sqlite:////absolute are understood");
    rest = slice_skip(rest, end);
    if (rest.len > 0 && rest.data[0] == '/')
        rest = slice_skip(rest, 1);
    rest.len = find_any(rest, "?");
    if (memchr(rest.data, '\0', rest.len) != NULL)
        return err_set(err, 503, NULL, "the path of the sqlite connection holds a NUL byte");
    if (slice_equal(rest, SLICE_LIT(":memory:")))
        rest.len = 0;
    *path = rest;
    return true;
}
