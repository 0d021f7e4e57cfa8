;; SPDX-License-Identifier: Apache-2.0
;; Has no _start.
(module
  (memory (export "memory") 1))
