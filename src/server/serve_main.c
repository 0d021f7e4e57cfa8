/* SPDX-License-Identifier: Apache-2.0 */

/*
 * frontal-sandbox-server: the server role. A program of its own, started by `frontal-sandbox serve`: what it links
 * (libmicrohttpd and the libraries behind it) is nothing that a `run` should pay for.
 */

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "scheduler/scheduler.h"
#include "server/server.h"

#define FAILED 125

static void say(const char *address)
{
    fprintf(stderr, "frontal-sandbox: listening on %s\n", address);
}

static bool number(const char *text, uint32_t *ret)
{
    uint64_t v;
    if (str_u64(str_c(text), &v) || v > INT32_MAX)
        return false;
    *ret = (uint32_t)v;
    return true;
}

/* Options as `frontal-sandbox serve` has checked and passed them on. */
static int parse(int argc, char **argv, struct server_config *c, struct sched_config *s, int *userland)
{
    static const struct option options[] = {
        {"listen", required_argument, NULL, 'l'},   {"state", required_argument, NULL, 's'},
        {"workers", required_argument, NULL, 'w'},  {"drain-ms", required_argument, NULL, 'd'},
        {"userland", required_argument, NULL, 'u'}, {"program", required_argument, NULL, 'p'},
        {"quiet", no_argument, NULL, 'q'},          {"tls-cert", required_argument, NULL, 'c'},
        {"tls-key", required_argument, NULL, 'k'},  {"trace-retention-ms", required_argument, NULL, 't'},
        {NULL, 0, NULL, 0}};
    int o;
    uint32_t fd;
    bool ok = true;
    while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (o == 'l')
            c->listen = optarg;
        else if (o == 's')
            s->state_dir = optarg;
        else if (o == 'w')
            ok &= number(optarg, &s->workers);
        else if (o == 'd')
            ok &= number(optarg, &c->drain_ms);
        else if (o == 'p')
            s->program = optarg;
        else if (o == 'c')
            c->tls_cert = optarg;
        else if (o == 'k')
            c->tls_key = optarg;
        else if (o == 't')
            ok &= str_u64(str_c(optarg), &s->trace_retention_ms) == 0;
        else if (o == 'q')
            c->access_log = false;
        else if (o == 'u' && number(optarg, &fd))
            *userland = (int)fd;
        else
            ok = false;
    }
    return ok && optind == argc && s->program ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct server_config c = {.drain_ms = 30000, .access_log = true};
    struct sched_config s = {.userland_fd = -1, .execs_waiting = LIMIT_EXECS_WAITING, .output_memory = 256u << 20};
    struct sched *sched = NULL;
    struct err err = {0};
    FD_AUTO int userland = -1;
    if (parse(argc, argv, &c, &s, &userland)) {
        fputs("frontal-sandbox-server: started by frontal-sandbox serve, not by hand\n", stderr);
        return FAILED;
    }
    if (userland >= 0)
        (void)fcntl(userland, F_SETFD, FD_CLOEXEC); /* it came across exec, and goes no further */
    s.userland_fd = userland;
    log_set_level(LOG_INFO);
    int r = sched_new(&s, &sched, &err);
    if (r == 0)
        r = server_run(&c, sched, say, &err);
    if (r)
        fprintf(stderr, "frontal-sandbox: %s\n", err.text);
    sched_free(sched);
    return r ? FAILED : 0;
}
