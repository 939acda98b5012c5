; The matrix product of rank 2, and of rank 3 and 4 batch by batch.
; README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes3 (Int Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun dim (Int Tensor) Int)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun smul (Tensor Tensor) Tensor)
(declare-fun relu (Tensor) Tensor)
(declare-fun matmul (Tensor Tensor) Tensor)
(declare-fun transpose (Sizes Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun split.0 (Int Sizes Tensor) Tensor)  ; axis sizes x: the first part
(declare-fun split.1 (Int Sizes Tensor) Tensor)
(declare-fun constant_identity (Sizes) Tensor)
(declare-fun constant_one (Sizes) Tensor)

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul x (matmul y z)) (matmul (matmul x y) z)))
  :named matmul-associates
  :ranks "x y z 2..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul x (ewadd y z)) (ewadd (matmul x y) (matmul x z))))
  :named matmul-over-right-ewadd
  :ranks "x y z 2..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul (ewadd x y) z) (ewadd (matmul x z) (matmul y z))))
  :named matmul-over-left-ewadd
  :ranks "x y z 2..4"
  :source "bilinearity of the matrix product"))

(assert (! (forall ((x Tensor) (y Tensor) (s Tensor))
    (= (smul (matmul x y) s) (matmul x (smul y s))))
  :named smul-through-right-of-matmul
  :ranks "x y 2..4, s 0"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor) (s Tensor))
    (= (smul (matmul x y) s) (matmul (smul x s) y)))
  :named smul-through-left-of-matmul
  :ranks "x y 2..4, s 0"
  :source "bilinearity of the matrix product"))

; --- rank 2 ---

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes2 1 0) (matmul x y))
         (matmul (transpose (sizes2 1 0) y) (transpose (sizes2 1 0) x))))
  :named transpose-of-matmul
  :ranks "x y 2"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul x (concat 1 y z)) (concat 1 (matmul x y) (matmul x z))))
  :named matmul-of-right-concat
  :ranks "x y z 2"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul (concat 0 x y) z) (concat 0 (matmul x z) (matmul y z))))
  :named matmul-of-left-concat
  :ranks "x y z 2"
  :source "row by row"))

; Left to right only where the cuts meet: x.1 = z.0. With x [1,1], y [1,2], z [2,1], w [1,1] the right side is undefined.
(assert (! (forall ((x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (matmul (concat 1 x y) (concat 0 z w)) (ewadd (matmul x z) (matmul y w))))
  :named matmul-of-inner-concats
  :ranks "x y z w 2"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.0 1 s (matmul x y)) (matmul x (split.0 1 s y))))
  :named split-first-of-matmul-right
  :ranks "x y 2"
  :source "lemma: matmul-of-right-concat and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.0 0 s (matmul x y)) (matmul (split.0 0 s x) y)))
  :named split-first-of-matmul-left
  :ranks "x y 2"
  :source "lemma: matmul-of-left-concat and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.1 1 s (matmul x y)) (matmul x (split.1 1 s y))))
  :named split-second-of-matmul-right
  :ranks "x y 2"
  :source "lemma: matmul-of-right-concat and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.1 0 s (matmul x y)) (matmul (split.1 0 s x) y)))
  :named split-second-of-matmul-left
  :ranks "x y 2"
  :source "lemma: matmul-of-left-concat and concat-of-splits"))

(assert (! (forall ((x Tensor))
    (= (matmul x (constant_identity (sizes2 (dim 1 x) (dim 1 x)))) x))
  :named matmul-identity-right
  :ranks "x 2"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Imatmul"))

(assert (! (forall ((x Tensor))
    (= (matmul (constant_identity (sizes2 (dim 0 x) (dim 0 x))) x) x))
  :named matmul-identity-left
  :ranks "x 2"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Imatmul"))

; --- rank 3 ---

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes3 0 2 1) (matmul x y))
         (matmul (transpose (sizes3 0 2 1) y) (transpose (sizes3 0 2 1) x))))
  :named transpose-of-matmul-rank-3
  :ranks "x y 3"
  :source "Jia et al., TASO, SOSP 2019, table 3, in each batch"))

