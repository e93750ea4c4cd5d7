/* Functions for the files that fill one section's part of struct conf. */
#ifndef BERTH_CONF_FILL_APIS_H
#define BERTH_CONF_FILL_APIS_H

#include "conf/settings.h"

/* Reports in err that the option's item is not `what`. Returns false. */
bool fill_refuse(struct err *err, const struct conf_value *value, const char *what,
                 const char *item);

/* Addresses and mount prefixes of an option of type OPTION_MULTI. */
bool fill_listen(struct conf *conf, const char *section, const char *option,
                 const struct conf_listen **filled, size_t *count_filled,
                 struct err *err) BERTH_MUST_CHECK;
bool fill_prefixes(struct conf *conf, const char *section, const char *option,
                   const struct slice **filled, size_t *count_filled,
                   struct err *err) BERTH_MUST_CHECK;

/* The addresses of an API with options `enabled` and `listen`: none, unless the API is enabled or
 * the command line has an address. */
bool fill_api(struct conf *conf, const char *section, const struct conf_listen **filled,
              size_t *count_filled, bool *is_default, struct err *err) BERTH_MUST_CHECK;

#endif
