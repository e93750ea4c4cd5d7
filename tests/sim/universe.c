/* Texts made once. One thread. */
#include "universe.h"

#include <stdio.h>

#include "base/check.h"

enum { MOST = 20, TEXT_BYTES = 40 };

struct texts {
    char text[MOST][TEXT_BYTES];
};

static struct slice made(struct texts *texts, const char *prefix, int number)
{
    check(number >= 0 && number < MOST);
    char *text = texts->text[number];
    if (text[0] == '\0')
        snprintf(text, TEXT_BYTES, "%s%02d", prefix, number);
    return slice_of(text);
}

struct slice universe_provider(int number)
{
    static struct texts texts;
    return made(&texts, "aaaaaaaa-0000-4000-8000-0000000000", number);
}

struct slice universe_name(int number)
{
    static struct texts texts;
    return made(&texts, "name-", number);
}

struct slice universe_class(int number)
{
    static struct texts texts;
    return made(&texts, number < STANDARD_CLASSES ? "STANDARD_" : "CUSTOM_", number);
}

struct slice universe_trait(int number)
{
    static struct texts texts;
    return made(&texts, number < STANDARD_TRAITS ? "HW_" : "CUSTOM_", number);
}

struct slice universe_aggregate(int number)
{
    static struct texts texts;
    return made(&texts, "bbbbbbbb-0000-4000-8000-0000000000", number);
}

struct slice universe_consumer(int number)
{
    static struct texts texts;
    return made(&texts, "cccccccc-0000-4000-8000-0000000000", number);
}

struct slice universe_project(int number)
{
    static struct texts texts;
    return made(&texts, "project-", number);
}

struct slice universe_user(int number)
{
    static struct texts texts;
    return made(&texts, "user-", number);
}

struct slice universe_type(int number)
{
    static struct texts texts;
    return made(&texts, "TYPE_", number);
}

struct slice universe_node(int number)
{
    static struct texts texts;
    return made(&texts, "dddddddd-0000-4000-8000-0000000000", number);
}

struct slice universe_node_allocation(int number)
{
    static struct texts texts;
    return made(&texts, "eeeeeeee-0000-4000-8000-0000000000", number);
}

struct slice universe_metal(int number)
{
    static struct texts texts;
    return made(&texts, "metal-", number);
}

bool universe_is_metal(struct slice text)
{
    return slice_starts_with(text, SLICE_LIT("dddd")) ||
           slice_starts_with(text, SLICE_LIT("eeee")) ||
           slice_starts_with(text, SLICE_LIT("CUSTOM_METAL_"));
}

int universe_number(struct slice text)
{
    check(text.len > 2);
    return (text.data[text.len - 2] - '0') * 10 + (text.data[text.len - 1] - '0');
}
