/* MariaDB's exchanges: see the functions of the same names in store/server/dialect.h. */
#ifndef BERTH_STORE_MARIADB_EXCHANGE_EXCHANGES_H
#define BERTH_STORE_MARIADB_EXCHANGE_EXCHANGES_H

#include "store/mariadb/session/session.h"
#include "store/server/dialect.h"

enum server_outcome mariadb_snapshot_begin(struct server_session *session,
                                           const struct snapshot_question *question,
                                           struct snapshot_answer *answer, uint64_t deadline_us,
                                           struct err *err);
enum server_outcome mariadb_snapshot_ask(struct server_session *session,
                                         const struct foreign_view *view, bool is_view_of_server,
                                         struct question_answer *answer, uint64_t deadline_us,
                                         struct err *err);
enum server_outcome mariadb_snapshot_look(struct server_session *session,
                                          struct snapshot_look *look, uint64_t deadline_us,
                                          struct err *err);
enum server_outcome mariadb_question_ask(struct server_session *session,
                                         const struct question *question,
                                         struct question_answer *answer, uint64_t deadline_us,
                                         struct err *err);
bool mariadb_question_send(struct server_session *session, const struct question *question,
                           struct err *err);
enum server_outcome mariadb_question_receive(struct server_session *session,
                                             const struct question *question,
                                             struct question_answer *answer, struct err *err);
enum server_outcome mariadb_lock_send(struct server_session *session, const struct log_range *since,
                                      struct err *err);
enum server_outcome mariadb_lock_drive(struct server_session *session, struct locked_news *news,
                                       uint64_t until_us, uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_batch_send(struct server_session *session,
                                       const struct server_batch *batch, struct arena *arena,
                                       struct err *err);
enum server_outcome mariadb_batch_drive(struct server_session *session, uint64_t until_us,
                                        uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_batch_receive(struct server_session *session, struct err *err);
bool mariadb_has_failed(const struct server_session *session);
struct server_refusal mariadb_batch_refusal(struct server_session *session, struct slice message,
                                            uint64_t deadline_us);
enum server_outcome mariadb_log_first(struct server_session *session, int64_t number,
                                      struct log_rows *found, uint64_t timeout_us, struct err *err);
enum server_outcome mariadb_lock_wait(struct server_session *session, uint64_t timeout_us,
                                      struct err *err);
enum server_outcome mariadb_lock_leave(struct server_session *session, uint64_t timeout_us,
                                       struct err *err);
enum server_outcome mariadb_number_take(struct server_session *session, const struct log_row *row,
                                        const struct log_state *before, uint64_t timeout_us,
                                        struct err *err);
enum server_outcome mariadb_ids_reserve(struct server_session *session, enum store_table table,
                                        struct id_range *ids, uint64_t deadline_us,
                                        struct err *err);
enum server_outcome mariadb_ids_mend(struct server_session *session, enum store_table of,
                                     int64_t floor, uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_namesakes(struct server_session *session, enum entity entity,
                                      const struct slice texts[static 2], struct arena *arena,
                                      struct namesakes *found, uint64_t deadline_us,
                                      struct err *err);
enum server_outcome mariadb_names_alike(struct server_session *base, enum entity entity,
                                        const struct slice *names, size_t count,
                                        struct arena *arena, struct namesakes *found,
                                        uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_row_holder(struct server_session *session, int64_t provider_id,
                                       struct arena *arena, struct slice *holder,
                                       uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_rows_stream(struct server_session *session, enum rows_table table,
                                        server_take *take, void *cls, uint64_t timeout_us,
                                        struct err *err);
enum server_outcome mariadb_rows_find(struct server_session *session, const struct row_set *sets,
                                      size_t count, server_take *take, void *cls,
                                      uint64_t timeout_us, struct err *err);
enum server_outcome mariadb_rows_examine(struct server_session *session,
                                         struct examination *examination, server_take *take,
                                         void *cls, uint64_t timeout_us, struct err *err);
enum server_outcome mariadb_consumers_find(struct server_session *session,
                                           const struct slice *uuids, size_t count,
                                           consumer_take *take, void *cls, uint64_t timeout_us,
                                           struct err *err);
enum server_outcome mariadb_consumers_create(struct server_session *session,
                                             const struct repair_owner *owner,
                                             const struct slice *uuids, size_t count,
                                             uint64_t *created, uint64_t deadline_us,
                                             struct err *err);
enum server_outcome mariadb_rows_ids(struct server_session *session, enum rows_table table,
                                     struct row_ids *ids, uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_ask_write(struct server_session *session, const struct turn_ask *ask,
                                      uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_ask_delete(struct server_session *session, const struct turn_ask *ask,
                                       uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_asks_read(struct server_session *session, struct turn_asks *asks,
                                      uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_instance_write(struct server_session *session,
                                           const struct instance_row *row, int64_t followed,
                                           uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_instance_delete(struct server_session *session,
                                            const struct instance_row *row, uint64_t deadline_us,
                                            struct err *err);
enum server_outcome mariadb_log_oldest(struct server_session *session, int64_t after, int64_t most,
                                       int64_t before_us, struct log_oldest *oldest,
                                       uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_log_delete(struct server_session *session, int64_t after, int64_t last,
                                       uint64_t *deleted, uint64_t deadline_us, struct err *err);
enum server_outcome mariadb_stalled_end(struct server_session *session, uint64_t least_us,
                                        struct arena *arena, struct stalled *ended,
                                        uint64_t deadline_us, struct err *err);
#endif
