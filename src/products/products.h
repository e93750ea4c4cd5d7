/* The products that berth is made of: THE table of their rules, and that of their APIs. */
#ifndef BERTH_PRODUCTS_PRODUCTS_H
#define BERTH_PRODUCTS_PRODUCTS_H

#include "baremetal/write/metal.h"
#include "engine/rules.h"
#include "valet/write/foreign_write_scan.h"

/* All zero at first; lives as long as the pipeline. */
struct products {
    struct foreign_write_scan scan; /* the writer's */
    struct rules rules;
};

/* Fills the table of rules. `metal` (NULL: there are no bare metal nodes) outlives the products. */
const struct rules *products_open(struct products *products, const struct metal *metal);

/* After the pipeline has ended. */
void products_close(struct products *products);

#endif
