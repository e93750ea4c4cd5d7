/* The schemas of the Placement API's bodies and query strings, each named after the first
 * microversion that uses it. */
#ifndef BERTH_API_SCHEMA_TABLES_H
#define BERTH_API_SCHEMA_TABLES_H

#include "api/schema/schema.h"

/* parts used by several tables */
extern const struct schema SCHEMA_ANY_STRING;
extern const struct schema SCHEMA_ANY_INTEGER;
extern const struct schema SCHEMA_UUID;
extern const struct schema SCHEMA_TEXT_255; /* 1 to 255 characters: project, user, trait */

extern const struct schema SCHEMA_PROVIDER_CREATE_1_0;
extern const struct schema SCHEMA_PROVIDER_CREATE_1_14;
extern const struct schema SCHEMA_PROVIDER_UPDATE_1_0;
extern const struct schema SCHEMA_PROVIDER_UPDATE_1_14;
extern const struct schema SCHEMA_AGGREGATES_1_1;
extern const struct schema SCHEMA_AGGREGATES_1_19;
extern const struct schema SCHEMA_PROVIDER_TRAITS;
extern const struct schema SCHEMA_CUSTOM_TRAIT; /* a trait's name */
extern const struct schema SCHEMA_CLASS;        /* POST, PUT before 1.7; and PUT's name from 1.7 */
extern const struct schema SCHEMA_INVENTORY_CREATE;
extern const struct schema SCHEMA_INVENTORY_UPDATE;
extern const struct schema SCHEMA_INVENTORIES;

/* PUT /allocations/{consumer_uuid} */
extern const struct schema SCHEMA_ALLOCATION_1_0;
extern const struct schema SCHEMA_ALLOCATION_1_8;
extern const struct schema SCHEMA_ALLOCATION_1_12;
extern const struct schema SCHEMA_ALLOCATION_1_28;
extern const struct schema SCHEMA_ALLOCATION_1_34;
extern const struct schema SCHEMA_ALLOCATION_1_38;
/* POST /allocations */
extern const struct schema SCHEMA_ALLOCATIONS_1_13;
extern const struct schema SCHEMA_ALLOCATIONS_1_28;
extern const struct schema SCHEMA_ALLOCATIONS_1_34;
extern const struct schema SCHEMA_ALLOCATIONS_1_38;
/* POST /reshaper */
extern const struct schema SCHEMA_RESHAPER_1_30;
extern const struct schema SCHEMA_RESHAPER_1_34;
extern const struct schema SCHEMA_RESHAPER_1_38;

/* query strings */
extern const struct schema SCHEMA_PROVIDERS_QUERY_1_0;
extern const struct schema SCHEMA_PROVIDERS_QUERY_1_3;
extern const struct schema SCHEMA_PROVIDERS_QUERY_1_4;
extern const struct schema SCHEMA_PROVIDERS_QUERY_1_14;
extern const struct schema SCHEMA_PROVIDERS_QUERY_1_18;
extern const struct schema SCHEMA_TRAITS_QUERY;
extern const struct schema SCHEMA_USAGES_QUERY_1_9;
extern const struct schema SCHEMA_USAGES_QUERY_1_38;
extern const struct schema SCHEMA_CANDIDATES_QUERY_1_10;
extern const struct schema SCHEMA_CANDIDATES_QUERY_1_16;
extern const struct schema SCHEMA_CANDIDATES_QUERY_1_17;
extern const struct schema SCHEMA_CANDIDATES_QUERY_1_21;
extern const struct schema SCHEMA_CANDIDATES_QUERY_1_25;
extern const struct schema SCHEMA_CANDIDATES_QUERY_1_31;
extern const struct schema SCHEMA_CANDIDATES_QUERY_1_33;
extern const struct schema SCHEMA_CANDIDATES_QUERY_1_35;
extern const struct schema SCHEMA_CANDIDATES_QUERY_1_36;

#endif
