/* Valet's row in the table of rules (engine/rules.h): exclusivity, holds, and the consequences of a
 * write for both. */
#ifndef BERTH_VALET_WRITE_VALET_RULE_H
#define BERTH_VALET_WRITE_VALET_RULE_H

#include "engine/rules.h"

/* Its context is a struct foreign_write_scan (valet/write/foreign_write_scan.h), initially all
 * zero. */
extern const struct rule valet_rule;

#endif
