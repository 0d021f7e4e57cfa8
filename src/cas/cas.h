/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * cas - content-addressed names.
 *
 * What is here today is the hash (hash.h) that names a session's state in results. The store itself (packs, index,
 * garbage collection) is the State milestone in plans/PLAN.md.
 *
 * Invariants:
 *   1. A name is the SHA-256 of the bytes it names, nothing added.
 *
 * Threads: pure functions on the caller's memory.
 */

#include "cas/hash.h"
