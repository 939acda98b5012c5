; The axioms of TASO, as its authors state them and audit them: dimensions 1 to 4, kernels 1 and 3, strides 1 and 2, padding
; same and valid, activation none and relu. (Jia et al., TASO, SOSP 2019, table 3: 43 axioms; the list
; is that of its program, where there are 44, of which one is three here, by rank.) They have neither groups nor dilations, so these are 1 here.
;
;   rewright axioms check experiments/axioms/taso.smt2
;
; No prover reads this file: axioms/ says all that is here, for more ranks and parameters. Which axiom there says what is
; said here is what :source names; the test property.TasoAxioms.* proves each from those alone.
(set-logic UFNIRA)
(set-info :padding-same "floor((k-1)/2) before, ceil((k-1)/2) after, at every stride")
(set-info :pool-max-padding "never the greatest")
(set-info :pool-average-default "divides by the size of the kernel")
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes1 (Int) Sizes)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes3 (Int Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun dim (Int Tensor) Int)
(define-fun padding.same () Int 0)
(define-fun activation.none () Int 0)
(define-fun activation.relu () Int 1)
(define-fun count_include_pad.yes () Int 0)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun smul (Tensor Tensor) Tensor)
(declare-fun relu (Tensor) Tensor)
(declare-fun matmul (Tensor Tensor) Tensor)
(declare-fun transpose (Sizes Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun split.0 (Int Sizes Tensor) Tensor)
(declare-fun split.1 (Int Sizes Tensor) Tensor)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)
(declare-fun pool2d_max (Sizes Sizes Int Sizes Tensor) Tensor)
(declare-fun pool2d_avg (Sizes Sizes Int Sizes Int Tensor) Tensor)
(declare-fun enlarge (Sizes Tensor) Tensor)
(declare-fun constant_pool (Sizes) Tensor)
(declare-fun constant_conv (Sizes) Tensor)
(declare-fun constant_one (Sizes) Tensor)
(declare-fun constant_identity (Sizes) Tensor)

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (ewadd x (ewadd y z))
       (ewadd (ewadd x y) z)))
  :named taso-ewadd-associative
  :ranks "x y z 2..4"
  :source "ewadd-associates"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (ewadd x y)
       (ewadd y x)))
  :named taso-ewadd-commutative
  :ranks "x y 2..4"
  :source "ewadd-commutes"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (ewmul x (ewmul y z))
       (ewmul (ewmul x y) z)))
  :named taso-ewmul-associative
  :ranks "x y z 2..4"
  :source "ewmul-associates"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (ewmul x y)
       (ewmul y x)))
  :named taso-ewmul-commutative
  :ranks "x y 2..4"
  :source "ewmul-commutes"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (ewmul (ewadd x y) z)
       (ewadd (ewmul x z) (ewmul y z))))
  :named taso-distributive
  :ranks "x y z 2..4"
  :source "ewmul-over-ewadd"))

(assert (! (forall ((x Tensor) (y Tensor) (w Tensor))
    (= (smul (smul x y) w)
       (smul x (smul y w))))
  :named taso-smul-associative
  :ranks "x 2..4, y w 0"
  :source "smul-smul"))

(assert (! (forall ((x Tensor) (y Tensor) (w Tensor))
    (= (smul (ewadd x y) w)
       (ewadd (smul x w) (smul y w))))
  :named taso-smul-ewadd
  :ranks "x y 2..4, w 0"
  :source "smul-over-ewadd"))

(assert (! (forall ((x Tensor) (y Tensor) (w Tensor))
    (= (smul (ewmul x y) w)
       (ewmul x (smul y w))))
  :named taso-smul-ewmul
  :ranks "x y 2..4, w 0"
  :source "smul-through-ewmul"))

(assert (! (forall ((x Tensor) (w Tensor))
    (= (smul (transpose (sizes2 1 0) x) w)
       (transpose (sizes2 1 0) (smul x w))))
  :named taso-smul-transpose
  :ranks "x 2, w 0"
  :source "transpose-of-smul"))

(assert (! (forall ((x Tensor) (y Tensor) (w Tensor))
    (= (smul (matmul x y) w)
       (matmul x (smul y w))))
  :named taso-smul-matmul
  :ranks "x y 2, w 0"
  :source "smul-through-right-of-matmul"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (w Tensor))
    (= (smul (concat a x y) w)
       (concat a (smul x w) (smul y w))))
  :named taso-smul-concat
  :ranks "x y 2..4, w 0"
  :source "smul-of-concat"))

(assert (! (forall ((s Sizes) (p Int) (c Int) (x Tensor) (y Tensor) (w Tensor))
    (= (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 c (smul x w) y)
       (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 c x (smul y w))))
  :named taso-smul-conv-moves
  :ranks "x y 4, w 0"
  :source "conv-smul-moves conv-with-relu"))

