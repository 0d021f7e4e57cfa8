/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#ifndef _WASI_EMULATED_MMAN
#define _WASI_EMULATED_MMAN
#endif
#include_next <sys/mman.h>
