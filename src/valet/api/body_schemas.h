/* The schemas of the Valet API's bodies (Valet spec, 2.4, 4.4 to 4.8, 6.2, 6.7, 6.8 and 7.3). A
 * stack's resources and locations have a reader of their own (stack/stack_body.h). */
#ifndef BERTH_VALET_API_BODY_SCHEMAS_H
#define BERTH_VALET_API_BODY_SCHEMAS_H

#include "api/schema/schema.h"

/* parts with error texts of their own */
extern const struct schema BODY_NAMES; /* a list of the next */
extern const struct schema BODY_NAME;
extern const struct schema BODY_GROUP_TYPE;
extern const struct schema BODY_PLAN_CHOICE;
extern const struct schema BODY_RESERVE_CHOICE;

extern const struct schema BODY_GROUP_CREATE;
extern const struct schema BODY_GROUP_UPDATE;

/* Members that are not strings pass: they are not projects. */
extern const struct schema BODY_MEMBERS;

extern const struct schema BODY_PLAN_CREATE;

/* The action of a PUT of a plan; the body must then fit one of the next two. */
extern const struct schema BODY_PLAN_ACTION;
extern const struct schema BODY_PLAN_UPDATE;
extern const struct schema BODY_PLAN_MIGRATE;

extern const struct schema BODY_RESERVE;

#endif
