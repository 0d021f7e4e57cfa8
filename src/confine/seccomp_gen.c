/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A build tool: writes the worker's seccomp program, compiled by libseccomp, as a C header on standard output. The
 * worker then needs neither the library nor the time to compile it at each start.
 *
 * Default: EPERM. Calls that no worker ever makes and that an intruder would try first end the process.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define CALL(x) SCMP_SYS(x)

static const int allowed[] = {
    CALL(read),         CALL(write),           CALL(close),         CALL(recvfrom),
    CALL(recvmsg),      CALL(sendmsg),         CALL(poll),          CALL(ppoll),
    CALL(munmap),       CALL(mremap),          CALL(madvise),       CALL(brk),
    CALL(futex),        CALL(restart_syscall), CALL(clock_gettime), CALL(clock_nanosleep),
    CALL(gettimeofday), CALL(getrandom),       CALL(getpid),        CALL(gettid),
    CALL(getcpu),       CALL(openat2),         CALL(statx),         CALL(fstat),
    CALL(newfstatat),   CALL(getdents64),      CALL(pread64),       CALL(preadv),
    CALL(lseek),        CALL(readlinkat),      CALL(rt_sigreturn),  CALL(rt_sigprocmask),
    CALL(rt_sigaction), CALL(sigaltstack),     CALL(sched_yield),   CALL(exit),
    CALL(exit_group),   CALL(set_robust_list), CALL(rseq),
};

/* What a worker needs besides when its session is kept: the store's files, beneath the directory it was given (Landlock
 * and the empty root see to that), and the log. */
static const int keeping[] = {
    CALL(openat),    CALL(mkdirat), CALL(renameat),  CALL(renameat2), CALL(unlinkat), CALL(pwrite64),
    CALL(writev),    CALL(pwritev), CALL(pwritev2),  CALL(readv),     CALL(fsync),    CALL(fdatasync),
    CALL(ftruncate), CALL(flock),   CALL(fallocate), CALL(dup),       CALL(fstatfs),
};

/* All that the compile role needs: it reads a module, computes and writes code. */
static const int compiling[] = {
    CALL(read),           CALL(write),         CALL(close),      CALL(fstat),       CALL(newfstatat),
    CALL(munmap),         CALL(mremap),        CALL(madvise),    CALL(brk),         CALL(futex),
    CALL(getrandom),      CALL(clock_gettime), CALL(gettid),     CALL(getpid),      CALL(rt_sigreturn),
    CALL(rt_sigprocmask), CALL(exit),          CALL(exit_group), CALL(sched_yield), CALL(sigaltstack),
    CALL(poll),           CALL(rt_sigaction),
};

static const int deadly[] = {
    CALL(execve),
    CALL(execveat),
    CALL(fork),
    CALL(vfork),
    CALL(clone),
    CALL(clone3),
    CALL(ptrace),
    CALL(socket),
    CALL(socketpair),
    CALL(connect),
    CALL(bind),
    CALL(mount),
    CALL(umount2),
    CALL(pivot_root),
    CALL(chroot),
    CALL(unshare),
    CALL(setns),
    CALL(bpf),
    CALL(perf_event_open),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(kexec_load),
    CALL(init_module),
    CALL(finit_module),
    CALL(userfaultfd),
    CALL(keyctl),
    CALL(add_key),
    CALL(request_key),
    CALL(io_uring_setup),
    CALL(open_by_handle_at),
    CALL(memfd_create),
    CALL(seccomp),
    CALL(setuid),
    CALL(setgid),
    CALL(setresuid),
    CALL(setresgid),
    CALL(capset),
};

static int check(int r, const char *what)
{
    if (r < 0 && r != -EEXIST) {
        fprintf(stderr, "seccomp_gen: %s: error %d\n", what, -r);
        exit(1);
    }
    return r;
}

#define PAGEMAP_SCAN 0xc0606610u /* linux/fs.h, Linux 6.7: later than Debian 12's headers */

/* What the runtime of WebAssembly needs until all precompiled files are mapped: it makes their code executable, after
 * it was mapped read-only, and then forbids itself that, by one more filter. Filters can only be added. */
static void add_wasm_rules(scmp_filter_ctx ctx)
{
    const struct scmp_arg_cmp code[] = {{.arg = 2, .op = SCMP_CMP_EQ, .datum_a = PROT_READ | PROT_EXEC, .datum_b = 0}};
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, CALL(mprotect), 1, code), "mprotect code");
    const struct scmp_arg_cmp add_filter[] = {
        {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = SECCOMP_SET_MODE_FILTER, .datum_b = 0},
        {.arg = 1, .op = SCMP_CMP_EQ, .datum_a = 0, .datum_b = 0}};
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, CALL(seccomp), 2, add_filter), "seccomp");
    const struct scmp_arg_cmp scan = {.arg = 1, .op = SCMP_CMP_EQ, .datum_a = PAGEMAP_SCAN, .datum_b = 0};
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, CALL(ioctl), 1, &scan), "ioctl");
    const struct scmp_arg_cmp real = {.arg = 0, .op = SCMP_CMP_EQ, .datum_a = ITIMER_REAL, .datum_b = 0};
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, CALL(setitimer), 1, &real), "setitimer");
}

