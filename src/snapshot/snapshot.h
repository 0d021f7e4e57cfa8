/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * snapshot - what outlives a process: sessions and snapshots as names of states.
 *
 * A state is three blobs (trace/trace.h), so keeping, forking, restoring and moving one costs names, not trees.
 *   state.h     the state directory: sessions, snapshots, places, forks
 *   keep.h      what of the store is needed and by whom: checking, collecting
 *   portable.h  a session as one stream of bytes
 *   diff.h      the changes between two trees, with texts (textdiff.h)
 *   merge.h     three trees made one
 *
 * Invariants: those of the headers named. Nothing here runs a guest; what was written by others is decoded
 * and checked.
 *
 * Threads: one at a time.
 */

#include "snapshot/state.h"
