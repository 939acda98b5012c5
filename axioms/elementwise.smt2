; Sums, products, multiples and relu, element by element. No operand is broadcast: shapes are equal.
; README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes1 (Int) Sizes)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes3 (Int Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun dim (Int Tensor) Int)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun smul (Tensor Tensor) Tensor)
(declare-fun relu (Tensor) Tensor)
(declare-fun constant_one (Sizes) Tensor)

; --- sums and products ---

(assert (! (forall ((x Tensor) (y Tensor))
    (= (ewadd x y) (ewadd y x)))
  :named ewadd-commutes
  :ranks "x y 0..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (ewadd x (ewadd y z)) (ewadd (ewadd x y) z)))
  :named ewadd-associates
  :ranks "x y z 0..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (ewmul x y) (ewmul y x)))
  :named ewmul-commutes
  :ranks "x y 0..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (ewmul x (ewmul y z)) (ewmul (ewmul x y) z)))
  :named ewmul-associates
  :ranks "x y z 0..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (ewmul (ewadd x y) z) (ewadd (ewmul x z) (ewmul y z))))
  :named ewmul-over-ewadd
  :ranks "x y z 0..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

; --- multiples; the factor is a tensor of rank 0 ---

(assert (! (forall ((x Tensor) (s Tensor) (t Tensor))
    (= (smul (smul x s) t) (smul x (smul s t))))
  :named smul-smul
  :ranks "x 0..4, s t 0"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((s Tensor) (t Tensor))
    (= (smul s t) (smul t s)))
  :named smul-commutes
  :ranks "s t 0"
  :source "product of two numbers"))

(assert (! (forall ((x Tensor) (y Tensor) (s Tensor))
    (= (smul (ewadd x y) s) (ewadd (smul x s) (smul y s))))
  :named smul-over-ewadd
  :ranks "x y 0..4, s 0"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor) (s Tensor))
    (= (smul (ewmul x y) s) (ewmul x (smul y s))))
  :named smul-through-ewmul
  :ranks "x y 0..4, s 0"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (s Tensor) (t Tensor))
    (= (smul (smul x s) t) (smul (smul x t) s)))
  :named smul-exchange
  :ranks "x 0..4, s t 0"
  :source "lemma: smul-smul and smul-commutes"))

(assert (! (forall ((x Tensor) (s Tensor) (t Tensor))
    (= (smul x (ewadd s t)) (ewadd (smul x s) (smul x t))))
  :named smul-by-sum
  :ranks "x 0..4, s t 0"
  :source "distributivity of numbers"))

(assert (! (forall ((x Tensor) (s Tensor))
    (= (smul x s) (ewmul x s)))
  :named smul-ewmul-scalar
  :ranks "x s 0"
  :source "both are the product where x is a number"))

; --- ones ---

(assert (! (forall ((x Tensor))
    (= (ewmul x (constant_one (sizes1 (dim 0 x)))) x))
  :named ewmul-one-1
  :ranks "x 1"
  :source "as ewmul-one-2"))

(assert (! (forall ((x Tensor))
    (= (ewmul x (constant_one (sizes2 (dim 0 x) (dim 1 x)))) x))
  :named ewmul-one-2
  :ranks "x 2"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Iewmul"))

(assert (! (forall ((x Tensor))
    (= (ewmul x (constant_one (sizes3 (dim 0 x) (dim 1 x) (dim 2 x)))) x))
  :named ewmul-one-3
  :ranks "x 3"
  :source "as ewmul-one-2"))

(assert (! (forall ((x Tensor))
    (= (ewmul x (constant_one (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x)))) x))
  :named ewmul-one-4
  :ranks "x 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Iewmul"))

; --- relu, as the function max(x, 0) ---

(assert (! (forall ((x Tensor))
    (= (relu (relu x)) (relu x)))
  :named relu-relu
  :ranks "x 0..4"
  :needs "real-relu"
  :source "max(max(x, 0), 0) = max(x, 0)"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (relu (ewmul (relu x) (relu y))) (ewmul (relu x) (relu y))))
  :named relu-of-product-of-relus
  :ranks "x y 0..4"
  :needs "real-relu"
  :source "a product of numbers >= 0 is >= 0"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (relu (ewadd (relu x) (relu y))) (ewadd (relu x) (relu y))))
  :named relu-of-sum-of-relus
  :ranks "x y 0..4"
  :needs "real-relu"
  :source "a sum of numbers >= 0 is >= 0"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (relu (ewmul (relu x) y)) (ewmul (relu x) (relu y))))
  :named relu-of-product-with-relu
  :ranks "x y 0..4"
  :needs "real-relu"
  :source "max(a b, 0) = a max(b, 0) for a >= 0"))

