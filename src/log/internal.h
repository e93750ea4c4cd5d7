/* What the log's files share. The way of a line:
 *
 *     log.c         record → route of its logger → each handler's format → the thread's buffer of
 *                   the handler's output → (at once, or by the flusher of run.c) the output
 *     config.c  settings → outputs, compiled formats, loggers
 *     format.c  format strings → programs;  render.c, json.c run them
 *     output.c  descriptors;  file.c, rotate.c files;  queue.c with syslog.c
 * and journal.c datagrams, each with a thread of its own */
#ifndef BERTH_LOG_INTERNAL_H
#define BERTH_LOG_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "log/log.h"
#include "log/settings.h"

enum {
    LOG_LEVELS = 5,
    LOG_TIME_MAX = 256, /* length of a formatted date; checked when the format is compiled */
    LOG_DATAGRAM_TEXT_MAX = 8 * 1024, /* of one line to syslog: rsyslog's own limit */
    LOG_JOURNAL_TEXT_MAX = 48 * 1024  /* journald's LineMax */
};

struct log_record {
    enum log_level level;
    struct slice logger;
    const struct log_place *place;
    const struct log_context *context; /* NULL: none */
    const struct log_message *message;
    int64_t wall_us;
};

/* The text of one second in one date format. */
struct log_time {
    int64_t second; /* -1: none yet */
    size_t len;
    char text[LOG_TIME_MAX];
};

/* State that a thread keeps for formatting its lines. */
struct log_scratch {
    struct log_time times[LOG_HANDLERS_MAX]; /* by the number of the format */
    int process_id;
    int64_t thread_id;
    char thread_name[16];
};

/* format.c: a compiled format, in the arena it was compiled into. */
struct log_format;

/* A key that no record has. */
struct log_unknown_key {
    const char *format; /* the number of one of the settings' strings */
    struct slice key;
    struct log_unknown_key *next;
};

/* `number` is below LOG_HANDLERS_MAX, one for each format of a configuration. Keys that no record
 * has are added to *unknown: nothing is written for them. NULL: err names the malformed string and
 * the position. */
struct log_format *log_format_compile(const struct log_format_settings *settings, bool color,
                                      unsigned number, struct arena *arena,
                                      struct log_unknown_key **unknown,
                                      struct err *err) BERTH_MUST_CHECK;

/* Appends the line, without an end of line. `scratch` is the calling thread's. */
void log_format_render(const struct log_format *format, const struct log_record *record,
                       struct log_scratch *scratch, struct buf *out);

/* json.c */
void log_json_render(const struct log_record *record, struct slice date, struct slice hostname,
                     struct log_scratch *scratch, struct buf *out);

/* value.c: single values of records. */

/* Appends text from outside: control characters and malformed UTF-8 as \xNN, so that it can neither
 * forge another line nor make the log a binary file. */
void log_append_escaped(struct buf *out, struct slice text);

struct slice log_place_path(const struct log_place *place);
struct slice log_place_file(const struct log_place *place);
struct slice log_place_module(const struct log_place *place);
const char *log_level_name(enum log_level level);
int log_level_number(enum log_level level);
void log_append_message(struct buf *out, const struct log_message *message);

/* Appends the roles as Python prints a list. */
void log_append_roles(struct buf *out, const struct log_context *context);

/* Microseconds since the log was first used. */
int64_t log_relative_us(int64_t wall_us);

/* rotate.c: when a file is rotated, and the names and removal of older ones. */
int64_t log_rotate_next(const struct log_rotation_settings *rotation, int64_t from_s);
int64_t log_rotate_after(const struct log_rotation_settings *rotation, int64_t now_s);

/* The suffix for the file that was written until `due_s`. */
void log_rotate_suffix(const struct log_rotation_settings *rotation, int64_t due_s, int64_t now_s,
                       char out[32]);

/* Renames the file and removes those that are too old. False: the file was not renamed; errno has
 * the reason. Rotation by time never overwrites an existing file: EEXIST. */
bool log_rotate_by_size(const char *path, unsigned keep);
bool log_rotate_by_time(const char *path, const struct log_rotation_settings *rotation,
                        int64_t due_s, int64_t now_s);

