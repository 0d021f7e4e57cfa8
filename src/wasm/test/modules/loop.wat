;; SPDX-License-Identifier: Apache-2.0
;; Never ends.
(module
  (memory (export "memory") 1)
  (func (export "_start") (loop $l (br $l))))
