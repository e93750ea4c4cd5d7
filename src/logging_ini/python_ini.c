/* The dialect, line by line. The idea: indentation alone decides what belongs to a value: a
 * line that is indented further than the key continues the value, also after empty lines and
 * comments.
 *
 *     # comment, ; comment      anywhere at the beginning of a line's text
 *     [section]
 *     key = value               or `key : value`, whichever sign comes first
 *         more of the value
 *
 * Any thread. */
#include "logging_ini/python_ini.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "conf/whitespace.h"

enum { REFERENCES_DEEP = 10, REFERENCES_MAX = 10000, ENTRIES_MAX = 4096, VALUE_MAX = 64 * 1024 };

struct parser {
    struct arena *arena;
    struct ini_file *out;
    size_t room;
    struct slice section;
    bool in_section;
    struct ini_entry open;
    bool is_open;
    struct buf value;
    size_t indent; /* of the last key or section */
};

static void push(struct parser *p, struct ini_entry entry)
{
    struct ini_file *out = p->out;
    out->entries = arena_grow(p->arena, out->entries, out->n, &p->room, sizeof(*out->entries));
    out->entries[out->n++] = entry;
}

static void push_open(struct parser *p)
{
    if (!p->is_open)
        return;
    if (p->value.len > 0)
        p->open.value = arena_copy(p->arena, whitespace_strip_right(buf_slice(&p->value)));
    else
        p->open.value = SLICE_LIT("");
    push(p, p->open);
    p->is_open = false;
}

static const struct ini_entry *find(const struct ini_file *file, struct slice section,
                                    struct slice key)
{
    for (size_t i = 0; i < file->n; i++)
        if (slice_equal(file->entries[i].section, section) &&
            slice_equal(file->entries[i].key, key))
            return &file->entries[i];
    return NULL;
}

/* A section adds an entry without a key, so that an empty section is known, too. */
static const char *open_section(struct parser *p, struct slice line, unsigned number)
{
    const char *end = memrchr(line.data, ']', line.len);
    if (end == NULL || end == line.data + 1)
        return "a section without a name or its ]";
    p->section = arena_copy(p->arena, (struct slice){line.data + 1, (size_t)(end - line.data) - 1});
    p->in_section = true;
    if (slice_equal(p->section, SLICE_LIT("DEFAULT")))
        return NULL;
    if (python_ini_has_section(p->out, p->section))
        return "a section that exists already";
    push(p, (struct ini_entry){.section = p->section, .key = SLICE_LIT(""), .line = number});
    return NULL;
}

static struct slice python_ini_lower(struct arena *arena, struct slice text)
{
    char *copy = arena_alloc(arena, text.len + 1);
    for (size_t i = 0; i < text.len; i++)
        copy[i] = (char)tolower((unsigned char)text.data[i]);
    copy[text.len] = '\0';
    return (struct slice){copy, text.len};
}

static const char *open_key(struct parser *p, struct slice line, unsigned number)
{
    struct slice key, value;
    const char *wrong = ini_split(line, &key, &value);
    if (wrong != NULL)
        return wrong;
    p->open = (struct ini_entry){
        .section = p->section, .key = python_ini_lower(p->arena, key), .line = number};
    if (find(p->out, p->section, p->open.key) != NULL)
        return "a key that exists already";
    p->value.len = 0;
    buf_append_slice(&p->value, value);
    p->is_open = true;
    return NULL;
}

static const char *take_line(struct parser *p, struct slice line, unsigned number)
{
    if (line.len > 0 && memchr(line.data, '\0', line.len) != NULL)
        return "NUL byte";
    struct slice text = whitespace_strip(line);
    if (text.len == 0) {
        if (p->is_open)
            buf_append_char(&p->value, '\n');
        return NULL;
    }
    if (text.data[0] == '#' || text.data[0] == ';')
        return NULL;
    size_t indent = (size_t)(text.data - line.data);
    if (p->is_open && indent > p->indent) {
        buf_append_char(&p->value, '\n');
        buf_append_slice(&p->value, text);
        return p->value.len > VALUE_MAX ? "a value of more than 64 KiB" : NULL;
    }
    push_open(p);
    if (p->out->n >= ENTRIES_MAX)
        return "more than 4096 keys and sections";
    p->indent = indent;
    if (text.data[0] == '[')
        return open_section(p, text, number);
    if (!p->in_section)
        return "assignment before the first section";
    return open_key(p, text, number);
}

