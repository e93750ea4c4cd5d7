/* Database URLs of MariaDB and MySQL: any bytes, up to a byte 1 the URL, up to the next one
 * connection_parameters, then the text of an option file, of which the group [client] is read. What
 * is accepted has a target of one line that is itself a URL, and texts that are C strings. */
#include "base/arena.h"
#include "fuzz.h"
#include "store/mariadb/session/failure.h"
#include "store/mariadb/session/option_file.h"
#include "store/mariadb/session/url.h"

static void check_line(struct slice text)
{
    check(text.len > 0);
    for (size_t i = 0; i < text.len; i++)
        check((unsigned char)text.data[i] >= ' ' && text.data[i] != 0x7f);
}

static void check_text(const char *text)
{
    check(text == NULL || text[0] != '\0');
}

static void check_url(struct slice url, struct slice parameters, struct arena *arena)
{
    struct err err = {.arena = arena};
    struct mariadb_url parsed;
    if (!mariadb_url_parse(url, parameters, arena, &parsed, &err)) {
        check(err.status == 503);
        check_line(err.message);
        return;
    }
    struct mariadb_url copy = mariadb_url_copy(&parsed, arena);
    check(mariadb_url_matches(url) && mariadb_url_matches(copy.target));
    check_line(copy.target);
    check(copy.ignored.len == 0 || memchr(copy.ignored.data, '\n', copy.ignored.len) == NULL);
    const char *texts[] = {
        copy.user,        copy.password,     copy.host,         copy.database,
        copy.unix_socket, copy.bind_address, copy.option_file,  copy.option_group,
        copy.ssl_ca,      copy.ssl_capath,   copy.ssl_cert,     copy.ssl_key,
        copy.ssl_cipher,  copy.program_name, copy.init_command, copy.ssl_mode,
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check_text(texts[i]);
    check(copy.port <= 65535 && copy.connect_timeout_s <= 31536000);
}

static void check_file(struct slice text, struct arena *arena)
{
    struct mariadb_option_file options;
    struct slice reason;
    if (!mariadb_option_text_read(text, "client", arena, &options, &reason)) {
        check_line(reason);
        return;
    }
    const char *texts[] = {options.user,         options.password,   options.host,
                           options.database,     options.socket,     options.port,
                           options.ssl_ca,       options.ssl_capath, options.ssl_cert,
                           options.bind_address, options.ssl_key};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        check_text(texts[i]);
}

/* The same text as the message of an error, of each form that is read. */
static void check_message(struct slice text, struct arena *arena)
{
    static const unsigned codes[] = {1062, 1452, 4025, 3819, 1366, 1048};
    const char *message = arena_copy(arena, text).data;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        struct mariadb_failure failure;
        mariadb_failure_read(&failure, codes[i], "HY000", message);
        check(strlen(failure.key) < sizeof(failure.key));
        check(strlen(failure.table) < sizeof(failure.table));
        check(strlen(failure.column) < sizeof(failure.column));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice file = {(const char *)data, size};
    struct slice url = slice_cut(&file, 1);
    struct slice parameters = slice_cut(&file, 1);
    struct arena *arena = arena_create();
    check_url(url, parameters, arena);
    check_file(file, arena);
    check_message(file, arena);
    arena_destroy(arena);
    return 0;
}
