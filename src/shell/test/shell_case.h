/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * shell_case - compares what scripts print in a session with what bash 5.2 printed.
 *
 * A file of cases holds scripts, each behind a line "#-- NAME"; the file beside it with the ending .out holds what bash
 * prints for each (standard output and error together), recorded with tests/record-cases.
 */

/* Runs all cases of @file (a path without ending) and checks each. */
void shell_case_check(const char *file);