(assert (! (forall ((x Tensor))
    (= (transpose (sizes3 0 2 1) (transpose (sizes3 0 2 1) x)) x))
  :named transpose-transpose-rank-3
  :ranks "x 3"
  :source "exchanging two axes twice"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul x (concat 2 y z)) (concat 2 (matmul x y) (matmul x z))))
  :named matmul-of-right-concat-rank-3
  :ranks "x y z 3"
  :source "Jia et al., TASO, SOSP 2019, table 3, in each batch"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul (concat 1 x y) z) (concat 1 (matmul x z) (matmul y z))))
  :named matmul-of-left-concat-rank-3
  :ranks "x y z 3"
  :source "row by row, in each batch"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (matmul (concat 2 x y) (concat 1 z w)) (ewadd (matmul x z) (matmul y w))))
  :named matmul-of-inner-concats-rank-3
  :ranks "x y z w 3"
  :source "Jia et al., TASO, SOSP 2019, table 3, in each batch"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.0 2 s (matmul x y)) (matmul x (split.0 2 s y))))
  :named split-first-of-matmul-right-rank-3
  :ranks "x y 3"
  :source "lemma: matmul-of-right-concat and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.0 1 s (matmul x y)) (matmul (split.0 1 s x) y)))
  :named split-first-of-matmul-left-rank-3
  :ranks "x y 3"
  :source "lemma: matmul-of-left-concat and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.1 2 s (matmul x y)) (matmul x (split.1 2 s y))))
  :named split-second-of-matmul-right-rank-3
  :ranks "x y 3"
  :source "lemma: matmul-of-right-concat and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.1 1 s (matmul x y)) (matmul (split.1 1 s x) y)))
  :named split-second-of-matmul-left-rank-3
  :ranks "x y 3"
  :source "lemma: matmul-of-left-concat and concat-of-splits"))

(assert (! (forall ((x Tensor))
    (= (matmul x (constant_identity (sizes3 (dim 0 x) (dim 2 x) (dim 2 x)))) x))
  :named matmul-identity-right-rank-3
  :ranks "x 3"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Imatmul, in each batch"))

(assert (! (forall ((x Tensor))
    (= (matmul (constant_identity (sizes3 (dim 0 x) (dim 1 x) (dim 1 x))) x) x))
  :named matmul-identity-left-rank-3
  :ranks "x 3"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Imatmul, in each batch"))

; Left to right only where the cuts meet: x.0 = z.0.
(assert (! (forall ((x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (matmul (concat 0 x y) (concat 0 z w)) (concat 0 (matmul x z) (matmul y w))))
  :named matmul-of-batch-concats-rank-3
  :ranks "x y z w 3"
  :source "batch by batch"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.0 0 s (matmul x y)) (matmul (split.0 0 s x) (split.0 0 s y))))
  :named split-first-of-matmul-batch-rank-3
  :ranks "x y 3"
  :source "lemma: matmul-of-batch-concats-rank-3 and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.1 0 s (matmul x y)) (matmul (split.1 0 s x) (split.1 0 s y))))
  :named split-second-of-matmul-batch-rank-3
  :ranks "x y 3"
  :source "lemma: matmul-of-batch-concats-rank-3 and concat-of-splits"))

; --- rank 4 ---

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes4 0 1 3 2) (matmul x y))
         (matmul (transpose (sizes4 0 1 3 2) y) (transpose (sizes4 0 1 3 2) x))))
  :named transpose-of-matmul-rank-4
  :ranks "x y 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, in each batch"))

(assert (! (forall ((x Tensor))
    (= (transpose (sizes4 0 1 3 2) (transpose (sizes4 0 1 3 2) x)) x))
  :named transpose-transpose-rank-4
  :ranks "x 4"
  :source "exchanging two axes twice"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul x (concat 3 y z)) (concat 3 (matmul x y) (matmul x z))))
  :named matmul-of-right-concat-rank-4
  :ranks "x y z 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, in each batch"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (matmul (concat 2 x y) z) (concat 2 (matmul x z) (matmul y z))))
  :named matmul-of-left-concat-rank-4
  :ranks "x y z 4"
  :source "row by row, in each batch"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (matmul (concat 3 x y) (concat 2 z w)) (ewadd (matmul x z) (matmul y w))))
  :named matmul-of-inner-concats-rank-4
  :ranks "x y z w 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, in each batch"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.0 3 s (matmul x y)) (matmul x (split.0 3 s y))))
  :named split-first-of-matmul-right-rank-4
  :ranks "x y 4"
  :source "lemma: matmul-of-right-concat and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.0 2 s (matmul x y)) (matmul (split.0 2 s x) y)))
  :named split-first-of-matmul-left-rank-4
  :ranks "x y 4"
  :source "lemma: matmul-of-left-concat and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.1 3 s (matmul x y)) (matmul x (split.1 3 s y))))
  :named split-second-of-matmul-right-rank-4
  :ranks "x y 4"
  :source "lemma: matmul-of-right-concat and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor) (y Tensor))
    (= (split.1 2 s (matmul x y)) (matmul (split.1 2 s x) y)))
  :named split-second-of-matmul-left-rank-4
  :ranks "x y 4"
  :source "lemma: matmul-of-left-concat and concat-of-splits"))

