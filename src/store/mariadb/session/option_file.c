/* PyMySQL reads option files with Python's configparser, takes a few options of one group, and
 * ignores everything else: `ssl=1` and `!includedir` mean nothing to it, and the same file must not
 * mean more here. libmariadb's own reader is not used: it would let the file enable whatever the
 * library can do, such as sending local files to the server.
 *
 * configparser's rules that matter: names of options are compared without regard to case; a line
 * that begins with "#" or ";" is a comment, and one that is indented deeper than the option before
 * it continues that option's value, which none of these options can have; a value in quotes loses
 * them; [DEFAULT] is used where the group lacks an option. Unlike there, the last of several lines
 * for one option wins, and a file that does not exist is an error. Any thread. */
#include "store/mariadb/session/option_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES_MOST = 256 * 1024 };

static const struct {
    const char *name;
    size_t offset;
} OPTIONS[] = {
    {"user", offsetof(struct mariadb_option_file, user)},
    {"password", offsetof(struct mariadb_option_file, password)},
    {"host", offsetof(struct mariadb_option_file, host)},
    {"database", offsetof(struct mariadb_option_file, database)},
    {"socket", offsetof(struct mariadb_option_file, socket)},
    {"port", offsetof(struct mariadb_option_file, port)},
    {"bind-address", offsetof(struct mariadb_option_file, bind_address)},
    {"ssl-ca", offsetof(struct mariadb_option_file, ssl_ca)},
    {"ssl-capath", offsetof(struct mariadb_option_file, ssl_capath)},
    {"ssl-cert", offsetof(struct mariadb_option_file, ssl_cert)},
    {"ssl-key", offsetof(struct mariadb_option_file, ssl_key)},
    {"ssl-cipher", offsetof(struct mariadb_option_file, ssl_cipher)},
};
enum { OPTIONS_N = sizeof(OPTIONS) / sizeof(OPTIONS[0]) };

/* The position in a file. */
struct file_reading {
    struct arena *arena;
    const char *group;
    struct mariadb_option_file *own;      /* of the group */
    struct mariadb_option_file *defaults; /* of [DEFAULT] */
    struct mariadb_option_file *current;  /* of the group that the line is in; NULL: another's */
    bool in_group;                        /* in any */
    bool has_group;                       /* the group has begun */
    bool has_option;                      /* a line of this group was an option */
    bool is_ours;                         /* that option is one of OPTIONS */
    size_t indent;                        /* of the last option or group */
};

static const char **option_member(struct mariadb_option_file *options, size_t at)
{
    return (const char **)(void *)((char *)options + OPTIONS[at].offset);
}

static struct slice trim(struct slice text)
{
    while (text.len > 0 && isspace((unsigned char)text.data[0]))
        text = slice_skip(text, 1);
    while (text.len > 0 && isspace((unsigned char)text.data[text.len - 1]))
        text.len--;
    return text;
}

static struct slice without_quotes(struct slice value)
{
    bool is_quoted = value.len >= 2 && (value.data[0] == '"' || value.data[0] == '\'') &&
                     value.data[value.len - 1] == value.data[0];
    return is_quoted ? (struct slice){value.data + 1, value.len - 2} : value;
}

/* "[NAME]", and whatever is behind it. */
static bool take_group(struct file_reading *reading, struct slice line)
{
    size_t end = line.len;
    while (end > 2 && line.data[end - 1] != ']')
        end--;
    if (line.data[0] != '[' || end <= 2)
        return false;
    struct slice name = {line.data + 1, end - 2};
    bool is_own = slice_equal(name, slice_of(reading->group));
    reading->in_group = true;
    reading->has_group |= is_own;
    reading->has_option = false;
    reading->current = is_own                                    ? reading->own
                       : slice_equal(name, SLICE_LIT("DEFAULT")) ? reading->defaults
                                                                 : NULL;
    return true;
}

static void take_option(struct file_reading *reading, struct slice line)
{
    size_t at = 0;
    while (at < line.len && line.data[at] != '=' && line.data[at] != ':')
        at++;
    struct slice name = trim((struct slice){line.data, at});
    struct slice value = at < line.len ? trim(slice_skip(line, at + 1)) : SLICE_LIT("");
    reading->has_option = true;
    reading->is_ours = false;
    value = without_quotes(value);
    for (size_t i = 0; i < OPTIONS_N && reading->current != NULL; i++) {
        if (!slice_equal_nocase(name, slice_of(OPTIONS[i].name)))
            continue;
        reading->is_ours = true;
        *option_member(reading->current, i) =
            value.len == 0 ? NULL : arena_copy(reading->arena, value).data;
    }
}

/* NULL: the line is in order. */
static const char *take_line(struct file_reading *reading, struct slice line)
{
    struct slice text = trim(line);
    if (text.len == 0 || text.data[0] == '#' || text.data[0] == ';')
        return NULL;
    size_t indent = (size_t)(text.data - line.data);
    if (reading->has_option && indent > reading->indent)
        return reading->is_ours ? "continues a value" : NULL;
    reading->indent = indent;
    if (memchr(text.data, '\0', text.len) != NULL)
        return "contains U+0000";
    if (take_group(reading, text))
        return NULL;
    if (!reading->in_group)
        return "is outside of a group";
    take_option(reading, text);
    return NULL;
}

bool mariadb_option_text_read(struct slice text, const char *group, struct arena *arena,
                              struct mariadb_option_file *options, struct slice *reason)
{
    struct mariadb_option_file defaults = {0};
    struct file_reading reading = {
        .arena = arena, .group = group, .own = options, .defaults = &defaults};
    *options = (struct mariadb_option_file){0};
    for (unsigned number = 1; text.len > 0; number++) {
        const char *wrong = take_line(&reading, slice_cut(&text, '\n'));
        if (wrong != NULL) {
            *reason = arena_printf(arena, "line %u %s", number, wrong);
            return false;
        }
    }
    for (size_t i = 0; i < OPTIONS_N && reading.has_group; i++)
        if (*option_member(options, i) == NULL)
            *option_member(options, i) = *option_member(&defaults, i);
    return true;
}

/* ---- files ---- */

/* The whole file; false: errno is set. */
static bool read_all(const char *path, struct arena *arena, struct slice *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return false;
    char *data = arena_alloc(arena, FILE_BYTES_MOST);
    size_t len = 0;
    ssize_t got = 1;
    while (got != 0 && len < FILE_BYTES_MOST) {
        got = read(fd, data + len, FILE_BYTES_MOST - len);
        if (got < 0 && errno != EINTR)
            break;
        len += got > 0 ? (size_t)got : 0;
    }
    int error = got < 0 ? errno : EFBIG;
    close(fd);
    errno = error;
    *text = (struct slice){data, len};
    return got == 0;
}

bool mariadb_option_file_read(const char *path, const char *group, struct arena *arena,
                              struct mariadb_option_file *options, struct slice *reason)
{
    const char *home = getenv("HOME");
    const char *full = path;
    struct slice text;
    if (strncmp(path, "~/", 2) == 0 && home != NULL)
        full = arena_printf(arena, "%s%s", home, path + 1).data;
    if (!read_all(full, arena, &text)) {
        *reason =
            arena_printf(arena, "the option file %s cannot be read: %s", full, strerror(errno));
        return false;
    }
    if (mariadb_option_text_read(text, group, arena, options, reason))
        return true;
    *reason = arena_printf(arena, "the option file %s: %.*s", full, SLICE_ARG(*reason));
    return false;
}
