/* Reads the format line by line, as oslo.config's parser does. The idea: an assignment stays open
 * until the next line shows that it has no continuation.
 *
 *     # comment, ; comment      only at the beginning of a line: after a value they belong to it
 *     [section]
 *     key = value               or `key : value`, whichever sign comes first
 *       more of the value       any white space at the beginning, also before a `#`
 *
 * A blank line, a comment and a section end an assignment; an indented line after one of them is
 * an error. One pair of quotes around the first line of a value is removed. Any thread. */
#include "conf/ini.h"

#include <strings.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "conf/whitespace.h"

struct ini_parser {
    struct arena *arena;
    struct ini_file *out;
    size_t room;
    struct slice section;
    bool in_section;
    struct ini_entry open; /* value not yet set */
    bool is_open;
    struct buf value; /* of the open assignment */
};

struct slice ini_next_line(struct slice *rest)
{
    size_t len = 0;
    while (len < rest->len && rest->data[len] != '\n' && rest->data[len] != '\r')
        len++;
    struct slice line = {rest->data, len};
    if (len + 1 < rest->len && rest->data[len] == '\r' && rest->data[len + 1] == '\n')
        len++;
    *rest = slice_skip(*rest, len < rest->len ? len + 1 : len);
    return line;
}

static void push_open(struct ini_parser *p)
{
    if (!p->is_open)
        return;
    struct ini_entry *entries = p->out->entries;
    p->out->entries = arena_grow(p->arena, entries, p->out->n, &p->room, sizeof(*entries));
    p->open.value = arena_copy(p->arena, buf_slice(&p->value));
    p->out->entries[p->out->n++] = p->open;
    p->is_open = false;
}

static const char *open_section(struct ini_parser *p, struct slice line)
{
    if (line.data[line.len - 1] != ']')
        return "the section's ] is missing, or is followed by something";
    if (line.len <= 2)
        return "empty section name";
    p->section = arena_copy(p->arena, (struct slice){line.data + 1, line.len - 2});
    p->in_section = true;
    return NULL;
}

static struct slice without_quotes(struct slice value)
{
    if (value.len == 0 || (value.data[0] != '"' && value.data[0] != '\'') ||
        value.data[0] != value.data[value.len - 1])
        return value;
    /* As in oslo.config, a lone quote counts as a pair: the value is empty. */
    return (struct slice){value.data + 1, value.len < 2 ? 0 : value.len - 2};
}

const char *ini_split(struct slice line, struct slice *key, struct slice *value)
{
    size_t at = 0;
    while (at < line.len && line.data[at] != '=' && line.data[at] != ':')
        at++;
    if (at == line.len)
        return "neither a section nor an assignment: no = or : in it";
    *key = whitespace_strip((struct slice){line.data, at});
    if (key->len == 0)
        return "no name before the assignment";
    *value = whitespace_strip(slice_skip(line, at + 1));
    return NULL;
}

static const char *open_assignment(struct ini_parser *p, struct slice line, unsigned number)
{
    struct slice key, value;
    const char *wrong = ini_split(line, &key, &value);
    if (wrong != NULL)
        return wrong;
    if (!p->in_section)
        return "assignment before the first section";
    p->open =
        (struct ini_entry){.section = p->section, .key = arena_copy(p->arena, key), .line = number};
    p->value.len = 0;
    buf_append_slice(&p->value, without_quotes(value));
    p->is_open = true;
    return NULL;
}

static bool is_utf8(struct slice text)
{
    while (text.len > 0) {
        size_t len = utf8_length(text.data, text.len);
        if (len == 0)
            return false;
        text = slice_skip(text, len);
    }
    return true;
}

static const char *take_line(struct ini_parser *p, struct slice line, unsigned number)
{
    if (memchr(line.data, '\0', line.len) != NULL)
        return "NUL byte";
    if (!is_utf8(line))
        return "not UTF-8";
    line = whitespace_strip_right(line);
    if (line.len > 0 && (line.data[0] == ' ' || line.data[0] == '\t')) {
        if (!p->is_open)
            return "indented line without an assignment before it to continue";
        buf_append_char(&p->value, '\n');
        buf_append_slice(&p->value, whitespace_strip_left(line));
        return NULL;
    }
    push_open(p);
    if (line.len == 0 || line.data[0] == '#' || line.data[0] == ';')
        return NULL;
    if (line.data[0] == '[')
        return open_section(p, line);
    return open_assignment(p, line, number);
}

bool ini_parse(struct slice text, struct arena *arena, struct ini_file *out,
               struct ini_error *error)
{
    struct ini_parser parser = {.arena = arena, .out = out};
    const char *what = NULL;
    unsigned number = 0;
    *out = (struct ini_file){0};
    if (slice_starts_with(text, SLICE_LIT("\xef\xbb\xbf")))
        text = slice_skip(text, 3);
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

bool ini_section_is(struct slice written, const char *name)
{
    if (written.len != strlen(name))
        return false;
    if (strcmp(name, "DEFAULT") == 0)
        return memcmp(written.data, name, written.len) == 0;
    return strncasecmp(written.data, name, written.len) == 0;
}
