/* Groups and their parts as the search gets them, and texts of conflicts. The errors are in the API
 * tests. */
#include "api/api.h"
#include "api/fake_request.h"
#include "placement/api/candidates_parameters.h"
#include "unit.h"

static const struct api API = {0};

static void append_names(struct buf *out, const char *word, const struct ac_names *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        buf_append_slice(out, i == 0 ? slice_of(word) : SLICE_LIT(","));
        buf_append_slice(out, names->names[i]);
    }
}

/* [suffix class*amount required:A|B forbidden:C member:X,Y not:Z tree:T] for each group */
static void append_group(struct buf *out, const struct ac_group *group)
{
    buf_append_char(out, '[');
    buf_append_slice(out, group->suffix);
    for (uint32_t i = 0; i < group->resource_count; i++) {
        buf_append_char(out, ' ');
        buf_append_slice(out, group->resources[i].class_name);
        buf_append_char(out, '*');
        buf_append_int(out, group->resources[i].amount);
    }
    for (uint32_t i = 0; i < group->required_count; i++)
        append_names(out, " required:", &group->required[i]);
    append_names(out, " forbidden:", &group->forbidden);
    for (uint32_t i = 0; i < group->member_of_count; i++)
        append_names(out, " member:", &group->member_of[i]);
    append_names(out, " not:", &group->forbidden_aggregates);
    if (group->in_tree.data != NULL) {
        buf_append_lit(out, " tree:");
        buf_append_slice(out, group->in_tree);
    }
    buf_append_char(out, ']');
}

static void assert_read(unsigned minor, struct slice query, const char *want)
{
    struct fake_request fake;
    fake_request_open(&fake, &API);
    fake.request.minor = minor;
    fake.request.query = query;
    struct ac_request got;
    struct buf text = {0};
    if (candidates_parameters_read(&fake.request, &got)) {
        for (uint32_t i = 0; i < got.group_count; i++)
            append_group(&text, &got.groups[i]);
        for (uint32_t i = 0; i < got.same_subtree_count; i++)
            append_names(&text, " subtree:", &got.same_subtrees[i]);
        append_names(&text, " root:", &got.root_required);
        append_names(&text, " rootless:", &got.root_forbidden);
        if (got.limit >= 0)
            buf_printf(&text, " limit:%lld", (long long)got.limit);
        if (got.isolate)
            buf_append_lit(&text, " isolate");
    } else {
        assert_int_equal(fake.request.err.status, 400);
        buf_append_slice(&text, fake.request.err.message);
    }
    buf_append_char(&text, '\0');
    assert_string_equal(text.data, want);
    buf_free(&text);
    fake_request_close(&fake);
}

#define READ(minor, query, want) assert_read(minor, SLICE_LIT(query), want)
#define AGG_1                    "aaaaaaaa-0000-4000-8000-000000000001"
#define AGG_2                    "aaaaaaaa-0000-4000-8000-000000000002"

static void groups(void **state)
{
    (void)state;
    READ(10, "resources=VCPU:1,DISK_GB:5", "[ VCPU*1 DISK_GB*5]");
    READ(39, "resources=VCPU:1,DISK_GB:5,VCPU:7", "[ VCPU*7 DISK_GB*5]");
    READ(39, "resources=VCPU:1&resources=DISK_GB:2", "[ DISK_GB*2]");
    READ(39, "resources=VCPU:1&required=A&required=!B,in&required=in:C,D",
         "[ VCPU*1 required:A required:in required:C,D forbidden:B]");
    READ(38, "resources=VCPU:1&required=A&required=B,!C", "[ VCPU*1 required:B forbidden:C]");
    READ(39, "required_x=A&resources_y=VCPU:1&resources_x=VCPU:2&required_y=B&group_policy=isolate",
         "[_x VCPU*2 required:A][_y VCPU*1 required:B] isolate");
    READ(39,
         "resources=VCPU:1&member_of=" AGG_1 "&member_of=!in:" AGG_1 "," AGG_2
         "&member_of=in:" AGG_2 "," AGG_1,
         "[ VCPU*1 member:" AGG_1 " member:" AGG_2 "," AGG_1 " not:" AGG_1 "," AGG_2 "]");
    READ(39, "resources=VCPU:1&in_tree=" AGG_1 "&limit=7", "[ VCPU*1 tree:" AGG_1 "] limit:7");
    READ(39, "resources=VCPU:1&root_required=A,!B,C", "[ VCPU*1] root:A,C rootless:B");
    READ(36, "resources_a=VCPU:1&required_b=T&same_subtree=_a,_b,_a&group_policy=none",
         "[_a VCPU*1][_b required:T] subtree:_a,_b");
}

static void conflicts(void **state)
{
    (void)state;
    READ(39, "resources=VCPU:1&root_required=B,!A,A,!B,A",
         "Conflicting required and forbidden traits found in root_required: B, A");
    READ(39, "resources=VCPU:1&required=in:Z,A&required=!A,!Z&resources_1=VCPU:1&required_1=B,!B",
         "Conflicting required and forbidden traits found in the following traits keys: "
         "required: (A, Z), required_1: (B)");
    READ(39, "resources=VCPU:1&required=in:Z,A&required=!A", "[ VCPU*1 required:Z,A forbidden:A]");
    READ(36, "resources_a=VCPU:1&required_b=T&required_c=T&same_subtree=_b",
         "Resourceless suffixed group request should be specified in `same_subtree` query param: "
         "bad group(s) - ['_c'].");
    READ(36, "resources_a=VCPU:1&same_subtree=_a,_x,_y,_x&same_subtree=_y,_z",
         "Real suffixes should be specified in `same_subtree`: ['_x', '_y', '_z'] not found in "
         "['_a'].");
    READ(
        36, "resources_a=VCPU:1&same_subtree=_a,it's,%5C%01",
        "Real suffixes should be specified in `same_subtree`: [\"it's\", '\\\\\\x01'] not found in "
        "['_a'].");
}

static void amounts(void **state)
{
    (void)state;
    READ(39, "resources=VCPU:+1_0%20", "[ VCPU*10]");
    READ(39, "resources=VCPU:0", "Requested resource VCPU requires amount >= 1. Got: 0.");
    READ(39, "resources=VCPU:-007", "Requested resource VCPU requires amount >= 1. Got: -7.");
    READ(39, "resources=VCPU:%20-99999999999999999999",
         "Requested resource VCPU requires amount >= 1. Got: -99999999999999999999.");
    READ(39, "resources=VCPU:x",
         "Requested resource VCPU expected positive integer amount. Got: x.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups),
        cmocka_unit_test(conflicts),
        cmocka_unit_test(amounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