(assert (! (forall ((s Sizes) (p Int) (x Tensor) (y Tensor) (w Tensor))
    (= (smul (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x y) w)
       (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none (smul x w) y)))
  :named taso-smul-conv
  :ranks "x y 4, w 0"
  :source "conv-of-data-smul"))

(assert (! (forall ((s Sizes) (p Int) (x Tensor) (y Tensor))
    (= (relu (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x y))
       (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.relu x y)))
  :named taso-relu-conv
  :ranks "x y 4"
  :source "conv-with-relu"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (relu (concat a x y))
       (concat a (relu x) (relu y))))
  :named taso-relu-concat
  :ranks "x y 2..4"
  :source "relu-of-concat"))

(assert (! (forall ((x Tensor))
    (= (relu (transpose (sizes2 1 0) x))
       (transpose (sizes2 1 0) (relu x))))
  :named taso-relu-transpose
  :ranks "x 2"
  :source "transpose-of-relu"))

(assert (! (forall ((s Sizes) (p Int) (x Tensor) (y Tensor) (z Tensor))
    (= (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x (ewadd y z))
       (ewadd (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x y) (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x z))))
  :named taso-conv-weight-ewadd
  :ranks "x y z 4"
  :source "conv-over-weight-ewadd"))

(assert (! (forall ((s Sizes) (p Int) (x Tensor) (y Tensor) (z Tensor))
    (= (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none (ewadd x y) z)
       (ewadd (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x z) (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none y z))))
  :named taso-conv-data-ewadd
  :ranks "x y z 4"
  :source "conv-over-data-ewadd"))

(assert (! (forall ((s Sizes) (p Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (ewadd (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x y) (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none z w))
       (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none (concat 1 x z) (concat 1 y w))))
  :named taso-conv-channels
  :ranks "x y z w 4"
  :source "conv-of-channel-concats"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (ewadd (matmul x y) (matmul z w))
       (matmul (concat 1 x z) (concat 0 y w))))
  :named taso-matmul-inner
  :ranks "x y z w 2"
  :source "matmul-of-inner-concats"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (concat a (ewadd x y) (ewadd z w))
       (ewadd (concat a x z) (concat a y w))))
  :named taso-ewadd-concat
  :ranks "x y z w 2..4"
  :source "ewadd-of-concats"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (concat a (ewmul x y) (ewmul z w))
       (ewmul (concat a x z) (concat a y w))))
  :named taso-ewmul-concat
  :ranks "x y z w 2..4"
  :source "ewmul-of-concats"))

(assert (! (forall ((s Sizes) (p Int) (c Int) (x Tensor) (y Tensor) (z Tensor))
    (= (concat 0 (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 c x z) (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 c y z))
       (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 c (concat 0 x y) z)))
  :named taso-conv-batch
  :ranks "x y z 4"
  :source "conv-of-batch-concat"))

(assert (! (forall ((s Sizes) (p Int) (c Int) (x Tensor) (y Tensor) (z Tensor))
    (= (concat 1 (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 c x y) (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 c x z))
       (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 c x (concat 0 y z))))
  :named taso-conv-outputs
  :ranks "x y z 4"
  :source "conv-of-weight-concat"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul x (matmul y z))
       (matmul (matmul x y) z)))
  :named taso-matmul-associative
  :ranks "x y z 2"
  :source "matmul-associates"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (split.0 a (sizes2 (dim a x) (dim a y)) (concat a x y))
       x))
  :named taso-split-first
  :ranks "x y 2..4"
  :source "split-first-of-concat"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (split.1 a (sizes2 (dim a x) (dim a y)) (concat a x y))
       y))
  :named taso-split-second
  :ranks "x y 2..4"
  :source "split-second-of-concat"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul x (concat 1 y z))
       (concat 1 (matmul x y) (matmul x z))))
  :named taso-matmul-concat
  :ranks "x y z 2"
  :source "matmul-of-right-concat"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul x (ewadd y z))
       (ewadd (matmul x y) (matmul x z))))
  :named taso-matmul-ewadd
  :ranks "x y z 2"
  :source "matmul-over-right-ewadd"))

