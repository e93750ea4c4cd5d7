/* placement.conf: any bytes are parsed; the result is written, parsed again and must be equal; then
 * every value goes through interpolation, conversion and the readers of addresses as if it had been
 * set for an option of each type. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "conf/address_range.h"
#include "conf/ini.h"
#include "conf/interpolate.h"
#include "conf/listen.h"
#include "conf/options.h"
#include "conf/value.h"
#include "fuzz.h"

/* After Unicode spaces were stripped, a key may begin like a comment or a section, and would be
 * read as one if it were written without them. */
static bool can_be_written(const struct ini_file *file)
{
    for (size_t i = 0; i < file->n; i++)
        if (memchr("[#;", file->entries[i].key.data[0], 3) != NULL)
            return false;
    return true;
}

static void write_out(const struct ini_file *file, struct buf *out)
{
    for (size_t i = 0; i < file->n; i++) {
        const struct ini_entry *entry = &file->entries[i];
        struct slice rest = entry->value;
        buf_printf(out, "[%.*s]\n%.*s = \"", SLICE_ARG(entry->section), SLICE_ARG(entry->key));
        for (bool first = true; first || rest.len > 0; first = false) {
            const char *end = rest.len == 0 ? NULL : memchr(rest.data, '\n', rest.len);
            size_t len = end == NULL ? rest.len : (size_t)(end - rest.data);
            if (!first)
                buf_append_char(out, ' ');
            buf_append(out, rest.data, len);
            if (first)
                buf_append_char(out, '"');
            buf_append_char(out, '\n');
            rest = slice_skip(rest, end == NULL ? len : len + 1);
        }
    }
}

static void check_round_trip(const struct ini_file *file, struct arena *arena)
{
    struct buf text = {0};
    struct ini_file again;
    struct ini_error error;
    write_out(file, &text);
    check(ini_parse(buf_slice(&text), arena, &again, &error));
    check(again.n == file->n);
    for (size_t i = 0; i < file->n; i++) {
        check(slice_equal(again.entries[i].section, file->entries[i].section));
        check(slice_equal(again.entries[i].key, file->entries[i].key));
        check(slice_equal(again.entries[i].value, file->entries[i].value));
    }
    buf_free(&text);
}

/* Names of one letter are known, so that both paths are taken. */
static bool find(void *context, struct slice name, struct buf *out)
{
    (void)context;
    buf_append_slice(out, name);
    return name.len == 1;
}

static void try_value(struct slice text, struct arena *arena)
{
    static const struct option options[] = {
        {.type = OPTION_STRING, .choices = "one|two"},
        {.type = OPTION_STRING},
        {.type = OPTION_INTEGER, .min = -5, .max = 50},
        {.type = OPTION_FLOAT},
        {.type = OPTION_BOOLEAN},
        {.type = OPTION_LIST},
        {.type = OPTION_MULTI},
    };
    struct buf out = {0};
    static const struct conf_listen every = {.host = "::", .port = 8778};
    struct conf_listen listen;
    if (interpolate_expand(text, (struct interpolate_lookup){find, NULL}, &out))
        text = arena_copy(arena, buf_slice(&out));
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        struct conf_value value = {.option = &options[i]};
        struct slice why = {0};
        out.len = 0;
        if (value_convert(&value, &text, 1, arena, &why)) {
            value_print(&value, &out);
            check(value_equal(&value, &value));
        } else {
            check(why.len > 0);
        }
    }
    if (listen_parse(text, arena, &listen)) {
        (void)listen_is_loopback(&listen);
        check(listen_collides(&listen, &listen) == (listen.path != NULL || listen.port != 0));
        (void)listen_collides(&listen, &every);
        (void)listen_collides(&every, &listen);
    }
    struct address_range range;
    if (address_range_parse(text, &range)) {
        struct slice address = slice_trim(text);
        check(address_range_has(&range, slice_cut(&address, '/')));
    }
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct ini_file file;
    struct ini_error error = {0};
    if (ini_parse((struct slice){(const char *)data, size}, arena, &file, &error)) {
        if (can_be_written(&file))
            check_round_trip(&file, arena);
        for (size_t i = 0; i < file.n; i++) {
            (void)option_find_any(file.entries[i].section, file.entries[i].key);
            try_value(file.entries[i].value, arena);
        }
    } else {
        check(error.line > 0 && error.what != NULL);
    }
    arena_destroy(arena);
    return 0;
}
