; Reshape, slice, gather, expand and pad: where elements lie, beyond layout.smt2.
; README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(set-info :padding-same "floor((k-1)/2) before, ceil((k-1)/2) after, at every stride")
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun smul (Tensor Tensor) Tensor)
(declare-fun relu (Tensor) Tensor)
(declare-fun matmul (Tensor Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun split.0 (Int Sizes Tensor) Tensor)
(declare-fun split.1 (Int Sizes Tensor) Tensor)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)
(declare-fun constant_one (Sizes) Tensor)
(declare-fun reshape (Sizes Tensor) Tensor)
(declare-fun slice (Sizes Sizes Sizes Sizes Tensor) Tensor)
(declare-fun gather (Int Sizes Tensor) Tensor)
(declare-fun expand (Sizes Sizes Tensor) Tensor)
(declare-fun pad (Sizes Sizes Real Tensor) Tensor)
(declare-fun broadcast_matmul (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun dim (Int Tensor) Int)
(declare-fun abs/1 (Tensor) Tensor)
(declare-fun neg (Tensor) Tensor)
(declare-fun exp (Tensor) Tensor)
(declare-fun log (Tensor) Tensor)
(declare-fun sqrt (Tensor) Tensor)
(declare-fun erf (Tensor) Tensor)
(declare-fun sigmoid (Tensor) Tensor)
(declare-fun tanh (Tensor) Tensor)
(declare-fun softplus (Tensor) Tensor)
(declare-fun leaky_relu (Real Tensor) Tensor)
(declare-fun elu (Real Real Tensor) Tensor)
(declare-fun hard_sigmoid (Real Real Tensor) Tensor)
(declare-fun clip (Real Real Tensor) Tensor)
(declare-fun power (Int Tensor) Tensor)
(declare-fun sizes1 (Int) Sizes)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes3 (Int Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun sizes0 () Sizes)
(define-fun padding.valid () Int 1)
(define-fun padding.explicit () Int 2)

; --- reshape: the same elements in the same order ---

(assert (! (forall ((s Sizes) (t Sizes) (x Tensor))
    (= (reshape s (reshape t x)) (reshape s x)))
  :named reshape-reshape
  :ranks "x 0..4"
  :domain "s any _1 _2 _3; t any _1 _2 _3"
  :source "row-major order does not change"))

(assert (! (forall ((x Tensor))
    (= (reshape (sizes1 (dim 0 x)) x) x))
  :named reshape-to-own-shape-1
  :ranks "x 1"
  :source "nothing moves"))

(assert (! (forall ((x Tensor))
    (= (reshape (sizes2 (dim 0 x) (dim 1 x)) x) x))
  :named reshape-to-own-shape-2
  :ranks "x 2"
  :source "nothing moves"))

(assert (! (forall ((x Tensor))
    (= (reshape (sizes3 (dim 0 x) (dim 1 x) (dim 2 x)) x) x))
  :named reshape-to-own-shape-3
  :ranks "x 3"
  :source "nothing moves"))

(assert (! (forall ((x Tensor))
    (= (reshape (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x)) x) x))
  :named reshape-to-own-shape-4
  :ranks "x 4"
  :source "nothing moves"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (reshape s (ewadd x y)) (ewadd (reshape s x) (reshape s y))))
  :named reshape-of-ewadd
  :ranks "x y 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (reshape s (ewmul x y)) (ewmul (reshape s x) (reshape s y))))
  :named reshape-of-ewmul
  :ranks "x y 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor) (t Tensor))
    (= (reshape s (smul x t)) (smul (reshape s x) t)))
  :named reshape-of-smul
  :ranks "x 1..4, t 0"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (relu x)) (relu (reshape s x))))
  :named reshape-of-relu
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (abs/1 x)) (abs/1 (reshape s x))))
  :named reshape-of-abs
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (neg x)) (neg (reshape s x))))
  :named reshape-of-neg
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (exp x)) (exp (reshape s x))))
  :named reshape-of-exp
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (log x)) (log (reshape s x))))
  :named reshape-of-log
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (sqrt x)) (sqrt (reshape s x))))
  :named reshape-of-sqrt
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (erf x)) (erf (reshape s x))))
  :named reshape-of-erf
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (sigmoid x)) (sigmoid (reshape s x))))
  :named reshape-of-sigmoid
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (tanh x)) (tanh (reshape s x))))
  :named reshape-of-tanh
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (reshape s (softplus x)) (softplus (reshape s x))))
  :named reshape-of-softplus
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((u Real) (s Sizes) (x Tensor))
    (= (reshape s (leaky_relu u x)) (leaky_relu u (reshape s x))))
  :named reshape-of-leaky-relu
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((u Real) (v Real) (s Sizes) (x Tensor))
    (= (reshape s (elu u v x)) (elu u v (reshape s x))))
  :named reshape-of-elu
  :ranks "x 1..4"
  :domain "s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((u Real) (v Real) (s Sizes) (x Tensor))
    (= (reshape s (hard_sigmoid u v x)) (hard_sigmoid u v (reshape s x))))
  :named reshape-of-hard-sigmoid
  :ranks "x 1..4"
  :domain "u any 0.2 -1.5; v any 0.5; s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((u Real) (v Real) (s Sizes) (x Tensor))
    (= (reshape s (clip u v x)) (clip u v (reshape s x))))
  :named reshape-of-clip
  :ranks "x 1..4"
  :domain "u any -1.0 0.0; v any 0.5 2.0; s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((u Int) (s Sizes) (x Tensor))
    (= (reshape s (power u x)) (power u (reshape s x))))
  :named reshape-of-power
  :ranks "x 1..4"
  :domain "u any 2 3 -1; s any _1 _2 _3"
  :source "element by element"))

