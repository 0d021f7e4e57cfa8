;; SPDX-License-Identifier: Apache-2.0
;; Imports what no host has.
(module
  (import "env" "fork" (func $fork (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (drop (call $fork))))