(assert (! (forall ((x Tensor))
    (= (transpose (sizes2 1 0) (transpose (sizes2 1 0) x))
       x))
  :named taso-transpose-transpose
  :ranks "x 2"
  :source "transpose-transpose"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes2 1 0) (matmul x y))
       (matmul (transpose (sizes2 1 0) y) (transpose (sizes2 1 0) x))))
  :named taso-transpose-matmul
  :ranks "x y 2"
  :source "transpose-of-matmul"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes2 1 0) (concat 0 x y))
       (concat 1 (transpose (sizes2 1 0) x) (transpose (sizes2 1 0) y))))
  :named taso-transpose-concat
  :ranks "x y 2"
  :source "transpose-of-concat-0"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (concat 0 (concat 1 x y) (concat 1 z w))
       (concat 1 (concat 0 x z) (concat 0 y w))))
  :named taso-concat-geometry
  :ranks "x y z w 2..4"
  :source "concat-exchange"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes2 1 0) (ewadd x y))
       (ewadd (transpose (sizes2 1 0) x) (transpose (sizes2 1 0) y))))
  :named taso-transpose-ewadd
  :ranks "x y 2"
  :source "transpose-of-ewadd"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes2 1 0) (ewmul x y))
       (ewmul (transpose (sizes2 1 0) x) (transpose (sizes2 1 0) y))))
  :named taso-transpose-ewmul
  :ranks "x y 2"
  :source "transpose-of-ewmul"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (x Tensor) (y Tensor))
    (= (concat 1 (pool2d_avg k s p (sizes4 0 0 0 0) count_include_pad.yes x) (pool2d_avg k s p (sizes4 0 0 0 0) count_include_pad.yes y))
       (pool2d_avg k s p (sizes4 0 0 0 0) count_include_pad.yes (concat 1 x y))))
  :named taso-average-concat
  :ranks "x y 4"
  :source "average-of-concat-1"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (x Tensor) (y Tensor))
    (= (concat 0 (pool2d_max k s p (sizes4 0 0 0 0) x) (pool2d_max k s p (sizes4 0 0 0 0) y))
       (pool2d_max k s p (sizes4 0 0 0 0) (concat 0 x y))))
  :named taso-maximum-concat-batch
  :ranks "x y 4"
  :source "maximum-of-concat-0"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (x Tensor) (y Tensor))
    (= (concat 1 (pool2d_max k s p (sizes4 0 0 0 0) x) (pool2d_max k s p (sizes4 0 0 0 0) y))
       (pool2d_max k s p (sizes4 0 0 0 0) (concat 1 x y))))
  :named taso-maximum-concat
  :ranks "x y 4"
  :source "maximum-of-concat-1"))

(assert (! (forall ((s Sizes) (p Int) (x Tensor) (m Int) (n Int))
    (= (conv2d s p (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x (constant_pool (sizes4 (dim 1 x) (dim 1 x) m n)))
       (pool2d_avg (sizes2 m n) s p (sizes4 0 0 0 0) count_include_pad.yes x)))
  :named taso-constant-pool
  :ranks "x 4"
  :source "average-as-convolution"))

(assert (! (forall ((x Tensor) (m Int) (n Int))
    (= (conv2d (sizes2 1 1) padding.same (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x (constant_conv (sizes4 (dim 1 x) (dim 1 x) m n)))
       x))
  :named taso-constant-conv
  :ranks "x 4"
  :domain "m any 1 3; n any 1 3"
  :source "convolution-with-identity"))

(assert (! (forall ((x Tensor))
    (= (matmul x (constant_identity (sizes2 (dim 1 x) (dim 1 x))))
       x))
  :named taso-constant-identity
  :ranks "x 2"
  :source "matmul-identity-right"))

(assert (! (forall ((x Tensor))
    (= (ewmul x (constant_one (sizes2 (dim 0 x) (dim 1 x))))
       x))
  :named taso-constant-one-2
  :ranks "x 2"
  :source "ewmul-one-2"))

(assert (! (forall ((x Tensor))
    (= (ewmul x (constant_one (sizes3 (dim 0 x) (dim 1 x) (dim 2 x))))
       x))
  :named taso-constant-one-3
  :ranks "x 3"
  :source "ewmul-one-3"))

(assert (! (forall ((x Tensor))
    (= (ewmul x (constant_one (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x))))
       x))
  :named taso-constant-one-4
  :ranks "x 4"
  :source "ewmul-one-4"))

(assert (! (forall ((a Int) (b Int) (m Int) (n Int))
    (= (pool2d_avg (sizes2 m n) (sizes2 1 1) padding.same (sizes4 0 0 0 0) count_include_pad.yes (constant_conv (sizes4 a b m n)))
       (constant_pool (sizes4 a b m n))))
  :named taso-constant-conv-pool
  :domain "m 1 3; n 1 3"
  :source "average-of-identity-weight"))

(assert (! (forall ((s Sizes) (c Int) (k Sizes) (x Tensor) (y Tensor))
    (= (conv2d s padding.same (sizes4 0 0 0 0) (sizes2 1 1) 1 c x y)
       (conv2d s padding.same (sizes4 0 0 0 0) (sizes2 1 1) 1 c x (enlarge k y))))
  :named taso-enlarge
  :ranks "x y 4"
  :source "conv-of-enlarge"))
