/* How messages name a database on a MariaDB or MySQL server: a URL without secrets, in which every
 * character that would end a part or the line is percent-encoded. Pure; any thread. */
#include "store/mariadb/session/target.h"

#include "base/buf.h"

static void show_part(struct buf *out, const char *text, const char *encoded)
{
    for (; text != NULL && *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c <= ' ' || c == 0x7f || strchr(encoded, c) != NULL)
            buf_printf(out, "%%%02X", c);
        else
            buf_append_char(out, *text);
    }
}

static void show_host(struct buf *out, const struct mariadb_url *url)
{
    bool is_v6 = url->host != NULL && strchr(url->host, ':') != NULL;
    buf_append_slice(out, is_v6 ? SLICE_LIT("[") : SLICE_LIT(""));
    show_part(out, url->host, "/?@[]");
    buf_append_slice(out, is_v6 ? SLICE_LIT("]") : SLICE_LIT(""));
    if (url->port != 0)
        buf_printf(out, ":%u", url->port);
}

static void show_parameter(struct buf *out, const char *name, const char *value, char *separator)
{
    if (value == NULL)
        return;
    buf_printf(out, "%c%s=", *separator, name);
    show_part(out, value, "&#+");
    *separator = '&';
}

struct slice mariadb_target_render(struct arena *arena, const struct mariadb_url *url)
{
    struct buf out = {0};
    char separator = '?';
    buf_append_lit(&out, "mysql://");
    if (url->user != NULL) {
        show_part(&out, url->user, ":/?@");
        buf_append_char(&out, '@');
    }
    if (url->unix_socket == NULL)
        show_host(&out, url);
    buf_append_char(&out, '/');
    show_part(&out, url->database, "?");
    show_parameter(&out, "unix_socket", url->unix_socket, &separator);
    show_parameter(&out, "read_default_file", url->option_file, &separator);
    show_parameter(&out, "read_default_group", url->option_group, &separator);
    struct slice text = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    return text;
}
