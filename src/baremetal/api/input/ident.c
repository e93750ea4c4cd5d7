/* Which texts identify an object, and which may be names. Pure; any thread. */
#include "baremetal/api/input/ident.h"

#include "api/text/python_repr.h"
#include "api/text/uuid_like.h"
#include "base/arena.h"

enum { NAME_MAX_LEN = 255 };

static const char *const RESERVED[] = {"maintenance",     "management", "states",
                                       "vendor_passthru", "detail",     "validate"};

bool ident_is_name(struct slice text)
{
    if (text.len == 0 || text.len > NAME_MAX_LEN)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_other = (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
        if (!is_letter && !is_other)
            return false;
    }
    return true;
}

bool ident_read_uuid(struct arena *arena, struct slice text, struct slice *lower)
{
    if (!uuid_like_is_dashed(text))
        return false;
    char dashed[UUID_LIKE_LEN];
    check(uuid_like_read(text, dashed));
    *lower = slice_equal(text, (struct slice){dashed, UUID_LIKE_LEN})
                 ? text
                 : arena_copy(arena, (struct slice){dashed, UUID_LIKE_LEN});
    return true;
}

struct ident ident_read(struct arena *arena, struct slice text)
{
    struct slice uuid;
    if (ident_read_uuid(arena, text, &uuid))
        return (struct ident){IDENT_UUID, uuid};
    if (uuid_like_read(text, NULL))
        return (struct ident){IDENT_NOBODY, text};
    return (struct ident){ident_is_name(text) ? IDENT_NAME : IDENT_NEITHER, text};
}

static struct slice ident_text_of(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}

static bool ident_refuse(struct err *err, const char *before, struct slice what,
                         const char *between, const json_t *name)
{
    struct buf text = {0};
    buf_append_slice(&text, slice_of(before));
    buf_append_slice(&text, what);
    buf_append_slice(&text, slice_of(between));
    python_str_json(&text, name);
    buf_append_char(&text, '\'');
    struct slice message = arena_copy(err->arena, buf_slice(&text));
    buf_free(&text);
    return err_set_text(err, 400, NULL, message);
}

bool ident_check_allocation_name(const json_t *name, bool is_update, struct err *err)
{
    if (name == NULL || json_is_null(name) ||
        (json_is_string(name) && ident_is_name(ident_text_of(name))))
        return true;
    return ident_refuse(err, "Cannot ", is_update ? SLICE_LIT("update") : SLICE_LIT("create"),
                        " allocation with invalid name '", name);
}

static bool refuse_reserved(struct err *err, struct slice name)
{
    struct buf text = {0};
    buf_append_lit(&text, "The word \"");
    buf_append_slice(&text, name);
    buf_append_lit(&text,
                   "\" is reserved and can not be used as a node name. Reserved words are: ");
    for (size_t i = 0; i < sizeof(RESERVED) / sizeof(RESERVED[0]); i++) {
        if (i > 0)
            buf_append_lit(&text, ", ");
        buf_append_slice(&text, slice_of(RESERVED[i]));
    }
    buf_append_char(&text, '.');
    struct slice message = arena_copy(err->arena, buf_slice(&text));
    buf_free(&text);
    return err_set_text(err, 400, NULL, message);
}

bool ident_check_node_name(const json_t *name, struct slice node, struct err *err)
{
    if (name == NULL || json_is_null(name))
        return true;
    bool is_name = json_is_string(name) && ident_is_name(ident_text_of(name)) &&
                   !uuid_like_read(ident_text_of(name), NULL);
    if (!is_name && node.data == NULL)
        return ident_refuse(err, "Cannot create node with invalid name '", SLICE_LIT(""), "", name);
    if (!is_name)
        return ident_refuse(err, "Node ", node, ": Cannot change name to invalid name '", name);
    for (size_t i = 0; i < sizeof(RESERVED) / sizeof(RESERVED[0]); i++)
        if (slice_equal(ident_text_of(name), slice_of(RESERVED[i])))
            return refuse_reserved(err, ident_text_of(name));
    return true;
}
