/* A password may contain any character, even one that should have been escaped, so it ends at the
 * last '@' that may belong to it. */
#include "conf/url_mask.h"

#include <string.h>

static const char MASK[] = "****";

static bool ends_with(struct slice name, struct slice end)
{
    return name.len >= end.len && slice_equal_nocase(slice_skip(name, name.len - end.len), end);
}

/* Also that of a client's key: libpq's sslpassword, PyMySQL's ssl_key_password. A name that is
 * percent-encoded may be any. */
static bool is_password(struct slice name)
{
    bool is_encoded = name.len > 0 && memchr(name.data, '%', name.len) != NULL;
    return is_encoded || ends_with(name, SLICE_LIT("password")) ||
           ends_with(name, SLICE_LIT("passwd"));
}

static void write_parameters(struct slice parameters, struct buf *out)
{
    while (parameters.len > 0) {
        struct slice parameter = slice_cut(&parameters, '&');
        struct slice value = parameter;
        struct slice name = slice_cut(&value, '=');
        if (is_password(name))
            buf_printf(out, "%.*s=%s", SLICE_ARG(name), MASK);
        else
            buf_append_slice(out, parameter);
        if (parameters.len > 0)
            buf_append_char(out, '&');
    }
}

/* The part before the parameters if one of them is a password; otherwise all. */
static struct slice before_password(struct slice url)
{
    struct slice parameters = url;
    struct slice place = slice_cut(&parameters, '?');
    while (parameters.len > 0) {
        struct slice parameter = slice_cut(&parameters, '&');
        if (is_password(slice_cut(&parameter, '=')))
            return place;
    }
    return url;
}

static void write_masked(struct slice user, struct buf *out)
{
    const char *colon = user.len == 0 ? NULL : memchr(user.data, ':', user.len);
    if (colon == NULL) {
        buf_append_slice(out, user);
        return;
    }
    buf_append_slice(out, (struct slice){user.data, (size_t)(colon - user.data)});
    buf_printf(out, ":%s", MASK);
}

/* Skips "user:password@" before the host; returns the rest. An '@' in a parameter that is a
 * password is not the end of a user, unless that "parameter" belongs to the user's password: then
 * nothing behind a colon is shown. */
static struct slice write_user(struct slice rest, struct buf *out)
{
    struct slice front = before_password(rest);
    const char *at = front.len == 0 ? NULL : memrchr(front.data, '@', front.len);
    if (rest.len == 0 || rest.data[0] == '/') /* a file has no user */
        return rest;
    if (at != NULL) {
        struct slice user = {rest.data, (size_t)(at - rest.data)};
        write_masked(user, out);
        buf_append_char(out, '@');
        return slice_skip(rest, user.len + 1);
    }
    if (memchr(rest.data, '@', rest.len) == NULL)
        return rest;
    write_masked(front, out);
    return slice_skip(rest, front.len);
}

void url_mask_write(struct slice url, struct buf *out)
{
    const char *scheme_end = url.len < 3 ? NULL : memmem(url.data, url.len, "://", 3);
    if (scheme_end == NULL) {
        buf_append_slice(out, slice_of(MASK));
        return;
    }
    size_t scheme = (size_t)(scheme_end - url.data) + 3;
    buf_append_slice(out, (struct slice){url.data, scheme});
    struct slice rest = write_user(slice_skip(url, scheme), out);
    struct slice place = slice_cut(&rest, '?');
    buf_append_slice(out, place);
    if (rest.len > 0) {
        buf_append_char(out, '?');
        write_parameters(rest, out);
    }
}
