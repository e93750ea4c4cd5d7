/* Resolves unquoted scalars (YAML 1.1, the types of its repository, as in PyYAML). Pure; any
 * thread. */
#include "policy/scalar.h"

static bool is_one_of(struct slice text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (slice_equal(text, slice_of(*words)))
            return true;
    return false;
}

static bool scalar_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Cuts off the prefix that consists of these characters; returns its length. */
static size_t cut_run(struct slice *rest, const char *characters)
{
    size_t len = 0;
    while (len < rest->len && rest->data[len] != '\0' &&
           strchr(characters, rest->data[len]) != NULL)
        len++;
    *rest = slice_skip(*rest, len);
    return len;
}

static bool cut_char(struct slice *rest, const char *characters)
{
    if (rest->len == 0 || rest->data[0] == '\0' || strchr(characters, rest->data[0]) == NULL)
        return false;
    *rest = slice_skip(*rest, 1);
    return true;
}

/* ":59:07", after the hours of a base 60 number. */
static bool cut_sixties(struct slice *rest)
{
    bool any = false;
    while (rest->len >= 2 && rest->data[0] == ':' && scalar_is_digit(rest->data[1])) {
        bool two = rest->len >= 3 && rest->data[1] <= '5' && scalar_is_digit(rest->data[2]);
        *rest = slice_skip(*rest, two ? 3 : 2);
        any = true;
    }
    return any;
}

static bool is_exponent(struct slice rest)
{
    if (rest.len == 0)
        return true;
    return cut_char(&rest, "eE") && cut_char(&rest, "+-") && cut_run(&rest, "0123456789") > 0 &&
           rest.len == 0;
}

static bool is_based(struct slice rest, char base, const char *digits)
{
    return rest.len > 2 && rest.data[0] == '0' && rest.data[1] == base &&
           cut_run(&(struct slice){rest.data + 2, rest.len - 2}, digits) == rest.len - 2;
}

static bool is_number(struct slice text)
{
    static const char *const NAN_WORDS[] = {".nan", ".NaN", ".NAN", NULL};
    static const char *const INF_WORDS[] = {".inf", ".Inf", ".INF", NULL};
    struct slice rest = text;
    bool has_sign = cut_char(&rest, "+-");
    if (is_one_of(text, NAN_WORDS) || is_one_of(rest, INF_WORDS) || is_based(rest, 'b', "01_") ||
        is_based(rest, 'x', "0123456789abcdefABCDEF_"))
        return true;
    if (!has_sign && rest.len >= 2 && rest.data[0] == '.' && scalar_is_digit(rest.data[1])) {
        rest = slice_skip(rest, 1);
        cut_run(&rest, "0123456789_");
        return is_exponent(rest);
    }
    if (rest.len == 0 || !scalar_is_digit(rest.data[0]))
        return false;
    bool sixties = false;
    struct slice whole = rest;
    cut_run(&rest, "0123456789_");
    if (rest.len == 0) /* a leading zero makes a number octal */
        return whole.len == 1 || whole.data[0] != '0' ||
               cut_run(&(struct slice){whole.data, whole.len}, "01234567_") == whole.len;
    sixties = cut_sixties(&rest);
    if (rest.len == 0)
        return whole.data[0] != '0';
    if (!cut_char(&rest, "."))
        return false;
    cut_run(&rest, "0123456789_");
    return sixties ? rest.len == 0 : is_exponent(rest);
}

/* A date, possibly followed by a time, which is not checked: no rule begins like that. */
static bool is_date(struct slice text)
{
    struct slice rest = text;
    return cut_run(&rest, "0123456789") == 4 && cut_char(&rest, "-") &&
           cut_run(&rest, "0123456789") - 1 < 2 && cut_char(&rest, "-") &&
           cut_run(&rest, "0123456789") - 1 < 2 && (rest.len == 0 || cut_char(&rest, "Tt \t"));
}

enum policy_value_kind policy_yaml_scalar_kind(struct slice text)
{
    static const char *const NULLS[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const OTHERS[] = {"yes",  "Yes",  "YES",   "no",    "No",    "NO", "true",
                                         "True", "TRUE", "false", "False", "FALSE", "on", "On",
                                         "ON",   "off",  "Off",   "OFF",   "=",     NULL};
    if (is_one_of(text, NULLS))
        return POLICY_VALUE_NULL;
    if (slice_equal(text, SLICE_LIT("<<")))
        return POLICY_VALUE_MERGE;
    return is_one_of(text, OTHERS) || is_number(text) || is_date(text) ? POLICY_VALUE_OTHER
                                                                       : POLICY_VALUE_TEXT;
}
