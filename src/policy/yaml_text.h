/* Policy files are YAML 1.1, of which JSON is a subset, as PyYAML's safe loader reads it. */
#ifndef BERTH_POLICY_YAML_TEXT_H
#define BERTH_POLICY_YAML_TEXT_H

#include "base/arena.h"
#include "base/err.h"
#include "policy/value.h"

enum {
    POLICY_YAML_NODES_MAX = 50000,
    POLICY_YAML_DEPTH_MAX = 16,
    POLICY_YAML_ANCHORS_MAX = 256,
};

/* The only document of the text, in the arena; a text without a document is POLICY_VALUE_NULL. An
 * alias is the value it refers to, not a copy, so that it costs nothing; it may not be part of
 * itself. Tags are rejected, except those of text, lists and mappings. NULL: err has "NAME:LINE:
 * reason". */
const struct policy_value *policy_yaml_read(struct arena *arena, const char *name,
                                            struct slice text, struct err *err) BERTH_MUST_CHECK;

#endif
