/* Media ranges with weights, parsed with the RFC's grammar: a header that does not follow it is
 * malformed as a whole. Pure; any thread. */
#include "api/text/accept.h"

struct range {
    struct slice type;
    struct slice subtype;
    bool has_parameters;
    int weight;
};

static void skip_blanks(struct slice *rest)
{
    while (rest->len > 0 && (rest->data[0] == ' ' || rest->data[0] == '\t'))
        *rest = slice_skip(*rest, 1);
}

static bool accept_take(struct slice *rest, char wanted)
{
    if (rest->len == 0 || rest->data[0] != wanted)
        return false;
    *rest = slice_skip(*rest, 1);
    return true;
}

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Empty: there is no token. */
static struct slice take_token(struct slice *rest)
{
    struct slice token = {rest->data, 0};
    while (token.len < rest->len && is_token_char(rest->data[token.len]))
        token.len++;
    *rest = slice_skip(*rest, token.len);
    return token;
}

/* Called after the opening quote; false: there is no closing quote. */
static bool skip_quoted(struct slice *rest)
{
    while (rest->len > 0) {
        char c = rest->data[0];
        *rest = slice_skip(*rest, 1);
        if (c == '"')
            return true;
        if (c == '\\' && rest->len > 0)
            *rest = slice_skip(*rest, 1);
    }
    return false;
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

/* Reads one ";NAME=VALUE", beginning with the name. After the weight, the value may be missing, and
 * parameters no longer belong to the type. */
static bool read_parameter(struct slice *rest, struct range *range, bool *has_weight)
{
    struct slice name = take_token(rest);
    if (name.len == 0)
        return false;
    if (!accept_take(rest, '='))
        return *has_weight;
    if (!*has_weight && slice_equal_nocase(name, SLICE_LIT("q"))) {
        *has_weight = true;
        range->weight = read_weight(take_token(rest));
        return range->weight >= 0;
    }
    range->has_parameters = range->has_parameters || !*has_weight;
    return accept_take(rest, '"') ? skip_quoted(rest) : take_token(rest).len > 0;
}

/* Reads one range, up to its comma. */
static bool read_range(struct slice *rest, struct range *range)
{
    bool has_weight = false;
    range->type = take_token(rest);
    bool has_slash = accept_take(rest, '/');
    range->subtype = take_token(rest);
    range->has_parameters = false;
    range->weight = 1000;
    if (range->type.len == 0 || !has_slash || range->subtype.len == 0)
        return false;
    for (skip_blanks(rest); accept_take(rest, ';'); skip_blanks(rest)) {
        skip_blanks(rest);
        if (!read_parameter(rest, range, &has_weight))
            return false;
    }
    return rest->len == 0 || rest->data[0] == ',';
}

/* False: there are no more ranges, or, if something is left of the rest, it is malformed. */
static bool next_range(struct slice *rest, struct range *range)
{
    do {
        skip_blanks(rest);
    } while (accept_take(rest, ','));
    if (rest->len == 0)
        return false;
    struct slice from_here = *rest;
    if (read_range(rest, range))
        return true;
    *rest = from_here;
    return false;
}

/* 0: no match; 1: any type; 2: any subtype; 3: the type itself. */
static unsigned matches(const struct range *range, struct slice type, struct slice subtype)
{
    struct slice any = SLICE_LIT("*");
    if (range->has_parameters)
        return 0;
    if (slice_equal(range->type, any))
        return slice_equal(range->subtype, any) ? 1 : 0;
    if (!slice_equal_nocase(range->type, type))
        return 0;
    if (slice_equal(range->subtype, any))
        return 2;
    return slice_equal_nocase(range->subtype, subtype) ? 3 : 0;
}

unsigned accept_weight(struct slice header, struct slice type)
{
    if (header.data == NULL || slice_equal(header, type))
        return 1000;
    struct slice subtype = type;
    struct slice main_type = slice_cut(&subtype, '/');
    unsigned best = 0;
    int weight = 0;
    struct slice rest = header;
    struct range range;
    while (next_range(&rest, &range)) {
        unsigned match = matches(&range, main_type, subtype);
        if (match > best) {
            best = match;
            weight = range.weight;
        }
    }
    return rest.len > 0 ? 1000 : (unsigned)weight;
}

unsigned accept_weight_named(struct slice header, struct slice type)
{
    struct slice subtype = type;
    struct slice main_type = slice_cut(&subtype, '/');
    int weight = 0;
    struct slice rest = header;
    struct range range;
    while (next_range(&rest, &range))
        if (slice_equal_nocase(range.type, main_type) &&
            slice_equal_nocase(range.subtype, subtype) && range.weight > weight)
            weight = range.weight;
    return rest.len > 0 ? 0 : (unsigned)weight;
}
