/* Which row a server has refused, in each language of its messages. */
#include "changes.h"

#include <stdio.h>

/* ---- culprits ---- */

static const char *const LANGUAGES[] = {
    "en_US", "bg_BG", "cs_CZ", "da_DK", "nl_NL", "et_EE", "fr_FR", "ka_GE", "de_DE",
    "el_GR", "hi_IN", "hu_HU", "it_IT", "ja_JP", "ko_KR", "no_NO", "pl_PL", "pt_PT",
    "ro_RO", "ru_RU", "sr_RS", "sk_SK", "es_ES", "sv_SE", "uk_UA", "zh_CN",
};

static void test_languages(void **state)
{
    struct server server;
    char sql[60];
    (void)state;
    begin(&server, "utf8mb3");
    bool is_mariadb = strstr(value_of(&server, "SELECT VERSION()"), "MariaDB") != NULL;
    for (size_t i = 0; i < sizeof(LANGUAGES) / sizeof(LANGUAGES[0]); i++) {
        if (!is_mariadb && strcmp(LANGUAGES[i], "ka_GE") == 0)
            continue; /* MySQL does not know it */
        snprintf(sql, sizeof(sql), "SET lc_messages='%s'", LANGUAGES[i]);
        run(server.mysql, sql);
        add_name(&server, CHANGE_TRAIT_INSERT, 10, SLICE_LIT("new"));
        add_name(&server, CHANGE_TRAIT_INSERT, 11, SLICE_LIT("TRAIT-2 ")); /* collates equal */
        add_name(&server, CHANGE_TRAIT_INSERT, 12, SLICE_LIT("newer"));
        expect_culprit(&server, MARIADB_ROW_DUPLICATE, 1, 1);
        add_inventory(&server, CHANGE_INVENTORY_INSERT, 3, 3, 1, 1);
        add_inventory(&server, CHANGE_INVENTORY_INSERT, 1, 2, 1, 1);
        expect_culprit(&server, MARIADB_ROW_DUPLICATE, 1, 1);
        add_name(&server, CHANGE_TRAIT_INSERT, 10, SLICE_LIT("new"));
        add_name(&server, CHANGE_TRAIT_INSERT, 11, arena_printf(server.arena, "%0256d", 7));
        expect_culprit(&server, MARIADB_ROW_TOO_LONG, 1, 1);
        add_name(&server, CHANGE_TRAIT_INSERT, 10, SLICE_LIT("new"));
        add_name(&server, CHANGE_TRAIT_INSERT, 11, SLICE_LIT("a\xf0\x9f\x98\x80 1"));
        expect_culprit(&server, MARIADB_ROW_WRONG_FIELD_VALUE, 1, 1);
        add_inventory(&server, CHANGE_INVENTORY_INSERT, 3, 3, 1, 1);
        add_inventory(&server, CHANGE_INVENTORY_INSERT, 2, 3, 1, 1e39);
        expect_culprit(&server, MARIADB_ROW_OUT_OF_RANGE, 1, 1);
        add_link(&server, CHANGE_PROVIDER_TRAIT_INSERT, 1, 2);
        add_link(&server, CHANGE_PROVIDER_TRAIT_INSERT, 1, 9);
        add_link(&server, CHANGE_PROVIDER_TRAIT_INSERT, 1, 8);
        expect_culprit(&server, MARIADB_ROW_REFERENCE, SIZE_MAX, 1);
        add_consumer(&server, CHANGE_CONSUMER_INSERT, 20, 0, 0);
        add_consumer(&server, CHANGE_CONSUMER_INSERT, 21, 0, 0)->consumer.type_id = 9;
        add_consumer(&server, CHANGE_CONSUMER_INSERT, 22, 0, 0)->consumer.type_id = 9;
        expect_culprit(&server, MARIADB_ROW_REFERENCE, 1, 1);
        add_provider_delete(&server, 3, 3); /* has traits */
        struct outcome outcome = commit(&server);
        assert_int_equal(outcome.error, MARIADB_ROW_REFERRED);
        assert_int_equal(outcome.culprit, 0);
        assert_int_equal(outcome.result, 2);
    }
    server_end(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_languages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