(assert (! (forall ((n Int) (x Tensor) (y Tensor))
    (= (reshape (sizes1 n) (concat 0 x y))
         (concat 0 (reshape (sizes1 (* (dim 0 x) (dim 1 x))) x) (reshape (sizes1 (* (dim 0 y) (dim 1 y))) y))))
  :named flatten-of-concat-2
  :ranks "x y 2"
  :source "along the first axis elements follow each other"))

(assert (! (forall ((n Int) (x Tensor) (y Tensor))
    (= (reshape (sizes1 n) (concat 0 x y))
         (concat 0 (reshape (sizes1 (* (dim 0 x) (dim 1 x) (dim 2 x))) x) (reshape (sizes1 (* (dim 0 y) (dim 1 y) (dim 2 y))) y))))
  :named flatten-of-concat-3
  :ranks "x y 3"
  :source "along the first axis elements follow each other"))

(assert (! (forall ((n Int) (x Tensor) (y Tensor))
    (= (reshape (sizes1 n) (concat 0 x y))
         (concat 0 (reshape (sizes1 (* (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x))) x) (reshape (sizes1 (* (dim 0 y) (dim 1 y) (dim 2 y) (dim 3 y))) y))))
  :named flatten-of-concat-4
  :ranks "x y 4"
  :source "along the first axis elements follow each other"))

(assert (! (forall ((a Int) (s Sizes))
    (= (reshape s (constant_one (sizes1 a))) (constant_one s)))
  :named reshape-of-ones-1
  :domain "s any _1 _2 _3"
  :source "all elements are 1"))

(assert (! (forall ((a Int) (b Int) (s Sizes))
    (= (reshape s (constant_one (sizes2 a b))) (constant_one s)))
  :named reshape-of-ones-2
  :domain "s any _1 _2 _3"
  :source "all elements are 1"))

(assert (! (forall ((a Int) (b Int) (c Int) (s Sizes))
    (= (reshape s (constant_one (sizes3 a b c))) (constant_one s)))
  :named reshape-of-ones-3
  :domain "s any _1 _2 _3"
  :source "all elements are 1"))

(assert (! (forall ((a Int) (b Int) (c Int) (d Int) (s Sizes))
    (= (reshape s (constant_one (sizes4 a b c d))) (constant_one s)))
  :named reshape-of-ones-4
  :domain "s any _1 _2 _3"
  :source "all elements are 1"))

; Rows of all batches under each other: only where every batch has the same second factor.

(assert (! (forall ((x Tensor) (w Tensor))
    (= (reshape (sizes3 (dim 0 x) (dim 1 x) (dim 1 w)) (matmul (reshape (sizes2 (* (dim 0 x) (dim 1 x)) (dim 2 x)) x) w))
         (broadcast_matmul sizes0 sizes0 x w)))
  :named matmul-of-flattened-rows
  :ranks "x 3, w 2"
  :source "row by row"))

; --- slice and gather ---

(assert (! (forall ((a Int) (m Int) (n Int) (x Tensor))
    (= (split.0 a (sizes2 m n) x) (slice (sizes1 a) (sizes1 0) (sizes1 m) (sizes1 1) x)))
  :named split-first-as-slice
  :ranks "x 1..4"
  :source "definition of a split"))

