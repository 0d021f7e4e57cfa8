/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * wasi_calls_int - every host function: its name, parameters and kind. wasi_table.c makes the table of it. The function
 * of NAME is wasi__NAME(), that of our own module wasi__host_NAME().
 */

#include "wasm/wasi.h"

/* X(NAME, PARAMETERS, KIND): wasi_snapshot_preview1, as the witx has them; what returns nothing stands apart. */
#define WASI_PREVIEW1_VOID(X) X(proc_exit, "i", WASI_PLAIN)
#define WASI_PREVIEW1(X)                                                                                               \
    X(args_get, "ii", WASI_PLAIN)                                                                                      \
    X(args_sizes_get, "ii", WASI_PLAIN)                                                                                \
    X(clock_res_get, "ii", WASI_PLAIN)                                                                                 \
    X(clock_time_get, "iIi", WASI_WAITS)                                                                               \
    X(environ_get, "ii", WASI_PLAIN)                                                                                   \
    X(environ_sizes_get, "ii", WASI_PLAIN)                                                                             \
    X(fd_advise, "iIIi", WASI_PLAIN)                                                                                   \
    X(fd_allocate, "iII", WASI_PLAIN)                                                                                  \
    X(fd_close, "i", WASI_PLAIN)                                                                                       \
    X(fd_datasync, "i", WASI_PLAIN)                                                                                    \
    X(fd_fdstat_get, "ii", WASI_PLAIN)                                                                                 \
    X(fd_fdstat_set_flags, "ii", WASI_PLAIN)                                                                           \
    X(fd_fdstat_set_rights, "iII", WASI_PLAIN)                                                                         \
    X(fd_filestat_get, "ii", WASI_WAITS)                                                                               \
    X(fd_filestat_set_size, "iI", WASI_PLAIN)                                                                          \
    X(fd_filestat_set_times, "iIIi", WASI_PLAIN)                                                                       \
    X(fd_pread, "iiiIi", WASI_WAITS)                                                                                   \
    X(fd_prestat_dir_name, "iii", WASI_PLAIN)                                                                          \
    X(fd_prestat_get, "ii", WASI_PLAIN)                                                                                \
    X(fd_pwrite, "iiiIi", WASI_WAITS)                                                                                  \
    X(fd_read, "iiii", WASI_WAITS)                                                                                     \
    X(fd_readdir, "iiiIi", WASI_WAITS)                                                                                 \
    X(fd_renumber, "ii", WASI_PLAIN)                                                                                   \
    X(fd_seek, "iIii", WASI_PLAIN)                                                                                     \
    X(fd_sync, "i", WASI_PLAIN)                                                                                        \
    X(fd_tell, "ii", WASI_PLAIN)                                                                                       \
    X(fd_write, "iiii", WASI_WAITS)                                                                                    \
    X(path_create_directory, "iii", WASI_WAITS)                                                                        \
    X(path_filestat_get, "iiiii", WASI_WAITS)                                                                          \
    X(path_filestat_set_times, "iiiiIIi", WASI_WAITS)                                                                  \
    X(path_link, "iiiiiii", WASI_WAITS)                                                                                \
    X(path_open, "iiiiiIIii", WASI_WAITS)                                                                              \
    X(path_readlink, "iiiiii", WASI_WAITS)                                                                             \
    X(path_remove_directory, "iii", WASI_WAITS)                                                                        \
    X(path_rename, "iiiiii", WASI_WAITS)                                                                               \
    X(path_symlink, "iiiii", WASI_WAITS)                                                                               \
    X(path_unlink_file, "iii", WASI_WAITS)                                                                             \
    X(poll_oneoff, "iiii", WASI_WAITS)                                                                                 \
    X(proc_raise, "i", WASI_WAITS)                                                                                     \
    X(random_get, "ii", WASI_WAITS)                                                                                    \
    X(sched_yield, "", WASI_WAITS)                                                                                     \
    X(sock_accept, "iii", WASI_PLAIN)                                                                                  \
    X(sock_recv, "iiiiii", WASI_PLAIN)                                                                                 \
    X(sock_send, "iiiii", WASI_PLAIN)                                                                                  \
    X(sock_shutdown, "ii", WASI_PLAIN)

/* The same of frontal_sandbox_1 (docs/internals/host-imports.md). */
#define WASI_HOST(X)                                                                                                   \
    X(spawn, "iiiiiiiiii", WASI_WAITS)                                                                                 \
    X(wait, "iiii", WASI_WAITS)                                                                                        \
    X(exec, "iiiiiii", WASI_WAITS)                                                                                     \
    X(kill, "ii", WASI_WAITS)                                                                                          \
    X(sig_disposition, "ii", WASI_PLAIN)                                                                               \
    X(ids, "i", WASI_PLAIN)                                                                                            \
    X(umask, "ii", WASI_PLAIN)                                                                                         \
    X(cpu_times, "i", WASI_PLAIN)                                                                                      \
    X(pipe, "ii", WASI_PLAIN)                                                                                          \
    X(dup, "iiii", WASI_PLAIN)                                                                                         \
    X(dup2, "iii", WASI_PLAIN)                                                                                         \
    X(cloexec, "iii", WASI_PLAIN)                                                                                      \
    X(isatty, "i", WASI_PLAIN)                                                                                         \
    X(tty_size, "ii", WASI_PLAIN)                                                                                      \
    X(create_mode, "i", WASI_PLAIN)                                                                                    \
    X(stat, "iiiii", WASI_WAITS)                                                                                       \
    X(fstat, "ii", WASI_WAITS)                                                                                         \
    X(chmod, "iiii", WASI_WAITS)                                                                                       \
    X(fchmod, "ii", WASI_PLAIN)                                                                                        \
    X(chown, "iiiiii", WASI_WAITS)                                                                                     \
    X(fchown, "iii", WASI_PLAIN)                                                                                       \
    X(utimens, "iiiiII", WASI_WAITS)                                                                                   \
    X(futimens, "iII", WASI_PLAIN)                                                                                     \
    X(access, "iiiii", WASI_WAITS)                                                                                     \
    X(mkfifo, "iii", WASI_WAITS)                                                                                       \
    X(chdir, "ii", WASI_WAITS)                                                                                         \
    X(fchdir, "i", WASI_PLAIN)                                                                                         \
    X(getcwd, "iii", WASI_PLAIN)                                                                                       \
    X(realpath, "iiiii", WASI_WAITS)                                                                                   \
    X(statfs, "iii", WASI_WAITS)                                                                                       \
    X(hostname, "iii", WASI_PLAIN)                                                                                     \
    X(random_seed, "i", WASI_PLAIN)

#define WASI_DECLARE(name, params, kind) int wasi__##name(struct wasi *w, const uint64_t *args);
WASI_PREVIEW1(WASI_DECLARE)
WASI_PREVIEW1_VOID(WASI_DECLARE)
#undef WASI_DECLARE
#define WASI_DECLARE(name, params, kind) int wasi__host_##name(struct wasi *w, const uint64_t *args);
WASI_HOST(WASI_DECLARE)
#undef WASI_DECLARE
