/* The standard resource classes and traits (data/), which every database must contain.
 * Generated. */
#ifndef BERTH_STORE_STANDARD_H
#define BERTH_STORE_STANDARD_H

extern const char *const standard_class_names[]; /* the index is the id */
extern const int standard_class_names_count;
extern const char *const standard_trait_names[];
extern const int standard_trait_names_count;

#endif