bool python_ini_parse(struct slice text, struct arena *arena, struct ini_file *out,
                      struct ini_error *error)
{
    struct parser parser = {.arena = arena, .out = out};
    const char *what = NULL;
    unsigned number = 0;
    *out = (struct ini_file){0};
    while (what == NULL && text.len > 0) {
        struct slice line = ini_next_line(&text);
        what = take_line(&parser, line, ++number);
    }
    if (what == NULL)
        push_open(&parser);
    else
        *error = (struct ini_error){number, what};
    buf_free(&parser.value);
    return what == NULL;
}

bool python_ini_has_section(const struct ini_file *file, struct slice section)
{
    return find(file, section, SLICE_LIT("")) != NULL;
}

const struct ini_entry *python_ini_find(const struct ini_file *file, struct slice section,
                                        const char *key)
{
    const struct ini_entry *entry = find(file, section, slice_of(key));
    return entry != NULL ? entry : find(file, SLICE_LIT("DEFAULT"), slice_of(key));
}

struct expansion {
    const struct ini_file *file;
    struct slice section;
    struct arena *arena;
    struct buf out;
    unsigned
        references; /* in total; ten deep and several per value would otherwise take too long */
};

static const char *expand(struct expansion *e, struct slice text, unsigned deep);

/* The reference at the beginning of *text. */
static const char *expand_reference(struct expansion *e, struct slice *text, unsigned deep)
{
    const char *end = memchr(text->data, ')', text->len);
    if (text->len < 4 || text->data[1] != '(' || end == NULL || end + 1 >= text->data + text->len ||
        end[1] != 's')
        return "a % that does not begin a reference (write %%)";
    struct slice name =
        python_ini_lower(e->arena, (struct slice){text->data + 2, (size_t)(end - text->data) - 2});
    const struct ini_entry *entry = python_ini_find(e->file, e->section, name.data);
    if (entry == NULL || name.len == 0)
        return "a reference to a key that does not exist";
    if (++e->references > REFERENCES_MAX)
        return "too many references";
    *text = slice_skip(*text, (size_t)(end + 2 - text->data));
    return expand(e, entry->value, deep + 1);
}

static const char *expand(struct expansion *e, struct slice text, unsigned deep)
{
    if (deep > REFERENCES_DEEP)
        return "references that are nested too deeply";
    while (text.len > 0) {
        const char *percent = memchr(text.data, '%', text.len);
        size_t plain = percent == NULL ? text.len : (size_t)(percent - text.data);
        buf_append(&e->out, text.data, plain);
        text = slice_skip(text, plain);
        if (text.len == 0)
            break;
        if (text.len > 1 && text.data[1] == '%') {
            buf_append_char(&e->out, '%');
            text = slice_skip(text, 2);
            continue;
        }
        const char *what = expand_reference(e, &text, deep);
        if (what != NULL)
            return what;
        if (e->out.len > VALUE_MAX)
            return "a value of more than 64 KiB";
    }
    return NULL;
}

bool python_ini_expand(const struct ini_file *file, const struct ini_entry *entry,
                       struct arena *arena, struct slice *value, struct ini_error *error)
{
    struct expansion expansion = {.file = file, .section = entry->section, .arena = arena};
    const char *what = expand(&expansion, entry->value, 0);
    *value = arena_copy(arena, buf_slice(&expansion.out));
    buf_free(&expansion.out);
    if (what != NULL)
        *error = (struct ini_error){entry->line, what};
    return what == NULL;
}
