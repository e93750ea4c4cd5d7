/* Sets one member of a JSON text. Any thread. */
#include "baremetal/write/instance_info.h"

#include <jansson.h>

#include "baremetal/write/json_text.h"
#include "model/record.h"

struct slice instance_info_with_traits(struct slice info, struct slice traits, struct arena *arena)
{
    json_error_t error;
    json_t *object = json_loadb(info.data, info.len, JSON_ALLOW_NUL, &error);
    json_t *list = json_array();
    struct slice trait;
    if (!json_is_object(object)) { /* only another program can have written it */
        json_decref(object);
        object = json_object();
    }
    while (record_next_word(&traits, &trait))
        json_array_append_new(list, json_stringn(trait.data, trait.len));
    json_object_set_new(object, "traits", list);
    struct slice text = json_text(object, arena);
    json_decref(object);
    return text;
}
