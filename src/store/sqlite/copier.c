/* See copier.h. The thread ends with its only checkpoint and uses nothing but the connection, its
 * results and, last, is_done. */
#include "store/sqlite/copier.h"

/* SQLite syncs the file only after everything has been copied, all at once. That wait is better
 * here than in the writer. */
static bool sync_file(struct db *db)
{
    sqlite3_file *file = NULL;
    sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return file != NULL && file->pMethods != NULL &&
           file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) == SQLITE_OK;
}

static void *copy(void *cls)
{
    struct copier *copier = cls;
    int logged = -1;
    int copied = -1;
    int rc = sqlite3_wal_checkpoint_v2(copier->db->handle, "main", SQLITE_CHECKPOINT_PASSIVE,
                                       &logged, &copied);
    copier->sync_failed |= sqlite3_extended_errcode(copier->db->handle) == SQLITE_IOERR_FSYNC ||
                           !sync_file(copier->db);
    copier->left_frames = rc == SQLITE_OK ? logged - copied : -1;
    atomic_store(&copier->is_done, true);
    return NULL;
}

bool copier_start(struct copier *copier, struct db *db)
{
    check(!copier->is_started);
    copier->db = db;
    atomic_store(&copier->is_done, false);
    copier->is_started = pthread_create(&copier->thread, NULL, copy, copier) == 0;
    return copier->is_started;
}

bool copier_is_busy(struct copier *copier)
{
    if (copier->is_started && atomic_load(&copier->is_done))
        copier_wait(copier);
    return copier->is_started;
}

void copier_wait(struct copier *copier)
{
    if (copier->is_started)
        check(pthread_join(copier->thread, NULL) == 0);
    copier->is_started = false;
}