/* Memory, but never executable memory. */
static void add_memory_rules(scmp_filter_ctx ctx)
{
    const struct scmp_arg_cmp no_exec = {.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = PROT_EXEC, .datum_b = 0};
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, CALL(mmap), 1, &no_exec), "mmap");
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, CALL(mprotect), 1, &no_exec), "mprotect");
}

static void add_rules(scmp_filter_ctx ctx, int kept, int wasm)
{
    for (size_t i = 0; kept && i < sizeof(keeping) / sizeof(keeping[0]); i++)
        check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, keeping[i], 0), "allow");
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
        check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0), "allow");
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
        if (!wasm || deadly[i] != CALL(seccomp))
            check(seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, deadly[i], 0), "kill");
    add_memory_rules(ctx);
    /* abort() and assertions: a signal to itself. The number of the process is not known here; its namespace has no
     * other. */
    const struct scmp_arg_cmp abort_only = {.arg = 2, .op = SCMP_CMP_EQ, .datum_a = 6, .datum_b = 0};
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, CALL(tgkill), 1, &abort_only), "tgkill");
    const struct scmp_arg_cmp get_flags = {.arg = 1, .op = SCMP_CMP_EQ, .datum_a = F_GETFL, .datum_b = 0};
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, CALL(fcntl), 1, &get_flags), "fcntl");
}

static scmp_filter_ctx begin(uint32_t otherwise)
{
    scmp_filter_ctx ctx = seccomp_init(otherwise);
    if (!ctx)
        exit(1);
    check(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS), "badarch");
    check(seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimize");
    return ctx;
}

/* Prints it, and is done with it. */
static void print(const char *name, scmp_filter_ctx ctx)
{
    FILE *f = tmpfile();
    if (!f)
        exit(1);
    check(seccomp_export_bpf(ctx, fileno(f)), "export");
    rewind(f);
    struct {
        unsigned short code;
        unsigned char jt, jf;
        unsigned int k;
    } ins;
    printf("static const struct sock_filter %s[] = {\n", name);
    while (fread(&ins, sizeof(ins), 1, f) == 1)
        printf("    {0x%x, %u, %u, 0x%x},\n", ins.code, ins.jt, ins.jf, ins.k);
    printf("};\n");
    seccomp_release(ctx);
    if (fclose(f))
        exit(1);
}

static void print_worker(const char *name, int kept, int wasm)
{
    scmp_filter_ctx ctx = begin(SCMP_ACT_ERRNO(EPERM));
    add_rules(ctx, kept, wasm);
    if (wasm)
        add_wasm_rules(ctx);
    print(name, ctx);
}

/* No signal to itself here: it is in the host's namespace of processes. Its abort() ends it by an invalid instruction.
 */
static void print_compile(const char *name)
{
    scmp_filter_ctx ctx = begin(SCMP_ACT_ERRNO(EPERM));
    for (size_t i = 0; i < sizeof(compiling) / sizeof(compiling[0]); i++)
        check(seccomp_rule_add(ctx, SCMP_ACT_ALLOW, compiling[i], 0), "allow");
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
        check(seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, deadly[i], 0), "kill");
    add_memory_rules(ctx);
    print(name, ctx);
}

/* The filter that is added when all code is mapped. */
static void print_seal(const char *name)
{
    scmp_filter_ctx ctx = begin(SCMP_ACT_ALLOW);
    const struct scmp_arg_cmp exec = {.arg = 2, .op = SCMP_CMP_MASKED_EQ, .datum_a = PROT_EXEC, .datum_b = PROT_EXEC};
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO(EPERM), CALL(mmap), 1, &exec), "mmap");
    check(seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO(EPERM), CALL(mprotect), 1, &exec), "mprotect");
    check(seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, CALL(seccomp), 0), "seccomp");
    print(name, ctx);
}

int main(void)
{
    printf("/* Made by seccomp_gen. */\n");
    print_worker("seccomp_program", 0, 0);
    print_worker("seccomp_program_kept", 1, 0);
    print_worker("seccomp_program_wasm", 0, 1);
    print_worker("seccomp_program_kept_wasm", 1, 1);
    print_seal("seccomp_program_seal");
    print_compile("seccomp_program_compile");
    return ferror(stdout) ? 1 : 0;
}
