/* Similarity is the number of typing errors between two names: an extra character, a missing one, a
 * different one, or two swapped. The longer a name, the more errors it may have. Any thread. */
#include "conf/suggest.h"

#include <ctype.h>
#include <string.h>

#include "conf/ini.h"

enum { NAME_MAX_LEN = 64, FAR = 1000 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char plain(char c)
{
    return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

/* Differences in case and dashes are not counted. */
static size_t slips_between(struct slice a, struct slice b)
{
    /* Three rows of the usual edit distance matrix: row i turns a's first i characters into b's
     * first j. */
    size_t rows[3][NAME_MAX_LEN + 1];
    if (a.len > NAME_MAX_LEN || b.len > NAME_MAX_LEN)
        return FAR;
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3];
        const size_t *last = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same = plain(a.data[i - 1]) == plain(b.data[j - 1]);
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && plain(a.data[i - 1]) == plain(b.data[j - 2]) &&
                plain(a.data[i - 2]) == plain(b.data[j - 1]))
                row[j] = least(row[j], rows[(i - 2) % 3][j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

static bool is_near(size_t slips, struct slice name)
{
    return slips <= least(3, name.len / 4 + (name.len >= 3));
}

/* Errors in the section count more than those in the name, because names occur in several
 * sections. */
static size_t distance(struct slice section, struct slice name, const struct option_name *known)
{
    struct slice known_section = slice_of(known->section);
    size_t in_name = slips_between(name, slice_of(known->name));
    size_t in_section = slips_between(section, known_section);
    if (!is_near(in_name, name))
        return FAR;
    if (ini_section_is(section, known->section))
        return in_name;
    if (is_near(in_section, section))
        return in_name + in_section + 1;
    /* In a completely different section, only an exact name is a likely match, and not if it is a
     * common word. */
    return in_name == 0 && name.len > 8 ? 2 * NAME_MAX_LEN : FAR;
}

const struct option *suggest_option(struct slice section, struct slice name)
{
    const struct option *best = NULL;
    size_t best_distance = FAR;
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        struct option_name names[1 + OPTION_OLD_NAMES] = {{option->section, option->name}};
        memcpy(&names[1], option->deprecated, sizeof(option->deprecated));
        for (size_t j = 0; j < 1 + OPTION_OLD_NAMES && names[j].section != NULL; j++) {
            size_t found = distance(section, name, &names[j]);
            if (found < best_distance) {
                best_distance = found;
                best = option;
            }
        }
    }
    return best;
}

/* Compares with the name at the start of each row. */
static const char *most_like(struct slice word, const void *table, size_t row_bytes, size_t rows)
{
    const char *best = NULL;
    size_t best_slips = FAR;
    for (size_t i = 0; i < rows; i++) {
        const char *name;
        memcpy(&name, (const char *)table + i * row_bytes, sizeof(name));
        if (name == NULL)
            break;
        size_t slips = slips_between(word, slice_of(name));
        if (slips < best_slips && is_near(slips, word)) {
            best_slips = slips;
            best = name;
        }
    }
    return best;
}

const char *suggest_section(struct slice section)
{
    return most_like(section, option_table, sizeof(option_table[0]), option_count);
}

const char *suggest_name(const char *word, const void *table, size_t row_bytes, size_t rows)
{
    return most_like(slice_of(word), table, row_bytes, rows);
}