(assert (! (forall ((a Int) (m Int) (n Int) (x Tensor))
    (= (split.1 a (sizes2 m n) x) (slice (sizes1 a) (sizes1 m) (sizes1 n) (sizes1 1) x)))
  :named split-second-as-slice
  :ranks "x 1..4"
  :source "definition of a split"))

(assert (! (forall ((a Int) (m Int) (n Int) (p Int) (q Int) (x Tensor))
    (= (slice (sizes1 a) (sizes1 p) (sizes1 m) (sizes1 1) (slice (sizes1 a) (sizes1 q) (sizes1 n) (sizes1 1) x))
         (slice (sizes1 a) (sizes1 (+ p q)) (sizes1 m) (sizes1 1) x)))
  :named slice-slice
  :ranks "x 1..3"
  :domain "p any 0 1 2; q any 0 1"
  :source "position p of what begins at q"))

(assert (! (forall ((k Sizes) (p Sizes) (m Sizes) (t Sizes) (x Tensor) (y Tensor))
    (= (slice k p m t (ewadd x y)) (ewadd (slice k p m t x) (slice k p m t y))))
  :named slice-of-ewadd
  :ranks "x y 1..2"
  :domain "k any [0] [1] [0,1]; p any _1 _2; m any _1 _2; t any [1] [2] [-1] [1,1] [2,1]"
  :source "positions are taken, not values"))

(assert (! (forall ((k Sizes) (p Sizes) (m Sizes) (t Sizes) (x Tensor) (y Tensor))
    (= (slice k p m t (ewmul x y)) (ewmul (slice k p m t x) (slice k p m t y))))
  :named slice-of-ewmul
  :ranks "x y 1..2"
  :domain "k any [0] [1] [0,1]; p any _1 _2; m any _1 _2; t any [1] [2] [-1] [1,1] [2,1]"
  :source "positions are taken, not values"))

(assert (! (forall ((k Sizes) (p Sizes) (m Sizes) (t Sizes) (x Tensor) (w Tensor))
    (= (slice k p m t (smul x w)) (smul (slice k p m t x) w)))
  :named slice-of-smul
  :ranks "x 1..2, w 0"
  :domain "k any [0] [1] [0,1]; p any _1 _2; m any _1 _2; t any [1] [2] [-1] [1,1] [2,1]"
  :source "positions are taken, not values"))

(assert (! (forall ((k Sizes) (p Sizes) (m Sizes) (t Sizes) (x Tensor))
    (= (slice k p m t (relu x)) (relu (slice k p m t x))))
  :named slice-of-relu
  :ranks "x 1..2"
  :domain "k any [0] [1] [0,1]; p any _1 _2; m any _1 _2; t any [1] [2] [-1] [1,1] [2,1]"
  :source "positions are taken, not values"))

(assert (! (forall ((k Sizes) (p Sizes) (m Sizes) (t Sizes) (x Tensor))
    (= (slice k p m t (sigmoid x)) (sigmoid (slice k p m t x))))
  :named slice-of-sigmoid
  :ranks "x 1..2"
  :domain "k any [0] [1] [0,1]; p any _1 _2; m any _1 _2; t any [1] [2] [-1] [1,1] [2,1]"
  :source "positions are taken, not values"))

(assert (! (forall ((k Sizes) (p Sizes) (m Sizes) (t Sizes) (x Tensor))
    (= (slice k p m t (tanh x)) (tanh (slice k p m t x))))
  :named slice-of-tanh
  :ranks "x 1..2"
  :domain "k any [0] [1] [0,1]; p any _1 _2; m any _1 _2; t any [1] [2] [-1] [1,1] [2,1]"
  :source "positions are taken, not values"))

(assert (! (forall ((k Sizes) (p Sizes) (m Sizes) (t Sizes) (x Tensor))
    (= (slice k p m t (neg x)) (neg (slice k p m t x))))
  :named slice-of-neg
  :ranks "x 1..2"
  :domain "k any [0] [1] [0,1]; p any _1 _2; m any _1 _2; t any [1] [2] [-1] [1,1] [2,1]"
  :source "positions are taken, not values"))

(assert (! (forall ((k Sizes) (p Sizes) (m Sizes) (t Sizes) (x Tensor))
    (= (slice k p m t (erf x)) (erf (slice k p m t x))))
  :named slice-of-erf
  :ranks "x 1..2"
  :domain "k any [0] [1] [0,1]; p any _1 _2; m any _1 _2; t any [1] [2] [-1] [1,1] [2,1]"
  :source "positions are taken, not values"))

