/* The products that berth consists of: THE table of their rules, and that of their APIs. */
#ifndef BERTH_PRODUCTS_PRODUCTS_H
#define BERTH_PRODUCTS_PRODUCTS_H

#include "baremetal/write/metal.h"
#include "engine/rules.h"
#include "placement/write/over_capacity_log.h"
#include "valet/write/foreign_write_scan.h"

/* Initially all zero; must exist as long as the pipeline. */
struct products {
    struct foreign_write_scan scan; /* used by the writer only, as the next one */
    struct over_capacity_log over_capacity;
    struct rules rules;
};

/* Fills the table of rules. `metal` (NULL: there are no bare metal nodes) must outlive the
 * products. */
const struct rules *products_open(struct products *products, const struct metal *metal);

/* Call it after the pipeline has been stopped. */
void products_close(struct products *products);

#endif
