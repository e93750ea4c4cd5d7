/* A reader is opened when a thread first needs one, and closed when the thread ends. Any thread. */
#include "api/services/thread_reader.h"

#include <pthread.h>

static pthread_key_t reader_key;
static pthread_once_t reader_once = PTHREAD_ONCE_INIT;

static void close_reader(void *reader)
{
    replica_reader_close(reader);
}

static void make_reader_key(void)
{
    check(pthread_key_create(&reader_key, close_reader) == 0);
}

struct replica_reader *thread_reader_take(struct replica *replica)
{
    struct replica_reader *reader = thread_reader(replica);
    pthread_setspecific(reader_key, NULL);
    return reader;
}

struct replica_reader *thread_reader(struct replica *replica)
{
    pthread_once(&reader_once, make_reader_key);
    struct replica_reader *reader = pthread_getspecific(reader_key);
    if (reader == NULL) {
        reader = replica_reader_open(replica);
        pthread_setspecific(reader_key, reader);
    }
    return reader;
}