(assert (! (forall ((x Tensor))
    (= (matmul x (constant_identity (sizes4 (dim 0 x) (dim 1 x) (dim 3 x) (dim 3 x)))) x))
  :named matmul-identity-right-rank-4
  :ranks "x 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Imatmul, in each batch"))

(assert (! (forall ((x Tensor))
    (= (matmul (constant_identity (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 2 x))) x) x))
  :named matmul-identity-left-rank-4
  :ranks "x 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Imatmul, in each batch"))

; Left to right only where the cuts meet: x.a = z.a.
(assert (! (forall ((a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (matmul (concat a x y) (concat a z w)) (concat a (matmul x z) (matmul y w))))
  :named matmul-of-batch-concats-rank-4
  :ranks "x y z w 4"
  :condition "a <= 1"
  :source "batch by batch"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (y Tensor))
    (= (split.0 a s (matmul x y)) (matmul (split.0 a s x) (split.0 a s y))))
  :named split-first-of-matmul-batch-rank-4
  :ranks "x y 4"
  :condition "a <= 1"
  :source "lemma: matmul-of-batch-concats-rank-4 and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (y Tensor))
    (= (split.1 a s (matmul x y)) (matmul (split.1 a s x) (split.1 a s y))))
  :named split-second-of-matmul-batch-rank-4
  :ranks "x y 4"
  :condition "a <= 1"
  :source "lemma: matmul-of-batch-concats-rank-4 and concat-of-splits"))

; --- the identity matrix ---

(assert (! (forall ((n Int))
    (= (transpose (sizes2 1 0) (constant_identity (sizes2 n n)))
         (constant_identity (sizes2 n n))))
  :named transpose-of-identity
  :source "the identity matrix is symmetric"))

(assert (! (forall ((n Int))
    (= (relu (constant_identity (sizes2 n n))) (constant_identity (sizes2 n n))))
  :named relu-of-identity
  :needs "real-relu"
  :source "0 and 1 are >= 0"))

(assert (! (forall ((n Int))
    (= (ewmul (constant_identity (sizes2 n n)) (constant_identity (sizes2 n n)))
         (constant_identity (sizes2 n n))))
  :named square-of-identity
  :source "0 and 1 are their own squares"))

; --- diagonals and sums of rows ---

(assert (! (forall ((x Tensor))
    (= (ewmul (transpose (sizes2 1 0) x) (constant_identity (sizes2 (dim 0 x) (dim 0 x))))
         (ewmul x (constant_identity (sizes2 (dim 0 x) (dim 0 x))))))
  :named diagonal-of-transpose
  :ranks "x 2"
  :source "transposition keeps the diagonal"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (matmul (ewmul x (constant_identity (sizes2 (dim 0 x) (dim 0 x)))) (ewmul y (constant_identity (sizes2 (dim 0 x) (dim 0 x)))))
         (ewmul (ewmul x y) (constant_identity (sizes2 (dim 0 x) (dim 0 x))))))
  :named matmul-of-diagonals
  :ranks "x y 2"
  :source "diagonal matrices multiply element by element"))

(assert (! (forall ((m Int) (n Int) (x Tensor) (y Tensor))
    (= (matmul (constant_one (sizes2 m n)) (concat 0 x y))
         (ewadd (matmul (constant_one (sizes2 m (dim 0 x))) x) (matmul (constant_one (sizes2 m (dim 0 y))) y))))
  :named sum-of-rows-of-concat
  :ranks "x y 2"
  :source "lemma: matmul-of-inner-concats and concat-of-ones-2-1"))

(assert (! (forall ((x Tensor) (y Tensor) (n Int) (m Int))
    (= (matmul (concat 1 x y) (constant_one (sizes2 n m)))
         (ewadd (matmul x (constant_one (sizes2 (dim 1 x) m))) (matmul y (constant_one (sizes2 (dim 1 y) m))))))
  :named sum-of-columns-of-concat
  :ranks "x y 2"
  :source "lemma: matmul-of-inner-concats and concat-of-ones-2-0"))

; --- relu, as the function max(x, 0) ---

(assert (! (forall ((x Tensor) (y Tensor))
    (= (relu (matmul (relu x) (relu y))) (matmul (relu x) (relu y))))
  :named relu-of-matmul-of-relus
  :ranks "x y 2..4"
  :needs "real-relu"
  :source "a sum of products of numbers >= 0 is >= 0"))
