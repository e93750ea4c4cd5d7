/* The patterns of the API's schemas. */
#ifndef BERTH_API_SCHEMA_PATTERNS_H
#define BERTH_API_SCHEMA_PATTERNS_H

#include "api/schema/schema.h"

extern const struct schema_pattern PATTERN_CLASS;             /* ^[A-Z0-9_]+$ */
extern const struct schema_pattern PATTERN_CUSTOM;            /* ^CUSTOM_[A-Z0-9_]+$ */
extern const struct schema_pattern PATTERN_UUID_CHARACTERS;   /* ^[0-9a-fA-F-]{36}$ */
extern const struct schema_pattern PATTERN_CONSUMER_TYPE_GET; /* also accepts all and unknown */
extern const struct schema_pattern PATTERN_GROUP_SUFFIX;      /* may match anywhere in the text */
extern const struct schema_pattern PATTERN_LIMIT;             /* ^[1-9][0-9]*$ */

/* Names of a query's group parameters: the word, alone or with a suffix that is a number (1.25) or
 * a string (1.33). */
extern const struct schema_pattern PATTERN_RESOURCES_1_25;
extern const struct schema_pattern PATTERN_REQUIRED_1_25;
extern const struct schema_pattern PATTERN_MEMBER_OF_1_25;
extern const struct schema_pattern PATTERN_IN_TREE_1_25;
extern const struct schema_pattern PATTERN_RESOURCES_1_33;
extern const struct schema_pattern PATTERN_REQUIRED_1_33;
extern const struct schema_pattern PATTERN_MEMBER_OF_1_33;
extern const struct schema_pattern PATTERN_IN_TREE_1_33;

#endif
