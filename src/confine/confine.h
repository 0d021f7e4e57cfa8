/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * confine - how a worker, and the compile role, give up every right they do not need, before the first byte of a guest.
 *
 * Two halves: confine_clone() makes the process in namespaces of its own, and confine_self() is called in it, once,
 * when only its socket and the mounts' descriptors are open. What each part holds, and what happens without it, is
 * docs/security-model.md.
 *
 *   part          holds                                                    when the kernel lacks it
 *   no_new_privs  no privilege by exec                                     refused: a worker does not start without it
 *   seccomp       only the calls a worker makes (seccomp_gen.c): no exec, socket, fork, ptrace, executable memory
 *                                                                          refused
 *   landlock      no path but beneath the mounts, read only; no TCP        warned; the two below still hold
 *   own_mounts    each directory it is given ends at itself: ".." leads nowhere, and by stat nothing outside is seen
 *                                                                          warned; Landlock still holds reading
 *   empty_root    "/" is an empty read-only tmpfs: no host path exists     warned; Landlock still holds
 *   namespaces    of users, processes, network, ipc, uts, mounts           warned (network: seccomp refuses socket())
 *   caps          no capabilities (started by root, with mounts: CAP_DAC_READ_SEARCH stays, so that root's mounts can
 *                 be read)
 *   rlimits       descriptors, no core, no file writes, no new processes, a memory ceiling above the session's limit
 *
 * If Landlock and one of empty_root and own_mounts are missing, the host's files would be in reach of a broken worker:
 * refused.
 *
 * Threads: called in a process with one thread.
 */

#include "base/str.h"

#include <sys/types.h>

struct err;

enum confine_part {
    CONFINE_NO_NEW_PRIVS,
    CONFINE_SECCOMP,
    CONFINE_LANDLOCK,
    CONFINE_EMPTY_ROOT,
    CONFINE_OWN_MOUNTS,
    CONFINE_USER_NS,
    CONFINE_MOUNT_NS,
    CONFINE_PID_NS,
    CONFINE_NET_NS,
    CONFINE_IPC_NS,
    CONFINE_UTS_NS,
    CONFINE_CAPS,
    CONFINE_RLIMITS,
    CONFINE_PARTS,
};

struct confine_report {
    uint64_t applied;         /* bit n: part n */
    int error[CONFINE_PARTS]; /* negative errno of what was not applied, else 0 */
};

struct confine_config {
    int sock;
    const int *mount_fds;
    uint32_t n_mounts;
    uint64_t memory_ceiling; /* bytes of private memory; 0: no ceiling */
    bool kept;               /* these are descriptors that stay, and below the store's directory it may write: */
    int store_fd, trace_fd, lock_fd; /* the last two may be -1 */
    bool wasm;       /* runs WebAssembly: these are descriptors that stay (-1: none), of which it may read: */
    int userland_fd; /* the directory of precompiled files */
    int pagemap_fd;
    /* The compile role: reads a module from descriptor 0, writes what it makes to 1 and what is wrong to 2. It has none
     * of the above but a memory ceiling, and limits of its own for time and what it writes. */
    bool compiles;
};

/* As fork(2), in new namespaces, as many as the kernel allows (*report tells, in the child only). */
pid_t confine_clone(struct confine_report *report);

/* Puts this process into new namespaces, as confine_clone() does for a new one, but for that of processes. */
void confine_unshare(struct confine_report *report);

/* Gives up everything. The descriptors of directories then are other ones, of the same number and directory. 0, or a
 * negative errno and @err when a part without which no worker may run is missing; the process must then end. */
int confine_self(const struct confine_config *cfg, struct confine_report *report, struct err *err);

/* Forbids, in a worker that was confined with `wasm`, executable memory for good. 0 or a negative errno. */
int confine_no_more_code(void);

/* "landlock" and so on. */
const char *confine_part_name(enum confine_part p);
/* What this part protects and what to do to get it, one line. */
const char *confine_part_remedy(enum confine_part p);
/* Whether its absence deserves a line on standard error. */
bool confine_part_matters(enum confine_part p);

/* The kernel's Landlock ABI, 0 without. */
int confine_landlock_abi(void);
