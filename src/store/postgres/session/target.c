/* How messages name a database on a PostgreSQL server: a URL without secrets, in which every
 * character that would end a part or the line is percent-encoded. Pure; any thread. */
#include "store/postgres/session/target.h"

#include "base/buf.h"

/* Percent-encodes what would end the part or the line. */
static void show(struct buf *out, struct slice text, const char *encoded)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c <= ' ' || c == 0x7f || strchr(encoded, c) != NULL)
            buf_printf(out, "%%%02X", c);
        else
            buf_append_char(out, (char)c);
    }
}

/* "a:1,b:2" from "a,b" and "1,2". */
static void show_hosts(struct buf *out, struct slice hosts, struct slice ports)
{
    bool is_first = true;
    bool one_port = ports.len > 0 && memchr(ports.data, ',', ports.len) == NULL;
    while (hosts.len > 0) {
        struct slice host = slice_cut(&hosts, ',');
        struct slice rest = ports;
        struct slice port = slice_cut(&rest, ',');
        if (!one_port)
            ports = rest;
        if (!is_first)
            buf_append_char(out, ',');
        is_first = false;
        bool is_v6 = host.len > 0 && memchr(host.data, ':', host.len) != NULL;
        buf_append_slice(out, is_v6 ? SLICE_LIT("[") : SLICE_LIT(""));
        show(out, host, "/?@[]");
        buf_append_slice(out, is_v6 ? SLICE_LIT("]") : SLICE_LIT(""));
        if (port.len > 0) {
            buf_append_char(out, ':');
            show(out, port, "/?@");
        }
    }
}

/* Appends "?name=value" or "&name=value" if it is set. */
static void show_parameter(struct buf *out, const char *name, struct slice value, char *separator)
{
    if (value.len == 0)
        return;
    buf_printf(out, "%c%s=", *separator, name);
    show(out, value, "&#+");
    *separator = '&';
}

struct slice pg_target_render(struct arena *arena, const struct pg_target *target)
{
    struct buf out = {0};
    struct slice host = target->host;
    bool in_path = host.len > 0 && host.data[0] != '/' && host.data[0] != '@';
    buf_append_lit(&out, "postgresql://");
    if (target->user.len > 0) {
        show(&out, target->user, ":/?@");
        buf_append_char(&out, '@');
    }
    if (in_path)
        show_hosts(&out, host, target->port.len > 0 ? target->port : SLICE_LIT(""));
    if (target->database.len > 0 || !in_path) {
        buf_append_char(&out, '/');
        show(&out, target->database, "?");
    }
    char separator = '?';
    if (!in_path) {
        show_parameter(&out, "host", host, &separator);
        if (host.len == 0)
            show_parameter(&out, "hostaddr", target->address, &separator);
        show_parameter(&out, "port", target->port, &separator);
        show_parameter(&out, "service", target->service, &separator);
    }
    struct slice text = arena_copy(arena, buf_slice(&out));
    buf_free(&out);
    return text;
}
