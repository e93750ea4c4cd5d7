/* Patterns as functions. "$" matches only at the end of the text. Pure; any thread. */
#include "api/schema/patterns.h"

static bool patterns_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_class_char(char c)
{
    return (c >= 'A' && c <= 'Z') || patterns_is_digit(c) || c == '_';
}

static bool is_uuid_char(char c)
{
    return patterns_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
}

static bool is_suffix_char(char c)
{
    return is_class_char(c) || (c >= 'a' && c <= 'z') || c == '-';
}

static bool all(struct slice text, bool (*is)(char c))
{
    for (size_t i = 0; i < text.len; i++)
        if (!is(text.data[i]))
            return false;
    return true;
}

static bool matches_class(struct slice text)
{
    return text.len > 0 && all(text, is_class_char);
}

static bool matches_custom(struct slice text)
{
    const struct slice prefix = SLICE_LIT("CUSTOM_");
    return slice_starts_with(text, prefix) && matches_class(slice_skip(text, prefix.len));
}

static bool matches_uuid_characters(struct slice text)
{
    return text.len == 36 && all(text, is_uuid_char);
}

static bool matches_consumer_type_get(struct slice text)
{
    return matches_class(text) || slice_starts_with(text, SLICE_LIT("all")) ||
           slice_equal(text, SLICE_LIT("unknown"));
}

static bool matches_group_suffix(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (is_suffix_char(text.data[i]))
            return true;
    return false;
}

static bool matches_limit(struct slice text)
{
    return text.len > 0 && text.data[0] != '0' && all(text, patterns_is_digit);
}

static bool matches_numbered(struct slice text, struct slice word)
{
    return slice_starts_with(text, word) &&
           (text.len == word.len || matches_limit(slice_skip(text, word.len)));
}

static bool matches_suffixed(struct slice text, struct slice word)
{
    return slice_starts_with(text, word) && text.len - word.len <= 64 &&
           all(slice_skip(text, word.len), is_suffix_char);
}

#define GROUP_PATTERNS(NAME, word)                                                                 \
    static bool matches_numbered_##word(struct slice text)                                         \
    {                                                                                              \
        return matches_numbered(text, SLICE_LIT(#word));                                           \
    }                                                                                              \
    static bool matches_suffixed_##word(struct slice text)                                         \
    {                                                                                              \
        return matches_suffixed(text, SLICE_LIT(#word));                                           \
    }                                                                                              \
    const struct schema_pattern PATTERN_##NAME##_1_25 = {"^" #word "([1-9][0-9]*)?$",              \
                                                         matches_numbered_##word};                 \
    const struct schema_pattern PATTERN_##NAME##_1_33 = {"^" #word "([a-zA-Z0-9_-]{1,64})?$",      \
                                                         matches_suffixed_##word}

GROUP_PATTERNS(RESOURCES, resources);
GROUP_PATTERNS(REQUIRED, required);
GROUP_PATTERNS(MEMBER_OF, member_of);
GROUP_PATTERNS(IN_TREE, in_tree);

const struct schema_pattern PATTERN_CLASS = {"^[A-Z0-9_]+$", matches_class};
const struct schema_pattern PATTERN_CUSTOM = {"^CUSTOM_[A-Z0-9_]+$", matches_custom};
const struct schema_pattern PATTERN_UUID_CHARACTERS = {"^[0-9a-fA-F-]{36}$",
                                                       matches_uuid_characters};
const struct schema_pattern PATTERN_CONSUMER_TYPE_GET = {"^[A-Z0-9_]+$|^all|^unknown$",
                                                         matches_consumer_type_get};
const struct schema_pattern PATTERN_GROUP_SUFFIX = {"[a-zA-Z0-9_-]{1,64}", matches_group_suffix};
const struct schema_pattern PATTERN_LIMIT = {"^[1-9][0-9]*$", matches_limit};
