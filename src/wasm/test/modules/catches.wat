;; SPDX-License-Identifier: Apache-2.0
;; Catches what it throws, and exits with its value, 5.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (tag $e (param i32))
  (memory (export "memory") 1)
  (func $f (throw $e (i32.const 5)))
  (func (export "_start")
    (call $exit
      (block $h (result i32)
        (try_table (catch $e $h) (call $f))
        (i32.const 1)))))
