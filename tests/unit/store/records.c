/* See records.h. */
#include "records.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The text with its lines sorted; the caller frees it. */
static char *sort_lines(const char *text)
{
    enum { LINES_MAX = 256 };
    char *lines[LINES_MAX];
    size_t count = 0;
    struct buf sorted = {0};
    char *copy = strdup(text);
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n")) != NULL; lines[count++] = line)
        assert_true(count < LINES_MAX);
    qsort(lines, count, sizeof(lines[0]), compare_lines);
    for (size_t i = 0; i < count; i++)
        buf_printf(&sorted, "%s\n", lines[i]);
    free(copy);
    buf_append_char(&sorted, '\0');
    return sorted.data;
}

void expect_records(struct buf *records, const char *text)
{
    buf_append_char(records, '\0');
    char *sorted = sort_lines(records->data);
    char *wanted = sort_lines(text);
    assert_string_equal(sorted, wanted);
    free(sorted);
    free(wanted);
    buf_free(records);
}
