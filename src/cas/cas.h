/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * cas - content-addressed names, and the store of what they name.
 *
 * hash.h is the hash, store.h the store (its model and invariants are there), digest.h other digests for commands.
 *
 * Invariants:
 *   1. A name is the SHA-256 of the bytes it names, nothing added.
 *
 * Threads: hashes are pure functions on the caller's memory; one thread at a time uses a store.
 */

#include "cas/hash.h"
#include "cas/store.h"
