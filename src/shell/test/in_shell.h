/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* in_shell - runs a test's function inside the process of a shell that is set up but has run nothing. */

struct shell;

/* Makes a session, calls @fn with its shell, and takes all down again. */
void in_shell(void (*fn)(struct shell *sh));
