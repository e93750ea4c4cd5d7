/* SQLAlchemy's URL grammar: NAME "://" [USER [":" PASSWORD] "@"] [HOST | "[" HOST "]"] [":" PORT]
 * ["/" DATABASE] ["?" QUERY]. SQLAlchemy matches one regular expression, and what that accepts is
 * reproduced here (observed with 1.4): a password may contain anything but "@", a user anything but
 * ":" and "/"; the user ends at the last possible "@".
 *
 * The expression has no anchor at its end and knows no errors, so SQLAlchemy drops text or takes a
 * piece of the password for the host. Those URLs are refused here: they never work, and the piece
 * would appear in messages. Pure; any thread. */
#include "store/server/url_parts.h"

#include <ctype.h>

#include "base/hex.h"

static size_t until_any(struct slice text, const char *set)
{
    size_t at = 0;
    while (at < text.len && (text.data[at] == '\0' || strchr(set, text.data[at]) == NULL))
        at++;
    return at;
}

static bool has_char(struct slice text, char c)
{
    return text.len > 0 && memchr(text.data, c, text.len) != NULL;
}

static struct slice take(struct slice *rest, size_t len)
{
    struct slice part = {rest->data, len};
    *rest = slice_skip(*rest, len);
    return part;
}

static bool take_scheme(struct slice *rest, struct url_parts *parts)
{
    size_t len = 0;
    while (len < rest->len && (isalnum((unsigned char)rest->data[len]) || rest->data[len] == '_' ||
                               rest->data[len] == '+'))
        len++;
    parts->scheme = take(rest, len);
    if (len == 0 || !slice_starts_with(*rest, SLICE_LIT("://")))
        return false;
    *rest = slice_skip(*rest, 3);
    return true;
}

static void take_user(struct slice *rest, struct url_parts *parts)
{
    size_t run = until_any(*rest, ":/");
    if (run < rest->len && rest->data[run] == ':') {
        struct slice behind = slice_skip(*rest, run + 1);
        size_t at = until_any(behind, "@");
        if (at < behind.len) {
            parts->user = take(rest, run);
            parts->password = (struct slice){behind.data, at};
            *rest = slice_skip(behind, at + 1);
            return;
        }
    }
    while (run > 0 && rest->data[run - 1] != '@')
        run--;
    if (run > 0) {
        parts->user = take(rest, run - 1);
        *rest = slice_skip(*rest, 1);
    }
}

static void take_host(struct slice *rest, struct url_parts *parts)
{
    if (rest->len > 0 && rest->data[0] == '[') {
        size_t end = until_any(*rest, "/?");
        while (end > 2 && rest->data[end - 1] != ']')
            end--;
        if (end > 2) {
            parts->host = (struct slice){rest->data + 1, end - 2};
            *rest = slice_skip(*rest, end);
            return;
        }
    }
    size_t len = until_any(*rest, ":/?");
    if (len > 0)
        parts->host = take(rest, len);
}

/* The rest behind the character, if it begins with it. */
static bool skip_char(struct slice *rest, char c)
{
    if (rest->len == 0 || rest->data[0] != c)
        return false;
    *rest = slice_skip(*rest, 1);
    return true;
}

/* In "h:5432/db?password=a@b", everything up to the "@" counts as a password. */
static bool password_is_port_and_query(struct slice password)
{
    size_t digits = 0;
    while (digits < password.len && isdigit((unsigned char)password.data[digits]))
        digits++;
    struct slice rest = slice_skip(password, digits);
    bool ends_port = rest.len > 0 && (rest.data[0] == '/' || rest.data[0] == '?');
    (void)slice_cut(&rest, '?');
    return digits > 0 && ends_port && has_char(rest, '=');
}

/* In "a/b:secret@h/db", everything behind the "/" counts as the database, and so does it all in
 * "h/db&password=secret". */
static bool database_is_more(struct slice database)
{
    return has_char(database, '@') ||
           (database.len > 0 && memmem(database.data, database.len, "password=", 9) != NULL);
}

bool url_parts_parse(struct slice url, struct url_parts *parts, struct err *err)
{
    struct slice none = SLICE_LIT("");
    *parts = (struct url_parts){
        .user = none, .password = none, .host = none, .database = none, .query = none};
    struct slice rest = url;
    if (!take_scheme(&rest, parts))
        return err_set(err, 503, NULL,
                       "the database connection is not a URL "
                       "(postgresql://USER:PASSWORD@HOST:PORT/DATABASE)");
    take_user(&rest, parts);
    take_host(&rest, parts);
    if (skip_char(&rest, ':'))
        parts->port = take(&rest, until_any(rest, "/?"));
    if (skip_char(&rest, '/'))
        parts->database = take(&rest, until_any(rest, "?"));
    if (skip_char(&rest, '?'))
        parts->query = take(&rest, until_any(rest, "\n"));
    if (has_char(parts->host, '@'))
        return err_set(err, 503, NULL,
                       "the password of the database connection contains \"@\": write %%40");
    if (password_is_port_and_query(parts->password) || has_char(parts->host, '&') ||
        has_char(parts->host, '='))
        return err_set(err, 503, NULL,
                       "a parameter of the database connection contains \"@\": write %%40");
    if (database_is_more(parts->database))
        return err_set(err, 503, NULL,
                       "the database connection has \"@\" or \"password=\" in the name of its "
                       "database: write %%2F for a \"/\" in a user or password, and \"?\" before "
                       "parameters");
    if (rest.len > 0)
        return err_set(err, 503, NULL,
                       "the database connection has unexpected text after its host or its "
                       "parameters");
    return true;
}

struct slice url_parts_decode(struct arena *arena, struct slice raw, bool plus_is_space)
{
    char *text = arena_alloc(arena, raw.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.data[i];
        bool is_encoded = c == '%' && raw.len - i > 2 && hex_value(raw.data[i + 1]) >= 0 &&
                          hex_value(raw.data[i + 2]) >= 0;
        if (is_encoded) {
            c = (char)(hex_value(raw.data[i + 1]) << 4 | hex_value(raw.data[i + 2]));
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        text[len++] = c;
    }
    text[len] = '\0';
    return (struct slice){text, len};
}
