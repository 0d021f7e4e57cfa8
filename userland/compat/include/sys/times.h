/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#ifndef _WASI_EMULATED_PROCESS_CLOCKS
#define _WASI_EMULATED_PROCESS_CLOCKS
#endif
#include_next <sys/times.h>
