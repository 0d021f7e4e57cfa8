/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * errtab - the one table of failures: errno, API code, HTTP status, SDK class, and the text a Linux user expects.
 *
 * The texts are those of the GNU C library (strerror, C locale), which scripts compare; they come from our own table
 * so that they do not depend on the host's locale.
 */

enum api_code {
    API_OK,
    API_INVALID_ARGUMENT,
    API_UNAUTHENTICATED,
    API_PERMISSION_DENIED,
    API_NOT_FOUND,
    API_CONFLICT,
    API_TOO_LARGE,
    API_LIMIT_EXCEEDED,
    API_UNSUPPORTED,
    API_INTERNAL,
    API_UNAVAILABLE,
};

/* Text of a positive or negative errno, such as "No such file or directory". Never NULL. */
const char *errtab_text(int err);

/* "ENOENT" for a positive or negative errno; "E?" for an unknown one. */
const char *errtab_name(int err);

/* The API code a positive or negative errno maps to. */
enum api_code errtab_api(int err);

/* "not_found" and so on. */
const char *api_code_name(enum api_code c);

/* 404 and so on. */
int api_code_http(enum api_code c);
