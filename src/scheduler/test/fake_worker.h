/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * fake_worker - worker_spawn() and worker_end() of a program that has no real workers: what it links instead of
 * worker/spawn.c. A worker is a process that plays an intruder's part on the true socket, with the true scheduler at
 * the other end.
 */

#include <stdint.h>

#include "worker/chan.h"

/* What the next worker does once it was given a command: sends what it likes on @c, of which @c->to is its session's
 * number. Afterwards it reads until it is ended. NULL: it answers "exited with 0". */
extern void (*fake_attack)(struct chan *c);
/* Sends @n bytes as one frame, as they are. */
void fake_raw(struct chan *c, const void *p, size_t n);
/* Sends a frame of that header. */
void fake_frame(struct chan *c, uint32_t type, uint32_t flags, uint32_t session, struct str body);
/* A result that is right. */
void fake_result(struct chan *c);
