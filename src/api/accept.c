/* Media ranges with weights. Pure; any thread. */
#include "api/accept.h"

#include <strings.h>

static struct slice cut(struct slice *rest, char separator)
{
    return slice_trim(slice_cut(rest, separator));
}

static bool equal_nocase(struct slice a, struct slice b)
{
    return a.len == b.len && strncasecmp(a.data, b.data, a.len) == 0;
}

/* "1", "0.8", "0.125" in thousandths; -1: malformed. */
static int read_weight(struct slice text)
{
    if (text.len == 0 || text.len > 5 || (text.data[0] != '0' && text.data[0] != '1') ||
        (text.len > 1 && text.data[1] != '.'))
        return -1;
    int weight = (text.data[0] - '0') * 1000;
    int digit = 100;
    for (size_t i = 2; i < text.len; i++, digit /= 10) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return -1;
        weight += (text.data[i] - '0') * digit;
    }
    return weight <= 1000 ? weight : -1;
}

struct range {
    struct slice type;
    struct slice subtype;
    bool has_parameters;
    int weight;
};

static bool read_range(struct slice text, struct range *range)
{
    struct slice name = cut(&text, ';');
    range->type = cut(&name, '/');
    range->subtype = name;
    range->has_parameters = false;
    range->weight = 1000;
    if (range->type.len == 0 || range->subtype.len == 0)
        return false;
    while (text.len > 0) {
        struct slice value = cut(&text, ';');
        struct slice key = cut(&value, '=');
        if (!equal_nocase(key, SLICE_LIT("q"))) {
            range->has_parameters = true;
            continue;
        }
        range->weight = read_weight(slice_trim(value));
        return range->weight >= 0;
    }
    return true;
}

/* 0: no match; 1: any type; 2: any subtype; 3: the type itself. */
static unsigned matches(const struct range *range, struct slice type, struct slice subtype)
{
    struct slice any = SLICE_LIT("*");
    if (range->has_parameters)
        return 0;
    if (slice_equal(range->type, any))
        return slice_equal(range->subtype, any) ? 1 : 0;
    if (!equal_nocase(range->type, type))
        return 0;
    if (slice_equal(range->subtype, any))
        return 2;
    return equal_nocase(range->subtype, subtype) ? 3 : 0;
}

unsigned accept_weight(struct slice header, struct slice type)
{
    if (header.data == NULL)
        return 1000;
    struct slice subtype = type;
    struct slice main_type = cut(&subtype, '/');
    unsigned best = 0;
    int weight = 0;
    struct slice rest = header;
    while (rest.len > 0) {
        struct slice text = cut(&rest, ',');
        struct range range;
        if (text.len == 0)
            continue;
        if (!read_range(text, &range))
            return 1000;
        unsigned match = matches(&range, main_type, subtype);
        if (match > best) {
            best = match;
            weight = range.weight;
        }
    }
    return (unsigned)weight;
}
