; Equations that are false, each with the reason. They are kept so that a test can show that the audit finds each one out;
; no prover reads this file.
(set-logic UFNIRA)
(set-info :padding-same "floor((k-1)/2) before, ceil((k-1)/2) after, at every stride")
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes0 () Sizes)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun dim (Int Tensor) Int)
(define-fun padding.same () Int 0)
(define-fun padding.valid () Int 1)
(define-fun padding.explicit () Int 2)
(define-fun activation.none () Int 0)
(define-fun count_include_pad.no () Int 1)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun smul (Tensor Tensor) Tensor)
(declare-fun relu (Tensor) Tensor)
(declare-fun matmul (Tensor Tensor) Tensor)
(declare-fun transpose (Sizes Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun split.0 (Int Sizes Tensor) Tensor)  ; axis sizes x: the first part
(declare-fun split.1 (Int Sizes Tensor) Tensor)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)  ; strides padding pads dilations groups activation x w
(declare-fun pool2d_max (Sizes Sizes Int Sizes Tensor) Tensor)  ; kernel strides padding pads x
(declare-fun pool2d_avg (Sizes Sizes Int Sizes Int Tensor) Tensor)  ; kernel strides padding pads count_include_pad x
(declare-fun enlarge (Sizes Tensor) Tensor)
(declare-fun constant_pool (Sizes) Tensor)
(declare-fun broadcast_matmul (Sizes Sizes Tensor Tensor) Tensor)  ; stretch_left stretch_right a b
(declare-fun winograd_input (Int Tensor) Tensor)  ; outputs x
(declare-fun winograd_weight (Int Tensor) Tensor)  ; outputs w
(declare-fun winograd_output (Int Tensor) Tensor)  ; outputs z

(assert (! (forall ((x Tensor) (t Tensor))
    (= (relu (smul x t)) (smul (relu x) t)))
  :named relu-of-smul
  :ranks "x 1..2, t 0"
  :source "false for t < 0: x = 1, t = -1 gives 0 and -1"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (relu (ewadd x y)) (ewadd (relu x) (relu y))))
  :named relu-over-ewadd
  :ranks "x y 1..2"
  :source "false: x = 1, y = -1 gives 0 and 1"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (y Tensor) (z Tensor))
    (= (conv2d s p q d g activation.none x (concat 0 y z))
         (concat 1 (conv2d s p q d g activation.none x y) (conv2d s p q d g activation.none x z))))
  :named conv-of-weight-concat-grouped
  :ranks "x y z 4"
  :domain "g 2; p same; s [1,1]; d [1,1]; q [0,0,0,0]"
  :source "TASO states it without groups = 1; with 2 groups the channels are interleaved"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (conv2d s p q d g activation.none (concat 1 x y) (concat 1 z w))
         (ewadd (conv2d s p q d g activation.none x z) (conv2d s p q d g activation.none y w))))
  :named conv-of-channel-concats-grouped
  :ranks "x y z w 4"
  :domain "g 2; p same; s [1,1]; d [1,1]; q [0,0,0,0]"
  :source "TASO states it without groups = 1; with 2 groups the channels are cut elsewhere"))

(assert (! (forall ((s Sizes) (q Sizes) (g Int) (a Int) (x Tensor) (k Sizes) (w Tensor))
    (= (conv2d s padding.valid q (sizes2 1 1) g a x (enlarge k w))
         (conv2d s padding.explicit q (sizes2 1 1) g a x w)))
  :named enlarge-under-valid
  :ranks "x w 4"
  :domain "s [1,1] [2,2]; k [3,3]; q [1,1,1,1] [0,0,0,0]; g 1; w.2 1 2 3; w.3 1 2 3"
  :source "the enlarged kernel reads other pixels than an unpadded small one"))

