/* A list of "SERVICE VERSION"; the last entry of a service counts. Pure; any thread. */
#include "api/text/version_header.h"

#include "api/text/python_int.h"

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The version text of an entry "SERVICE X", or data == NULL. */
static struct slice version_of_entry(struct slice entry, struct slice service)
{
    entry = python_strip(entry);
    size_t word = 0;
    while (word < entry.len && !is_space(entry.data[word]))
        word++;
    if (!slice_equal_nocase((struct slice){entry.data, word}, service))
        return (struct slice){0};
    struct slice version = python_strip(slice_skip(entry, word));
    return version.len > 0 ? version : (struct slice){0};
}

struct slice version_header_find(struct slice header, struct slice service)
{
    while (header.len > 0) {
        const char *comma = memrchr(header.data, ',', header.len);
        size_t start = comma == NULL ? 0 : (size_t)(comma - header.data) + 1;
        struct slice version = version_of_entry(slice_skip(header, start), service);
        if (version.data != NULL)
            return version;
        header.len = comma == NULL ? 0 : start - 1;
    }
    return (struct slice){0};
}
