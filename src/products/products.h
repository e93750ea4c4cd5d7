/* The products that berth is made of: THE table of their rules, and that of their doors. */
#ifndef BERTH_PRODUCTS_PRODUCTS_H
#define BERTH_PRODUCTS_PRODUCTS_H

#include "baremetal/write/metal.h"
#include "engine/rules.h"
#include "valet/write/sweep.h"

/* All zero at first; lives as long as the pipeline. */
struct products {
    struct sweep sweep; /* the writer's */
    struct rules rules;
};

/* Fills the table of rules. `metal` (NULL: there are no bare metal nodes) outlives the products. */
const struct rules *products_open(struct products *products, const struct metal *metal);

/* After the pipeline has ended. */
void products_close(struct products *products);

#endif
