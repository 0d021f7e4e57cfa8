/* SPDX-License-Identifier: Apache-2.0 */

/* Directories read entry by entry, arguments and environment, clocks, random bytes, polling, what is not there. */

static void listing(void)
{
    __wasi_fd_t d = open_at(ROOT, "work/list", __WASI_OFLAGS_DIRECTORY, DIR_RIGHTS, 0);
    static unsigned char buf[4096];
    __wasi_size_t n = 0, names = 0, dots = 0;
    __wasi_errno_t err = __wasi_fd_readdir(d, buf, sizeof(buf), 0, &n);
    __wasi_dircookie_t last = 0;

    for (__wasi_size_t at = 0; at + sizeof(__wasi_dirent_t) <= n;) {
        __wasi_dirent_t e;

        memcpy(&e, buf + at, sizeof(e));
        at += sizeof(e) + e.d_namlen;
        dots += buf[at - 1] == '.';
        names += buf[at - 1] != '.';
        last = e.d_next;
    }
    say("readdir", err, "%zu names, %zu of dots", names, dots);
    err = __wasi_fd_readdir(d, buf, sizeof(buf), last, &n);
    say("readdir from the last place", err, "%zu", n);
    err = __wasi_fd_readdir(d, buf, 10, 0, &n);
    say("readdir into ten bytes", err, "%zu", n);
    err = __wasi_fd_readdir(d, buf, 0, 0, &n);
    say("readdir into nothing", err, "%zu", n);
    SAY(__wasi_fd_readdir(999, buf, sizeof(buf), 0, &n));
    SAY(__wasi_fd_readdir(1, buf, sizeof(buf), 0, &n));
    __wasi_fd_t f = open_at(ROOT, "work/f", 0, __WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_READDIR, 0);
    SAY(__wasi_fd_readdir(f, buf, sizeof(buf), 0, &n));
}

static void clocks(void)
{
    __wasi_timestamp_t a = 0, b = 0;
    __wasi_errno_t err;

    for (unsigned id = 0; id < 6; id++) {
        static const char *const names[] = {"realtime", "monotonic", "process", "thread", "clock 4", "clock 5"};

        err = __wasi_clock_time_get(id, 0, &a);
        (void)!__wasi_clock_time_get(id, 0, &b);
        say(names[id], err, "forward %d", b >= a);
        err = __wasi_clock_res_get(id, &a);
        say("its resolution", err, "%d", a > 0 && a <= 1000000);
    }
}

static __wasi_subscription_t timer(__wasi_timestamp_t t, unsigned id)
{
    __wasi_subscription_t s = {.userdata = 17, .u.tag = __WASI_EVENTTYPE_CLOCK};

    s.u.u.clock.id = id;
    s.u.u.clock.timeout = t;
    return s;
}

static __wasi_subscription_t on(__wasi_fd_t fd, unsigned tag)
{
    __wasi_subscription_t s = {.userdata = 18, .u.tag = (unsigned char)tag};

    s.u.u.fd_read.file_descriptor = fd;
    return s;
}

static void poll(const char *what, __wasi_subscription_t s)
{
    __wasi_event_t e = {0};
    __wasi_size_t n = 0;
    __wasi_errno_t err = __wasi_poll_oneoff(&s, &e, 1, &n);

    say(what, err, "%zu event, error %s, type %u, data %llu", n, errno_names[e.error], e.type, e.userdata);
}

static void polling(void)
{
    __wasi_event_t e;
    __wasi_subscription_t s = {0};
    __wasi_size_t n;
    __wasi_fd_t f = open_at(ROOT, "work/f", 0, FILE_RIGHTS | __WASI_RIGHTS_POLL_FD_READWRITE, 0);

    SAY(__wasi_poll_oneoff(&s, &e, 0, &n));
    poll("poll of a clock", timer(1000000, __WASI_CLOCKID_MONOTONIC));
    poll("poll of no clock", timer(1000000, 9));
    poll("poll of a file to read", on(f, __WASI_EVENTTYPE_FD_READ));
    poll("poll of a file to write", on(f, __WASI_EVENTTYPE_FD_WRITE));
    poll("poll of no descriptor", on(999, __WASI_EVENTTYPE_FD_READ));
}

static void the_rest(void)
{
    __wasi_size_t a = 0, b = 0, n;
    __wasi_roflags_t ro;
    unsigned char buf[8] = {0};
    __wasi_iovec_t in = {buf, sizeof(buf)};
    __wasi_ciovec_t out = {buf, sizeof(buf)};
    __wasi_fd_t f = open_at(ROOT, "work/f", 0, FILE_RIGHTS, 0);
    __wasi_errno_t err;

    err = __wasi_args_sizes_get(&a, &b);
    say("arguments", err, "%zu, %zu bytes", a, b);
    err = __wasi_environ_sizes_get(&a, &b);
    say("environment", err, "some %d", a > 0);
    SAY(__wasi_random_get(buf, sizeof(buf)));
    SAY(__wasi_random_get(buf, 0));
    SAY(__wasi_sched_yield());
    SAY(__wasi_sock_recv(f, &in, 1, 0, &n, &ro));
    SAY(__wasi_sock_send(f, &out, 1, 0, &n));
    SAY(__wasi_sock_shutdown(f, __WASI_SDFLAGS_RD));
    SAY(__wasi_sock_recv(999, &in, 1, 0, &n, &ro));
    SAY(__wasi_sock_shutdown(999, __WASI_SDFLAGS_RD));
}

int main(void)
{
    listing();
    clocks();
    polling();
    the_rest();
    puts("end");
    return 0;
}
