; What swiglu is to other operators: its meaning, and that it is linear in its value, which follows from it.
(set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun sigmoid (Tensor) Tensor)
(declare-fun swiglu (Tensor Tensor) Tensor)

(assert (! (forall ((g Tensor) (v Tensor))
    (= (swiglu g v) (ewmul (ewmul g (sigmoid g)) v)))
  :named swiglu-meaning
  :ranks "g v 0..4"
  :source "Shazeer, GLU Variants Improve Transformer (2020), equation 6"))

(assert (! (forall ((g Tensor) (v Tensor) (u Tensor))
    (= (swiglu g (ewadd v u)) (ewadd (swiglu g v) (swiglu g u))))
  :named swiglu-over-ewadd
  :ranks "g v u 0..4"
  :source "lemma: swiglu-meaning, ewmul-commutes and ewmul-over-ewadd"))