/* file.c: a file that is reopened when it was moved. Protected by its output's lock. */
struct log_file {
    char *path;
    int fd; /* -1: it no longer exists and could not be opened again */
    dev_t device;
    ino_t inode;
    bool is_regular;
    struct log_rotation_settings rotation;
    int64_t due_s;    /* of the next rotation by time */
    int64_t opened_s; /* time of the last failure to open it */
    int64_t turned_s; /* time of the last failure to rotate it */
    int open_error;   /* errno of the current failure; 0: none */
    int rotate_error;
};

bool log_file_open(struct log_file *file, const char *path,
                   const struct log_rotation_settings *rotation, int64_t now_s,
                   struct err *err) BERTH_MUST_CHECK;
void log_file_close(struct log_file *file);

/* Reopens the path if it is another file by now, or (`always`) in any case. */
void log_file_follow(struct log_file *file, bool always, int64_t now_s);

/* Prepares the file for lines and returns how many bytes of them may be written now: whole lines,
 * at least one. */
size_t log_file_ready(struct log_file *file, struct slice lines, int64_t now_s);

/* queue.c: frames for a thread that may have to wait. A frame is one line; it has fields, of which
 * a datagram to syslog has one. */
struct log_queue;

/* Begins a frame at the end of `out`; fields follow; log_frame_end completes it. */
size_t log_frame_begin(struct buf *out);
size_t log_field_begin(struct buf *out);
void log_field_end(struct buf *out, size_t begin);
void log_frame_end(struct buf *out, size_t begin);

/* Shortens the text after `begin` to at most `max` bytes, at the end of a character. */
void log_cut(struct buf *out, size_t begin, size_t max);

enum { LOG_FIELDS_MAX = 24, LOG_QUEUE_BYTES = 4 * 1024 * 1024, LOG_QUEUE_STOP_MS = 2000 };

/* Sends one line; false: it is lost. On the queue's thread; may wait. */
typedef bool log_send(void *sender, const struct slice *fields, size_t count);

/* The queue owns the sender from now on; `end` frees it. */
struct log_queue *log_queue_start(log_send *send, void (*end)(void *sender), void *sender);

/* Accepts whole frames, or drops those that do not fit. Any thread. */
void log_queue_push(struct log_queue *queue, struct slice frames);

/* Sends pending frames for at most LOG_QUEUE_STOP_MS; a thread that hangs is abandoned. */
void log_queue_stop(struct log_queue *queue);

/* syslog.c: NULL: the host is unknown, and err is set. A missing socket is not an error. */
void *log_syslog_open(const struct log_handler_settings *settings, struct err *err);
bool log_syslog_send(void *sender, const struct slice *fields, size_t count);
void log_syslog_end(void *sender);

/* The frame of a line. */
struct log_syslog_form {
    int facility;
    struct slice identity;
    bool raw; /* LOG_TO_SYSLOGD */
};

void log_syslog_render(const struct log_syslog_form *form, const struct log_format *format,
                       const struct log_record *record, struct log_scratch *scratch,
                       struct buf *out);

/* journal.c */
bool log_journal_send(void *sender, const struct slice *fields, size_t count);
void log_journal_render(int facility, struct slice identity, const struct log_format *format,
                        const struct log_record *record, struct log_scratch *scratch,
                        struct buf *out);

/* Priority as in syslog. */
int log_level_priority(enum log_level level);

/* output.c: the destinations of gathered bytes. One output may have several handlers. */
struct log_output;

struct log_output *log_output_open(const struct log_handler_settings *settings, struct err *err);

/* Whether a handler with these settings writes to that output, too. */
bool log_output_is(const struct log_output *output, const struct log_handler_settings *settings);
void log_output_close(struct log_output *output);

/* Ends the output's thread, if it has one, after it has sent what is left. */
void log_output_stop(struct log_output *output);

/* Between begin and end, the caller has exclusive use of the output; others wait. Any thread. */
void log_output_begin(struct log_output *output);
void log_output_end(struct log_output *output);

/* Writes whole lines or frames, or drops some. */
void log_output_write(struct log_output *output, struct slice lines);

/* Whether the last write succeeded, as far as is known. Any thread. */
bool log_output_is_well(struct log_output *output);