(assert (! (forall ((a Int) (k Sizes) (x Tensor) (y Tensor))
    (= (gather a k (ewadd x y)) (ewadd (gather a k x) (gather a k y))))
  :named gather-of-ewadd
  :ranks "x y 1..3"
  :source "positions are taken, not values"))

(assert (! (forall ((a Int) (k Sizes) (x Tensor) (y Tensor))
    (= (gather a k (ewmul x y)) (ewmul (gather a k x) (gather a k y))))
  :named gather-of-ewmul
  :ranks "x y 1..3"
  :source "positions are taken, not values"))

(assert (! (forall ((a Int) (k Sizes) (x Tensor) (w Tensor))
    (= (gather a k (smul x w)) (smul (gather a k x) w)))
  :named gather-of-smul
  :ranks "x 1..3, w 0"
  :source "positions are taken, not values"))

(assert (! (forall ((a Int) (k Sizes) (x Tensor))
    (= (gather a k (relu x)) (relu (gather a k x))))
  :named gather-of-relu
  :ranks "x 1..3"
  :source "positions are taken, not values"))

(assert (! (forall ((a Int) (k Sizes) (x Tensor))
    (= (gather a k (sigmoid x)) (sigmoid (gather a k x))))
  :named gather-of-sigmoid
  :ranks "x 1..3"
  :source "positions are taken, not values"))

(assert (! (forall ((a Int) (k Sizes) (x Tensor))
    (= (gather a k (tanh x)) (tanh (gather a k x))))
  :named gather-of-tanh
  :ranks "x 1..3"
  :source "positions are taken, not values"))

(assert (! (forall ((a Int) (k Sizes) (x Tensor))
    (= (gather a k (neg x)) (neg (gather a k x))))
  :named gather-of-neg
  :ranks "x 1..3"
  :source "positions are taken, not values"))

(assert (! (forall ((a Int) (k Sizes) (x Tensor))
    (= (gather a k (erf x)) (erf (gather a k x))))
  :named gather-of-erf
  :ranks "x 1..3"
  :source "positions are taken, not values"))

(assert (! (forall ((p Sizes) (q Sizes) (x Tensor) (y Tensor))
    (= (pad p q 0.0 (ewadd x y)) (ewadd (pad p q 0.0 x) (pad p q 0.0 y))))
  :named pad-of-ewadd
  :ranks "x y 1..2"
  :domain "p any [0] [1] [2] [0,1] [1,0]; q any [0] [1] [0,0] [2,1]"
  :source "0 and 0 give 0"))

(assert (! (forall ((p Sizes) (q Sizes) (x Tensor) (y Tensor))
    (= (pad p q 0.0 (ewmul x y)) (ewmul (pad p q 0.0 x) (pad p q 0.0 y))))
  :named pad-of-ewmul
  :ranks "x y 1..2"
  :domain "p any [0] [1] [2] [0,1] [1,0]; q any [0] [1] [0,0] [2,1]"
  :source "0 and 0 give 0"))

(assert (! (forall ((p Sizes) (q Sizes) (x Tensor) (w Tensor))
    (= (pad p q 0.0 (smul x w)) (smul (pad p q 0.0 x) w)))
  :named pad-of-smul
  :ranks "x 1..2, w 0"
  :domain "p any [0] [1] [2] [0,1] [1,0]; q any [0] [1] [0,0] [2,1]"
  :source "a multiple of 0 is 0"))

(assert (! (forall ((p Sizes) (q Sizes) (x Tensor))
    (= (pad p q 0.0 (relu x)) (relu (pad p q 0.0 x))))
  :named pad-of-relu
  :ranks "x 1..2"
  :needs "real-relu"
  :domain "p any [0] [1] [2] [0,1] [1,0]; q any [0] [1] [0,0] [2,1]"
  :source "max(0, 0) = 0"))

(assert (! (forall ((k Sizes) (n Sizes) (x Tensor) (y Tensor))
    (= (expand k n (ewadd x y)) (ewadd (expand k n x) (expand k n y))))
  :named expand-of-ewadd
  :ranks "x y 1..3"
  :domain "k any [0] [1] [0,1]; n any _1 _2"
  :source "repetition"))

(assert (! (forall ((k Sizes) (n Sizes) (x Tensor) (y Tensor))
    (= (expand k n (ewmul x y)) (ewmul (expand k n x) (expand k n y))))
  :named expand-of-ewmul
  :ranks "x y 1..3"
  :domain "k any [0] [1] [0,1]; n any _1 _2"
  :source "repetition"))