(assert (! (forall ((s Sizes) (q Sizes) (g Int) (a Int) (x Tensor) (k Sizes) (w Tensor))
    (= (conv2d s padding.same q (sizes2 2 2) g a x (enlarge k w))
         (conv2d s padding.same q (sizes2 2 2) g a x w)))
  :named enlarge-with-dilation
  :ranks "x w 4"
  :domain "s [1,1]; k [2,2] [3,3]; g 1; q [0,0,0,0]"
  :source "an even kernel with dilation 2 has its centre elsewhere"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (concat a x y) (concat a y x)))
  :named concat-commutes
  :ranks "x y 1..2"
  :source "false as soon as x and y differ"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (ewadd (concat 0 x y) (concat 0 z w)) (concat 0 (ewadd x w) (ewadd y z))))
  :named concat-of-relus-elsewhere
  :ranks "x y z w 1..2"
  :source "the parts are crossed"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (matmul x y) (matmul y x)))
  :named matmul-commutes
  :ranks "x y 2"
  :source "false for 2 by 2 matrices"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes2 1 0) (matmul x y))
         (matmul (transpose (sizes2 1 0) x) (transpose (sizes2 1 0) y))))
  :named transpose-of-matmul-unswapped
  :ranks "x y 2"
  :source "the factors change places"))

(assert (! (forall ((m Int) (n Int) (s Sizes) (q Sizes) (x Tensor))
    (= (pool2d_avg (sizes2 m n) s padding.same q count_include_pad.no x)
         (conv2d s padding.same q (sizes2 1 1) 1 activation.none x (constant_pool (sizes4 (dim 1 x) (dim 1 x) m n)))))
  :named average-without-padding-as-convolution
  :ranks "x 4"
  :domain "s [1,1]; m 1 3; n 1 3; q [0,0,0,0]"
  :source "at the border the average divides by fewer positions"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (split.0 a (sizes2 (dim a x) (dim a y)) (concat a x y))
         (split.1 a (sizes2 (dim a x) (dim a y)) (concat a x y))))
  :named split-swapped
  :ranks "x y 1..2"
  :source "the first part is not the second"))

(assert (! (forall ((x Tensor) (t Tensor) (y Tensor))
    (= (ewmul (smul x t) (smul y t)) (smul (ewmul x y) t)))
  :named smul-twice
  :ranks "x y 1..2, t 0"
  :source "the factor counts twice: x = y = 1, t = 2 gives 4 and 2"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor) (y Tensor))
    (= (pool2d_max k s p q (ewadd x y))
         (ewadd (pool2d_max k s p q x) (pool2d_max k s p q y))))
  :named maximum-over-ewadd
  :ranks "x y 4"
  :domain "k [2,2] [3,3]; s [1,1]; p same; q [0,0,0,0]"
  :source "the greatest sum is not the sum of the greatest"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor) (t Tensor))
    (= (pool2d_max k s p q (smul x t)) (smul (pool2d_max k s p q x) t)))
  :named maximum-of-smul
  :ranks "x 4, t 0"
  :domain "k [2,2]; s [1,1]; p same; q [0,0,0,0]"
  :source "false for t < 0"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (relu (ewmul x y)) (ewmul (relu x) y)))
  :named relu-through-product
  :ranks "x y 1..2"
  :source "false for x < 0 and y < 0"))

(assert (! (forall ((x Tensor))
    (= (relu (ewadd x (ewmul x x))) (ewadd x (ewmul x x))))
  :named relu-of-oblong
  :ranks "x 0..2"
  :source "true of integers alone: x = -1/2 gives 0 and -1/4"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (w Tensor) (y Tensor))
    (= (ewmul (conv2d s p q d g activation.none x w) y)
         (conv2d s p q d g activation.none x w)))
  :named conv-drops-product
  :ranks "x w y 4"
  :domain "g 1; p same; s [1,1]; d [1,1]; q [0,0,0,0]"
  :source "a rule that TASO ships by hand"))

(assert (! (forall ((x Tensor) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.valid (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x w)
       (winograd_output 2 (broadcast_matmul sizes0 (sizes2 2 3) (winograd_input 2 x)
         (winograd_weight 2 (transpose (sizes4 0 1 3 2) w))))))
  :named conv-by-winograd-of-turned-taps
  :ranks "x w 4"
  :domain "w.2 3; w.3 3"
  :source "rows and columns of taps exchanged"))
