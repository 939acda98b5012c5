; Cumulative sums, and recurrent layers: sequences beside each other do not meet, and one behind another goes on from
; its last states. README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun smul (Tensor Tensor) Tensor)
(declare-fun neg (Tensor) Tensor)
(declare-fun transpose (Sizes Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun cumsum (Int Int Int Tensor) Tensor)  ; axis exclusive reverse x
(declare-fun rnn.0 (Int Tensor Tensor Tensor Tensor Tensor) Tensor)  ; direction x w r bias h: all states
(declare-fun rnn.1 (Int Tensor Tensor Tensor Tensor Tensor) Tensor)  ; the last
(declare-fun gru.0 (Int Int Tensor Tensor Tensor Tensor Tensor) Tensor)  ; direction reset x w r bias h
(declare-fun gru.1 (Int Int Tensor Tensor Tensor Tensor Tensor) Tensor)
(declare-fun lstm.0 (Int Tensor Tensor Tensor Tensor Tensor Tensor) Tensor)  ; direction x w r bias h c
(declare-fun lstm.1 (Int Tensor Tensor Tensor Tensor Tensor Tensor) Tensor)  ; the last h
(declare-fun lstm.2 (Int Tensor Tensor Tensor Tensor Tensor Tensor) Tensor)  ; the last c
(define-fun exclusive.no () Int 0)
(define-fun exclusive.yes () Int 1)
(define-fun direction.forward () Int 0)

; --- cumulative sums ---

(assert (! (forall ((a Int) (e Int) (r Int) (x Tensor) (y Tensor))
    (= (cumsum a e r (ewadd x y)) (ewadd (cumsum a e r x) (cumsum a e r y))))
  :named cumsum-of-ewadd
  :ranks "x y 1..4"
  :source "linearity of the sum"))

(assert (! (forall ((a Int) (e Int) (r Int) (x Tensor) (s Tensor))
    (= (cumsum a e r (smul x s)) (smul (cumsum a e r x) s)))
  :named cumsum-of-smul
  :ranks "x 1..4, s 0"
  :source "linearity of the sum"))

(assert (! (forall ((a Int) (e Int) (r Int) (x Tensor))
    (= (cumsum a e r (neg x)) (neg (cumsum a e r x))))
  :named cumsum-of-neg
  :ranks "x 1..4"
  :source "linearity of the sum"))

(assert (! (forall ((a Int) (r Int) (x Tensor))
    (= (cumsum a exclusive.no r x) (ewadd (cumsum a exclusive.yes r x) x)))
  :named cumsum-of-own-element
  :ranks "x 1..4"
  :source "definition of exclusive: ONNX operator CumSum"))

(assert (! (forall ((a Int) (b Int) (e Int) (r Int) (x Tensor) (y Tensor))
    (= (cumsum a e r (concat b x y)) (concat b (cumsum a e r x) (cumsum a e r y))))
  :named cumsum-of-concat
  :ranks "x y 2..4"
  :condition "a != b"
  :source "row by row"))

; Not along one axis: sums from the front of sums from the end are others than those in the other order.
(assert (! (forall ((a Int) (b Int) (e Int) (f Int) (r Int) (q Int) (x Tensor))
    (= (cumsum a e r (cumsum b f q x)) (cumsum b f q (cumsum a e r x))))
  :named cumsums-commute
  :ranks "x 2..4"
  :condition "a != b"
  :source "order of summation"))

(assert (! (forall ((e Int) (r Int) (x Tensor))
    (= (transpose (sizes2 1 0) (cumsum 0 e r x)) (cumsum 1 e r (transpose (sizes2 1 0) x))))
  :named transpose-of-cumsum
  :ranks "x 2"
  :source "an axis moves with its sums"))

; --- sequences beside each other; every direction; left to right only where the cuts meet: x.1 = h.1 ---

(assert (! (forall ((d Int) (x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor) (k Tensor))
    (= (rnn.0 d (concat 1 x y) w r b (concat 1 h k))
       (concat 2 (rnn.0 d x w r b h) (rnn.0 d y w r b k))))
  :named rnn-of-batch-concat
  :ranks "x y w r h k 3, b 2"
  :source "sequence by sequence"))

(assert (! (forall ((d Int) (x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor) (k Tensor))
    (= (rnn.1 d (concat 1 x y) w r b (concat 1 h k))
       (concat 1 (rnn.1 d x w r b h) (rnn.1 d y w r b k))))
  :named last-rnn-of-batch-concat
  :ranks "x y w r h k 3, b 2"
  :source "sequence by sequence"))

(assert (! (forall ((d Int) (a Int) (x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor) (k Tensor))
    (= (gru.0 d a (concat 1 x y) w r b (concat 1 h k))
       (concat 2 (gru.0 d a x w r b h) (gru.0 d a y w r b k))))
  :named gru-of-batch-concat
  :ranks "x y w r h k 3, b 2"
  :source "sequence by sequence"))

(assert (! (forall ((d Int) (a Int) (x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor) (k Tensor))
    (= (gru.1 d a (concat 1 x y) w r b (concat 1 h k))
       (concat 1 (gru.1 d a x w r b h) (gru.1 d a y w r b k))))
  :named last-gru-of-batch-concat
  :ranks "x y w r h k 3, b 2"
  :source "sequence by sequence"))

(assert (! (forall ((d Int) (x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor) (k Tensor) (c Tensor) (e Tensor))
    (= (lstm.0 d (concat 1 x y) w r b (concat 1 h k) (concat 1 c e))
       (concat 2 (lstm.0 d x w r b h c) (lstm.0 d y w r b k e))))
  :named lstm-of-batch-concat
  :ranks "x y w r h k c e 3, b 2"
  :source "sequence by sequence"))

(assert (! (forall ((d Int) (x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor) (k Tensor) (c Tensor) (e Tensor))
    (= (lstm.1 d (concat 1 x y) w r b (concat 1 h k) (concat 1 c e))
       (concat 1 (lstm.1 d x w r b h c) (lstm.1 d y w r b k e))))
  :named last-lstm-of-batch-concat
  :ranks "x y w r h k c e 3, b 2"
  :source "sequence by sequence"))

(assert (! (forall ((d Int) (x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor) (k Tensor) (c Tensor) (e Tensor))
    (= (lstm.2 d (concat 1 x y) w r b (concat 1 h k) (concat 1 c e))
       (concat 1 (lstm.2 d x w r b h c) (lstm.2 d y w r b k e))))
  :named last-cell-of-batch-concat
  :ranks "x y w r h k c e 3, b 2"
  :source "sequence by sequence"))

; --- one sequence behind another, forwards ---

(assert (! (forall ((x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor))
    (= (rnn.0 direction.forward (concat 0 x y) w r b h)
       (concat 0 (rnn.0 direction.forward x w r b h)
                 (rnn.0 direction.forward y w r b (rnn.1 direction.forward x w r b h)))))
  :named rnn-of-time-concat
  :ranks "x y w r h 3, b 2"
  :source "definition of a recurrence: ONNX operator RNN"))

(assert (! (forall ((x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor))
    (= (rnn.1 direction.forward (concat 0 x y) w r b h)
       (rnn.1 direction.forward y w r b (rnn.1 direction.forward x w r b h))))
  :named last-rnn-of-time-concat
  :ranks "x y w r h 3, b 2"
  :source "definition of a recurrence: ONNX operator RNN"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor))
    (= (gru.1 direction.forward a (concat 0 x y) w r b h)
       (gru.1 direction.forward a y w r b (gru.1 direction.forward a x w r b h))))
  :named last-gru-of-time-concat
  :ranks "x y w r h 3, b 2"
  :source "definition of a recurrence: ONNX operator GRU"))

(assert (! (forall ((x Tensor) (y Tensor) (w Tensor) (r Tensor) (b Tensor) (h Tensor) (c Tensor))
    (= (lstm.1 direction.forward (concat 0 x y) w r b h c)
       (lstm.1 direction.forward y w r b (lstm.1 direction.forward x w r b h c) (lstm.2 direction.forward x w r b h c))))
  :named last-lstm-of-time-concat
  :ranks "x y w r h c 3, b 2"
  :source "definition of a recurrence: ONNX operator LSTM"))
