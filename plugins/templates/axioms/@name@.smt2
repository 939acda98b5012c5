; Equations between operators. `rewright axioms check @name@.smt2` tests each on every small shape and parameter;
; what a file may say is described where Rewright's own axioms are.
(set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun relu (Tensor) Tensor)

(assert (! (forall ((x Tensor))
    (= (relu (relu x)) (relu x)))
  :named @name@-relu-twice
  :ranks "x 0..4"
  :needs "real-relu"
  :source "max(max(x, 0), 0) = max(x, 0)"))