/* Whether the output is a file with a new problem to report: what cannot be done with it and why
 * (errno). Any thread. */
bool log_output_complains(struct log_output *output, const char **what, const char **path,
                          int *error);

/* Checks the file, if it is one, as log_file_follow does. Any thread. */
void log_output_follow(struct log_output *output, bool always);

void log_count_lost(size_t bytes);

/* config.c: the configuration in force. It never changes, except for the rate limit's counters. */
struct log_handler {
    enum log_destination to;
    int level;
    unsigned output; /* index */
    const struct log_format *format;
    struct log_syslog_form syslog;
};

/* Handlers and outputs are kept when only levels change. */
struct log_sinks {
    struct arena *arena;
    struct log_handler handlers[LOG_HANDLERS_MAX];
    size_t handler_count;
    struct log_output *outputs[LOG_HANDLERS_MAX];
    size_t output_count;
    struct log_unknown_key *unknown;
};

struct log_logger {
    struct slice name;
    int level;
    bool stops;
    unsigned char handlers[LOG_HANDLERS_MAX];
    size_t handler_count;
};

struct log_rate {
    pthread_mutex_t lock;
    struct log_rate_settings settings;
    unsigned count;
    uint64_t end_us;
};

struct log_config {
    struct arena *arena;
    struct log_sinks *sinks;
    struct log_rate *rate;            /* lives with the sinks */
    const struct log_logger *loggers; /* the first is the root */
    size_t logger_count;
    int lowest; /* all loggers drop lines whose level is below this number */
};

/* The path of a logger's lines: every handler that they reach, possibly twice, as in Python. */
struct log_route {
    int level;
    unsigned char handlers[2 * LOG_HANDLERS_MAX];
    size_t handler_count;
};

/* to_journal: a descriptor that reaches the journal becomes LOG_TO_JOURNAL. */
struct log_config *log_config_create(const struct log_settings *settings, bool to_journal,
                                     struct err *err) BERTH_MUST_CHECK;

/* Other levels with the same sinks, which both configurations share. */
struct log_config *log_config_with_levels(const struct log_config *config,
                                          const struct log_logger_settings *loggers,
                                          size_t logger_count);
struct log_config *log_config_with_root_level(const struct log_config *config, int level);

/* Frees the configuration, and its outputs if `sinks` is true. */
void log_config_destroy(struct log_config *config, bool sinks);

struct log_route log_config_route(const struct log_config *config, struct slice logger);

/* recent.c: stores a copy. */
void log_recent_add(const struct log_record *record);

/* rate.c */
enum log_rate_verdict { LOG_RATE_PASS, LOG_RATE_DROP, LOG_RATE_DROP_AND_TELL };

void log_rate_init(struct log_rate *rate, const struct log_rate_settings *settings,
                   uint64_t now_us);
enum log_rate_verdict log_rate_ask(struct log_rate *rate, int level, uint64_t now_us);

/* log.c and run.c: the lines of each thread, and the code that collects them. */
enum { LOG_ROUTES = 16 };

/* A logger's route, cached by a thread. */
struct log_known_route {
    const char *logger;
    struct log_route route;
};

struct log_gatherer {
    pthread_mutex_t lock;
    struct log_config *config;
    struct buf lines[LOG_HANDLERS_MAX]; /* by output */
    struct log_scratch scratch;
    struct log_known_route routes[LOG_ROUTES];
    struct log_gatherer *next;
};

/* The configuration in force, and the threads that log. */
struct log_state {
    pthread_rwlock_t config_lock; /* while locked shared, nobody frees the configuration */
    pthread_mutex_t lock;         /* protects the list and the flusher */
    pthread_cond_t wake;
    struct log_gatherer *first;
    struct log_config *config;
    pthread_t flusher;
    bool stopping;
    atomic_bool running;
    atomic_int lowest; /* the configuration's */
};

extern struct log_state log_state;

/* Makes the first configuration, standard error, if there is none. */
void log_run_once(void);

void log_begin_shared(void);
void log_end_shared(void);

/* Writes the lines and empties the buffer. Between log_output_begin and _end. */
void log_flush_lines(struct log_output *output, struct buf *lines);

void log_forget_times(struct log_scratch *scratch);

#endif
