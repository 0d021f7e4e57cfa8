;; SPDX-License-Identifier: Apache-2.0
;; Throws what nobody catches.
(module
  (tag $e (param i32))
  (memory (export "memory") 1)
  (func (export "_start") (throw $e (i32.const 1))))
