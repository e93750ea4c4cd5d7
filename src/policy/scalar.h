/* Unquoted scalars of YAML. */
#ifndef BERTH_POLICY_SCALAR_H
#define BERTH_POLICY_SCALAR_H

#include "policy/value.h"

/* The type of an unquoted scalar in YAML 1.1: NULL, TEXT, OTHER or MERGE. */
enum policy_value_kind policy_yaml_scalar_kind(struct slice text);

#endif
