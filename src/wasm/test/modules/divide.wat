;; SPDX-License-Identifier: Apache-2.0
;; Divides by zero.
(module
  (memory (export "memory") 1)
  (func (export "_start") (drop (i32.div_u (i32.const 1) (i32.load (i32.const 0))))))
