;; SPDX-License-Identifier: Apache-2.0
;; Calls itself for ever.
(module
  (memory (export "memory") 1)
  (func $f (param i32) (result i32)
    (i32.add (call $f (i32.add (local.get 0) (i32.const 1))) (local.get 0)))
  (func (export "_start") (drop (call $f (i32.const 0)))))
