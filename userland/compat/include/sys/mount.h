/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Nothing can be mounted; the header is here because some look for it. */
