; What @name@ is to other operators. `rewright --plugin FILE.so axioms check` tests each equation on every small shape.
(set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun @name@ (Tensor) Tensor)

(assert (! (forall ((x Tensor))
    (= (@name@ x) (ewmul x x)))
  :named @name@-is-a-product
  :ranks "x 0..4"
  :source "its meaning"))
