/* What berth makes of URLs of MariaDB and MySQL, for mariadb_urls.py. A line of standard input is a
 * URL and connection_parameters, both in hexadecimal, with a space between them. Prints a line of
 * JSON for each: the target and the login, or the message. One thread. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/hex.h"
#include "base/json_write.h"
#include "store/mariadb/session/login.h"
#include "store/mariadb/session/url.h"

static struct slice decode_hex(struct arena *arena, struct slice digits)
{
    char *text = arena_alloc(arena, digits.len / 2 + 1);
    for (size_t i = 0; i + 1 < digits.len; i += 2) {
        check(hex_value(digits.data[i]) >= 0 && hex_value(digits.data[i + 1]) >= 0);
        text[i / 2] = (char)(hex_value(digits.data[i]) << 4 | hex_value(digits.data[i + 1]));
    }
    return (struct slice){text, digits.len / 2};
}

static void write_error(struct buf *out, struct slice message)
{
    buf_append_lit(out, "{\"error\": ");
    json_write_string(out, message);
    buf_append_lit(out, "}\n");
}

static void write_text(struct buf *out, const char *name, const char *value)
{
    if (value == NULL)
        return;
    buf_printf(out, ", \"%s\": ", name);
    json_write_string(out, slice_of(value));
}

static void write_login(struct buf *out, const struct mariadb_url *url,
                        const struct mariadb_login *login)
{
    buf_append_lit(out, "{\"target\": ");
    json_write_string(out, url->target);
    buf_append_lit(out, ", \"ignored\": ");
    json_write_string(out, url->ignored);
    buf_printf(out, ", \"port\": %u, \"tls\": %d, \"connect_timeout\": %u", login->port,
               (int)login->tls, url->connect_timeout_s);
    write_text(out, "user", login->user);
    write_text(out, "password", login->password);
    write_text(out, "host", login->host);
    write_text(out, "database", login->database);
    write_text(out, "unix_socket", login->unix_socket);
    write_text(out, "bind_address", login->bind_address);
    write_text(out, "program_name", login->program_name);
    write_text(out, "init_command", login->init_command);
    write_text(out, "ca", login->ssl_ca);
    write_text(out, "capath", login->ssl_capath);
    write_text(out, "cert", login->ssl_cert);
    write_text(out, "key", login->ssl_key);
    write_text(out, "cipher", login->ssl_cipher);
    buf_append_lit(out, "}\n");
}

static void write_answer(struct buf *out, struct arena *arena, struct slice line)
{
    struct slice parameters = line;
    struct slice url = decode_hex(arena, slice_cut(&parameters, ' '));
    struct err err = {.arena = arena};
    struct mariadb_url parsed;
    struct mariadb_login login;
    struct slice reason;
    if (!mariadb_url_parse(url, decode_hex(arena, parameters), arena, &parsed, &err))
        write_error(out, err.message);
    else if (!mariadb_login_read(&parsed, arena, &login, &reason))
        write_error(out, reason);
    else
        write_login(out, &parsed, &login);
}

int main(void)
{
    struct arena *arena = arena_create();
    struct buf out = {0};
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&line, &room, stdin)) > 0) {
        check(line[len - 1] == '\n');
        write_answer(&out, arena, (struct slice){line, (size_t)len - 1});
        arena_reset(arena);
    }
    check(fwrite(out.data, 1, out.len, stdout) == out.len);
    free(line);
    buf_free(&out);
    arena_destroy(arena);
    return 0;
}
