/* One row for each product, in the order in which clients see their errors. */
#include "products/products.h"

#include "baremetal/write/node_rule.h"
#include "placement/write/capacity_rule.h"
#include "valet/write/valet_rule.h"

const struct rules *products_open(struct products *products, const struct metal *metal)
{
    *products = (struct products){
        .rules =
            {
                .count = 3,
                .rows =
                    {
                        {&capacity_rule, &products->over_capacity},
                        {&valet_rule, &products->scan},
                        {&node_rule, (void *)(uintptr_t)metal},
                    },
            },
    };
    return &products->rules;
}

void products_close(struct products *products)
{
    foreign_write_scan_free(&products->scan);
}