(assert (! (forall ((k Sizes) (n Sizes) (x Tensor) (w Tensor))
    (= (expand k n (smul x w)) (smul (expand k n x) w)))
  :named expand-of-smul
  :ranks "x 1..3, w 0"
  :domain "k any [0] [1] [0,1]; n any _1 _2"
  :source "repetition"))

(assert (! (forall ((k Sizes) (n Sizes) (x Tensor))
    (= (expand k n (relu x)) (relu (expand k n x))))
  :named expand-of-relu
  :ranks "x 1..3"
  :domain "k any [0] [1] [0,1]; n any _1 _2"
  :source "repetition"))

(assert (! (forall ((k Sizes) (n Sizes) (x Tensor))
    (= (expand k n (sigmoid x)) (sigmoid (expand k n x))))
  :named expand-of-sigmoid
  :ranks "x 1..3"
  :domain "k any [0] [1] [0,1]; n any _1 _2"
  :source "repetition"))

(assert (! (forall ((k Sizes) (n Sizes) (x Tensor))
    (= (expand k n (tanh x)) (tanh (expand k n x))))
  :named expand-of-tanh
  :ranks "x 1..3"
  :domain "k any [0] [1] [0,1]; n any _1 _2"
  :source "repetition"))

(assert (! (forall ((k Sizes) (n Sizes) (x Tensor))
    (= (expand k n (neg x)) (neg (expand k n x))))
  :named expand-of-neg
  :ranks "x 1..3"
  :domain "k any [0] [1] [0,1]; n any _1 _2"
  :source "repetition"))

(assert (! (forall ((k Sizes) (n Sizes) (x Tensor))
    (= (expand k n (erf x)) (erf (expand k n x))))
  :named expand-of-erf
  :ranks "x 1..3"
  :domain "k any [0] [1] [0,1]; n any _1 _2"
  :source "repetition"))

(assert (! (forall ((a Int) (k Sizes) (b Int) (x Tensor) (y Tensor))
    (= (gather a k (concat b x y)) (concat b (gather a k x) (gather a k y))))
  :named gather-of-concat-elsewhere
  :ranks "x y 2..4"
  :condition "a != b"
  :source "positions along another axis"))

(assert (! (forall ((k Sizes) (x Tensor) (y Tensor))
    (= (gather 0 k (matmul x y)) (matmul (gather 0 k x) y)))
  :named gather-of-matmul-rows
  :ranks "x y 2"
  :source "row by row"))

(assert (! (forall ((k Sizes) (x Tensor) (y Tensor))
    (= (gather 1 k (matmul x y)) (matmul x (gather 1 k y))))
  :named gather-of-matmul-columns
  :ranks "x y 2"
  :source "column by column"))

(assert (! (forall ((a Int) (m Int) (p Int) (b Int) (t Int) (x Tensor) (y Tensor))
    (= (slice (sizes1 a) (sizes1 p) (sizes1 m) (sizes1 t) (concat b x y))
         (concat b (slice (sizes1 a) (sizes1 p) (sizes1 m) (sizes1 t) x) (slice (sizes1 a) (sizes1 p) (sizes1 m) (sizes1 t) y))))
  :named slice-of-concat-elsewhere
  :ranks "x y 2..4"
  :condition "a != b"
  :domain "p any 0 1; t any 1 2"
  :source "positions along another axis"))

; --- padding and convolution ---

(assert (! (forall ((s Sizes) (d Sizes) (g Int) (a Int) (i Int) (j Int) (k Int) (l Int) (x Tensor) (w Tensor))
    (= (conv2d s padding.valid (sizes4 0 0 0 0) d g a (pad (sizes4 0 0 i j) (sizes4 0 0 k l) 0.0 x) w)
         (conv2d s padding.explicit (sizes4 i j k l) d g a x w)))
  :named pad-before-valid-conv
  :ranks "x w 4"
  :domain "i any 0 1; j any 0 1; k any 0 2; l any 1; a any none relu"
  :source "zeros put before are those that padding stands for"))

(assert (! (forall ((i Int) (j Int) (k Int) (l Int) (x Tensor))
    (= (pad (sizes1 i) (sizes1 j) 0.0 (pad (sizes1 k) (sizes1 l) 0.0 x))
         (pad (sizes1 (+ i k)) (sizes1 (+ j l)) 0.0 x)))
  :named pad-pad
  :ranks "x 1"
  :source "zeros around zeros"))
