;; SPDX-License-Identifier: Apache-2.0
;; Exits with 7.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start") (call $exit (i32.const 7)) unreachable))
