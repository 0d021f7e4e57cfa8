/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The two members have their usual names where BSD's and GNU's are asked for, as in musl. */
#if defined(_GNU_SOURCE) || defined(_BSD_SOURCE)
#define __tm_gmtoff tm_gmtoff
#define __tm_zone tm_zone
#endif
#include_next <__struct_tm.h>