(assert (! (forall ((x Tensor) (s Tensor))
    (= (relu (smul (relu x) s)) (smul (relu x) (relu s))))
  :named relu-of-multiple-of-relu
  :ranks "x 0..4, s 0"
  :needs "real-relu"
  :source "max(a b, 0) = a max(b, 0) for a >= 0"))

(assert (! (forall ((x Tensor) (s Tensor))
    (= (relu (smul x (relu s))) (smul (relu x) (relu s))))
  :named relu-of-multiple-by-relu
  :ranks "x 0..4, s 0"
  :needs "real-relu"
  :source "max(a b, 0) = a max(b, 0) for a >= 0"))

(assert (! (forall ((x Tensor))
    (= (relu (ewadd x (relu x))) (ewadd (relu x) (relu x))))
  :named relu-of-sum-with-own-relu
  :ranks "x 0..4"
  :needs "real-relu"
  :source "by the sign of x"))

(assert (! (forall ((x Tensor))
    (= (relu (ewadd x (ewadd x x))) (ewadd (relu x) (ewadd (relu x) (relu x)))))
  :named relu-of-triple
  :ranks "x 0..4"
  :needs "real-relu"
  :source "max(3x, 0) = 3 max(x, 0)"))

(assert (! (forall ((x Tensor))
    (= (relu (ewadd x x)) (ewadd (relu x) (relu x))))
  :named relu-of-double
  :ranks "x 0..4"
  :needs "real-relu"
  :source "max(2x, 0) = 2 max(x, 0)"))

(assert (! (forall ((x Tensor))
    (= (ewmul (relu x) (relu x)) (ewmul x (relu x))))
  :named product-of-relus-of-one
  :ranks "x 0..4"
  :needs "real-relu"
  :source "x max(x, 0) is the square of max(x, 0)"))

(assert (! (forall ((x Tensor))
    (= (relu (ewmul x x)) (ewmul x x)))
  :named relu-of-square
  :ranks "x 0..4"
  :needs "real-relu"
  :source "a square is >= 0"))

(assert (! (forall ((a Int))
    (= (relu (constant_one (sizes1 a))) (constant_one (sizes1 a))))
  :named relu-of-one-1
  :needs "real-relu"
  :source "max(1, 0) = 1"))

(assert (! (forall ((a Int) (b Int))
    (= (relu (constant_one (sizes2 a b))) (constant_one (sizes2 a b))))
  :named relu-of-one-2
  :needs "real-relu"
  :source "max(1, 0) = 1"))

(assert (! (forall ((a Int) (b Int) (c Int))
    (= (relu (constant_one (sizes3 a b c))) (constant_one (sizes3 a b c))))
  :named relu-of-one-3
  :needs "real-relu"
  :source "max(1, 0) = 1"))

(assert (! (forall ((a Int) (b Int) (c Int) (d Int))
    (= (relu (constant_one (sizes4 a b c d))) (constant_one (sizes4 a b c d))))
  :named relu-of-one-4
  :needs "real-relu"
  :source "max(1, 0) = 1"))
