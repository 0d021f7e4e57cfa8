/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/cmd/cmd.h"

#include "shell/cmd/system.h"

enum { KERNEL = 1, NODE = 2, RELEASE = 4, VERSION = 8, MACHINE = 16, PROCESSOR = 32, HARDWARE = 64, SYSTEM = 128 };

static const struct cmd_opt opts[] = {
    {'a', "all", CMD_NO_ARG},
    {'s', "kernel-name", CMD_NO_ARG},
    {'n', "nodename", CMD_NO_ARG},
    {'r', "kernel-release", CMD_NO_ARG},
    {'v', "kernel-version", CMD_NO_ARG},
    {'m', "machine", CMD_NO_ARG},
    {'p', "processor", CMD_NO_ARG},
    {'i', "hardware-platform", CMD_NO_ARG},
    {'o', "operating-system", CMD_NO_ARG},
    {256, "sysname", CMD_NO_ARG},
    {257, "release", CMD_NO_ARG},
    {0},
};

static const char *machine(void)
{
#if defined(__x86_64__)
    return "x86_64";
#elif defined(__aarch64__)
    return "aarch64";
#else
#error "no machine name"
#endif
}

static unsigned bit_of(int code)
{
    switch (code) {
    case 'a':
        return KERNEL | NODE | RELEASE | VERSION | MACHINE | SYSTEM; /* processor and platform are unknown: left out */
    case 's':
    case 256:
        return KERNEL;
    case 'n':
        return NODE;
    case 'r':
    case 257:
        return RELEASE;
    case 'v':
        return VERSION;
    case 'm':
        return MACHINE;
    case 'p':
        return PROCESSOR;
    case 'i':
        return HARDWARE;
    default:
        return SYSTEM;
    }
}

static void word(struct cmd *c, bool *more, const char *text)
{
    if (*more)
        cmd_putc(c, ' ');
    *more = true;
    cmd_puts(c, text);
}

static int uname_main(struct cmd *c)
{
    unsigned what = 0;
    bool more = false;
    for (int o; (o = cmd_getopt(c, opts, false)) != -1;) {
        if (o == -2)
            return cmd_usage_status(c);
        what |= bit_of(o);
    }
    if (c->optind < c->argc)
        return cmd_extra(c, c->argv[c->optind]);
    if (what == 0)
        what = KERNEL;
    const char *release = system_text(c, "osrelease"), *version = system_text(c, "version");
    if (what & KERNEL)
        word(c, &more, "Linux");
    if (what & NODE)
        word(c, &more, system_hostname(c));
    if (what & RELEASE)
        word(c, &more, release ? release : "unknown");
    if (what & VERSION)
        word(c, &more, version ? version : "unknown");
    if (what & MACHINE)
        word(c, &more, machine());
    if (what & PROCESSOR)
        word(c, &more, "unknown");
    if (what & HARDWARE)
        word(c, &more, "unknown");
    if (what & SYSTEM)
        word(c, &more, "GNU/Linux");
    cmd_putc(c, '\n');
    return 0;
}

CMD(uname, uname_main, 1, "Usage: uname [OPTION]...\n",
    "  -a, --all                all of the following, in this order, but -p and -i\n"
    "  -s, --kernel-name        the kernel's name (the default)\n"
    "  -n, --nodename           the host name\n"
    "  -r, --kernel-release     the kernel's release\n"
    "  -v, --kernel-version     the kernel's version\n"
    "  -m, --machine            the machine's hardware name\n"
    "  -p, --processor          the processor type: unknown\n"
    "  -i, --hardware-platform  the hardware platform: unknown\n"
    "  -o, --operating-system   the operating system\n");
