/* Short forms for writing the schema tables; only for the files that define them. */
#ifndef BERTH_API_SCHEMA_WORDS_H
#define BERTH_API_SCHEMA_WORDS_H

#include "api/schema/patterns.h"
#include "api/schema/schema.h"
#include "api/schema/tables.h"

#define TYPE(set)                                                                                  \
    {                                                                                              \
        .kind = SCHEMA_TYPE, .types = (set)                                                        \
    }
#define MINIMUM(value)                                                                             \
    {                                                                                              \
        .kind = SCHEMA_MINIMUM, .limit = (value)                                                   \
    }
#define MAXIMUM(value)                                                                             \
    {                                                                                              \
        .kind = SCHEMA_MAXIMUM, .limit = (value)                                                   \
    }
#define MIN_LENGTH(n)                                                                              \
    {                                                                                              \
        .kind = SCHEMA_MIN_LENGTH, .count = (n)                                                    \
    }
#define MAX_LENGTH(n)                                                                              \
    {                                                                                              \
        .kind = SCHEMA_MAX_LENGTH, .count = (n)                                                    \
    }
#define PATTERN(which)                                                                             \
    {                                                                                              \
        .kind = SCHEMA_PATTERN, .pattern = &(which)                                                \
    }
#define FORMAT_UUID                                                                                \
    {                                                                                              \
        .kind = SCHEMA_FORMAT_UUID                                                                 \
    }
#define FORMAT_DASHED_UUID                                                                         \
    {                                                                                              \
        .kind = SCHEMA_FORMAT_DASHED_UUID                                                          \
    }
#define MAX_ITEMS(n)                                                                               \
    {                                                                                              \
        .kind = SCHEMA_MAX_ITEMS, .count = (n)                                                     \
    }
#define ITEMS(of)                                                                                  \
    {                                                                                              \
        .kind = SCHEMA_ITEMS, .schema = &(of)                                                      \
    }
#define MIN_ITEMS(n)                                                                               \
    {                                                                                              \
        .kind = SCHEMA_MIN_ITEMS, .count = (n)                                                     \
    }
#define UNIQUE_ITEMS                                                                               \
    {                                                                                              \
        .kind = SCHEMA_UNIQUE_ITEMS                                                                \
    }
#define NO_ADDITIONAL                                                                              \
    {                                                                                              \
        .kind = SCHEMA_NO_ADDITIONAL_PROPERTIES                                                    \
    }
#define MIN_PROPERTIES(n)                                                                          \
    {                                                                                              \
        .kind = SCHEMA_MIN_PROPERTIES, .count = (n)                                                \
    }
#define ENUM(...)                                                                                  \
    {                                                                                              \
        .kind = SCHEMA_ENUM, .names = (const char *const[])                                        \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
#define REQUIRED(...)                                                                              \
    {                                                                                              \
        .kind = SCHEMA_REQUIRED, .names = (const char *const[])                                    \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
#define ANY_OF(...)                                                                                \
    {                                                                                              \
        .kind = SCHEMA_ANY_OF, .schemas = (const struct schema *const[])                           \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
#define PROPERTIES(...)                                                                            \
    {                                                                                              \
        .kind = SCHEMA_PROPERTIES, .properties = (const struct schema_property[])                  \
        {                                                                                          \
            __VA_ARGS__,                                                                           \
            {                                                                                      \
                NULL, NULL                                                                         \
            }                                                                                      \
        }                                                                                          \
    }
#define PATTERN_PROPERTIES(...)                                                                    \
    {                                                                                              \
        .kind = SCHEMA_PATTERN_PROPERTIES,                                                         \
        .pattern_properties = (const struct schema_pattern_property[])                             \
        {                                                                                          \
            __VA_ARGS__,                                                                           \
            {                                                                                      \
                NULL, NULL                                                                         \
            }                                                                                      \
        }                                                                                          \
    }

#define SCHEMA(...)                                                                                \
    {                                                                                              \
        .keywords = { __VA_ARGS__ }                                                                \
    }

#endif
