/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include_next <arpa/inet.h>

#ifdef __cplusplus
extern "C" {
#endif
char *inet_ntoa(struct in_addr addr);
in_addr_t inet_addr(const char *text);
#ifdef __cplusplus
}
#endif
