/* The version header: a list of "SERVICE VERSION"; the last entry for placement counts. Pure; any
 * thread. */
#include "api/microversion.h"

#include <strings.h>

#include "api/request.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct slice trim(struct slice text)
{
    while (text.len > 0 && is_space(text.data[0]))
        text = slice_skip(text, 1);
    while (text.len > 0 && is_space(text.data[text.len - 1]))
        text.len--;
    return text;
}

/* The version text of an entry "placement X", or data == NULL. */
static struct slice version_of_entry(struct slice entry)
{
    static const char SERVICE[] = "placement";
    entry = trim(entry);
    size_t word = 0;
    while (word < entry.len && !is_space(entry.data[word]))
        word++;
    if (word != sizeof(SERVICE) - 1 || strncasecmp(entry.data, SERVICE, word) != 0)
        return (struct slice){0};
    struct slice version = trim(slice_skip(entry, word));
    return version.len > 0 ? version : (struct slice){0};
}

static struct slice find_version(struct slice header)
{
    while (header.len > 0) {
        const char *comma = memrchr(header.data, ',', header.len);
        size_t start = comma == NULL ? 0 : (size_t)(comma - header.data) + 1;
        struct slice version = version_of_entry(slice_skip(header, start));
        if (version.data != NULL)
            return version;
        header.len = comma == NULL ? 0 : start - 1;
    }
    return (struct slice){0};
}

/* An integer as Python's int() reads it: signs, leading zeros, single underscores, white space
 * around. */
static bool read_int(struct slice text, long *value)
{
    text = trim(text);
    bool negative = text.len > 0 && text.data[0] == '-';
    if (text.len > 0 && (text.data[0] == '-' || text.data[0] == '+'))
        text = slice_skip(text, 1);
    bool digit_before = false;
    long sum = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '_' && digit_before && i + 1 < text.len) {
            digit_before = false;
            continue;
        }
        if (c < '0' || c > '9')
            return false;
        digit_before = true;
        if (sum < 1000000)
            sum = sum * 10 + (c - '0');
    }
    *value = negative ? -sum : sum;
    return digit_before;
}

bool microversion_negotiate(struct slice header, unsigned *minor, struct err *err)
{
    struct slice version = find_version(header);
    *minor = 0;
    if (version.data == NULL)
        return true;
    if (slice_equal(version, SLICE_LIT("latest"))) {
        *minor = API_MINOR_MAX;
        return true;
    }
    const char *dot = memchr(version.data, '.', version.len);
    long major = 0;
    long found = 0;
    struct slice before = version;
    if (dot != NULL)
        before.len = (size_t)(dot - version.data);
    if (dot == NULL || !read_int(before, &major) ||
        !read_int(slice_skip(version, before.len + 1), &found))
        return err_set(err, 400, NULL, "Invalid microversion: invalid version string: %.*s",
                       SLICE_ARG(version));
    if (major != 1 || found < 0 || found > API_MINOR_MAX)
        return err_set(err, 406, NULL, "Invalid microversion: Unacceptable version header: %.*s",
                       SLICE_ARG(version));
    *minor = (unsigned)found;
    return true;
}
