/* The schemas of the Valet API's bodies (Valet spec, 2.4, 4.4 to 4.8, 6.2, 6.7, 6.8 and 7.3). What
 * a stack's resources and locations say is a language of its own (stack/stack_body.h). */
#ifndef BERTH_VALET_API_BODY_SCHEMAS_H
#define BERTH_VALET_API_BODY_SCHEMAS_H

#include "api/schema/schema.h"

/* parts that are worded in their own way */
extern const struct schema BODY_NAMES; /* a list of the next */
extern const struct schema BODY_NAME;
extern const struct schema BODY_GROUP_TYPE;
extern const struct schema BODY_PLAN_CHOICE;
extern const struct schema BODY_RESERVE_CHOICE;

extern const struct schema BODY_GROUP_CREATE;
extern const struct schema BODY_GROUP_UPDATE;

/* Members that are no strings pass: they are no projects. */
extern const struct schema BODY_MEMBERS;

extern const struct schema BODY_PLAN_CREATE;

/* What a PUT of a plan asks for; then its body has to fit one of the next two. */
extern const struct schema BODY_PLAN_ACTION;
extern const struct schema BODY_PLAN_UPDATE;
extern const struct schema BODY_PLAN_MIGRATE;

extern const struct schema BODY_RESERVE;

#endif
