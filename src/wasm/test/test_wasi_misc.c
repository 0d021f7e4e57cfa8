/* SPDX-License-Identifier: Apache-2.0 */
#include "wasm/test/wasi_test.h"

/* The table, arguments, environment, clocks, random bytes and the end of a program. */

TEST(table_is_the_witx)
{
    /* The functions of wasi_snapshot_preview1 with their parameters, from wasi-libc's own declarations. */
    static const char *const want[] = {
        "args_get ii",
        "args_sizes_get ii",
        "clock_res_get ii",
        "clock_time_get iIi",
        "environ_get ii",
        "environ_sizes_get ii",
        "fd_advise iIIi",
        "fd_allocate iII",
        "fd_close i",
        "fd_datasync i",
        "fd_fdstat_get ii",
        "fd_fdstat_set_flags ii",
        "fd_fdstat_set_rights iII",
        "fd_filestat_get ii",
        "fd_filestat_set_size iI",
        "fd_filestat_set_times iIIi",
        "fd_pread iiiIi",
        "fd_prestat_dir_name iii",
        "fd_prestat_get ii",
        "fd_pwrite iiiIi",
        "fd_read iiii",
        "fd_readdir iiiIi",
        "fd_renumber ii",
        "fd_seek iIii",
        "fd_sync i",
        "fd_tell ii",
        "fd_write iiii",
        "path_create_directory iii",
        "path_filestat_get iiiii",
        "path_filestat_set_times iiiiIIi",
        "path_link iiiiiii",
        "path_open iiiiiIIii",
        "path_readlink iiiiii",
        "path_remove_directory iii",
        "path_rename iiiiii",
        "path_symlink iiiii",
        "path_unlink_file iii",
        "poll_oneoff iiii",
        "proc_raise i",
        "random_get ii",
        "sched_yield ",
        "sock_accept iii",
        "sock_recv iiiiii",
        "sock_send iiiii",
        "sock_shutdown ii",
        "proc_exit i", /* which returns nothing */
    };
    size_t n = 0;
    for (size_t i = 0; i < wasi_n_calls; i++) {
        const struct wasi_call *c = &wasi_calls[i];
        char line[64];
        (void)snprintf(line, sizeof line, "%s %s", c->name, c->params);
        CHECK_INT(c->returns, strcmp(c->name, "proc_exit") != 0);
        if (strcmp(c->module, PREVIEW1) != 0) {
            CHECK_C(c->module, HOST);
            continue;
        }
        if (CHECK(n < sizeof want / sizeof *want))
            CHECK_C(line, want[n]);
        n++;
    }
    CHECK_INT(n, sizeof want / sizeof *want);
    CHECK_INT(wasi_n_calls - n, 32);
}

static void arguments(struct prog *g)
{
    CHECK_INT(CALL(g, args_sizes_get, 64, 68), 0);
    CHECK_INT(get32(g, 64), 2);
    CHECK_INT(get32(g, 68), 17);
    CHECK_INT(CALL(g, args_get, 64, 128), 0);
    CHECK_INT(get32(g, 64), 128);
    CHECK_INT(get32(g, 68), 133);
    CHECK_C((char *)g->mem + 128, "prog");
    CHECK_C((char *)g->mem + 133, "an argument");
    CHECK_INT(CALL(g, args_get, MEM_BYTES - 4, 128), E_FAULT);
    CHECK_INT(CALL(g, args_get, 64, MEM_BYTES - 16), E_FAULT);
    CHECK_INT(CALL(g, args_get, 64, MEM_BYTES - 17), 0);
    CHECK_INT(CALL(g, environ_sizes_get, 64, 68), 0);
    CHECK_INT(get32(g, 64), 1);
    CHECK_INT(get32(g, 68), 16);
    CHECK_INT(CALL(g, environ_get, 64, 128), 0);
    CHECK_C((char *)g->mem + 128, "HOME=/home/user");
}

TEST(arguments_and_environment)
{
    run_prog(arguments, "");
}

static void clocks(struct prog *g)
{
    for (uint32_t id = 0; id < 4; id++) {
        CHECK_INT(CALL(g, clock_res_get, id, 8), 0);
        CHECK_INT(get64(g, 8), 1);
        CHECK_INT(CALL(g, clock_time_get, id, 1, 16), 0);
        CHECK_INT(CALL(g, clock_time_get, id, 1, 24), 0);
        CHECK(get64(g, 24) >= get64(g, 16));
    }
    CHECK_INT(CALL(g, clock_res_get, 4, 8), E_INVAL);
    CHECK_INT(CALL(g, clock_time_get, 4, 1, 16), E_INVAL);
    CHECK_INT(CALL(g, clock_time_get, 0, 1, MEM_BYTES - 7), E_FAULT);
    CHECK_INT(CALL(g, random_get, 64, 32), 0);
    uint64_t a = get64(g, 64), b = get64(g, 72);
    CHECK(a != b);
    CHECK_INT(CALL(g, random_get, MEM_BYTES - 8, 9), E_FAULT);
    CHECK_INT(CALL(g, random_get, 0, MEM_BYTES + 1), E_FAULT);
    CHECK_INT(CALL(g, random_get, MEM_BYTES, 0), 0);
}

TEST(clocks_and_random)
{
    run_prog(clocks, "");
}

static void hello(struct prog *g)
{
    CHECK_INT(write_text(g, 1, "hello "), 6);
    CHECK_INT(write_text(g, 2, "world\n"), 6);
    CHECK_INT(call_v(g, PREVIEW1, "sched_yield", NULL, 0), 0);
    CHECK_INT(CALL(g, sock_recv, 1, 0, 0, 0, 0, 0), E_NOTSOCK);
    CHECK_INT(CALL(g, sock_send, 9, 0, 0, 0, 0), E_BADF);
    CHECK_INT(CALL(g, sock_accept, 0, 0, 0), E_NOTSOCK);
    CHECK_INT(CALL(g, sock_shutdown, 3, 0), E_NOTSOCK);
    CHECK_INT(CALL(g, proc_exit, 42), WASI_END);
    CHECK_INT(g->w.end, WASI_EXITED);
}

TEST(hello_and_exit)
{
    CHECK_INT(run_prog(hello, "hello world\n").code, 42);
}

static void raised(struct prog *g)
{
    CHECK_INT(CALL(g, proc_raise, 0), 0);
    CHECK_INT(CALL(g, proc_raise, 31), E_INVAL);
    CHECK_INT(CALL(g, proc_raise, 16), 0); /* CHLD, which is 17 in Linux, and harmless */
    CHECK_INT(CALL(g, proc_raise, 15), WASI_END);
    CHECK_INT(g->w.end, WASI_KILLED);
}

TEST(raise_ends_by_its_signal)
{
    struct outcome o = run_prog(raised, "");
    CHECK_INT(o.kind, OUTCOME_KILLED);
    CHECK_INT(o.signal, 15);
}
