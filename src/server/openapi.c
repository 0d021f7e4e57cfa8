/* SPDX-License-Identifier: Apache-2.0 */

/* The description of the API for programs, which the build makes from docs/openapi.yaml. */

#include "server/openapi_json.h"
#include "server/server_int.h"

void h_openapi(struct request *r)
{
    request_reply_bytes(r, MHD_HTTP_OK, "application/json", str_of(openapi_json, sizeof(openapi_json)));
}
