; Concatenation, splits and transposition: where elements lie.
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
(declare-fun transpose (Sizes Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun concat/3 (Int Tensor Tensor Tensor) Tensor)
(declare-fun concat/4 (Int Tensor Tensor Tensor Tensor) Tensor)
(declare-fun split.0 (Int Sizes Tensor) Tensor)  ; axis sizes x: the first part
(declare-fun split.1 (Int Sizes Tensor) Tensor)
(declare-fun split.2 (Int Sizes Tensor) Tensor)
(declare-fun split.3 (Int Sizes Tensor) Tensor)
(declare-fun constant_one (Sizes) Tensor)

; --- concat ---

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (z Tensor))
    (= (concat a (concat a x y) z) (concat a x (concat a y z))))
  :named concat-associates
  :ranks "x y z 1..4"
  :source "elements by position"))

(assert (! (forall ((a Int) (b Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (concat a (concat b x y) (concat b z w)) (concat b (concat a x z) (concat a y w))))
  :named concat-exchange
  :ranks "x y z w 2..4"
  :condition "a != b"
  :source "Jia et al., TASO, SOSP 2019, table 3: the geometry of concatenation"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (z Tensor))
    (= (concat/3 a x y z) (concat a (concat a x y) z)))
  :named concat-of-three
  :ranks "x y z 1..4"
  :source "definition of a concatenation of three"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (concat/4 a x y z w) (concat a (concat a (concat a x y) z) w)))
  :named concat-of-four
  :ranks "x y z w 1..4"
  :source "definition of a concatenation of four"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (ewadd (concat a x y) (concat a z w)) (concat a (ewadd x z) (ewadd y w))))
  :named ewadd-of-concats
  :ranks "x y z w 1..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (ewmul (concat a x y) (concat a z w)) (concat a (ewmul x z) (ewmul y w))))
  :named ewmul-of-concats
  :ranks "x y z w 1..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (s Tensor))
    (= (smul (concat a x y) s) (concat a (smul x s) (smul y s))))
  :named smul-of-concat
  :ranks "x y 1..4, s 0"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (relu (concat a x y)) (concat a (relu x) (relu y))))
  :named relu-of-concat
  :ranks "x y 1..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

; --- split ---

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (split.0 a (sizes2 (dim a x) (dim a y)) (concat a x y)) x))
  :named split-first-of-concat
  :ranks "x y 1..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (split.1 a (sizes2 (dim a x) (dim a y)) (concat a x y)) y))
  :named split-second-of-concat
  :ranks "x y 1..4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((a Int) (m Int) (n Int) (x Tensor))
    (= (concat a (split.0 a (sizes2 m n) x) (split.1 a (sizes2 m n) x)) x))
  :named concat-of-splits
  :ranks "x 1..4"
  :source "split is the inverse of concat"))

(assert (! (forall ((a Int) (s Sizes) (b Int) (x Tensor) (y Tensor))
    (= (split.0 a s (concat b x y)) (concat b (split.0 a s x) (split.0 a s y))))
  :named split-first-of-concat-elsewhere
  :ranks "x y 2..4"
  :condition "a != b"
  :source "lemma: concat-exchange and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (y Tensor))
    (= (split.0 a s (ewadd x y)) (ewadd (split.0 a s x) (split.0 a s y))))
  :named split-first-of-ewadd
  :ranks "x y 1..4"
  :source "lemma: ewadd-of-concats and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (y Tensor))
    (= (split.0 a s (ewmul x y)) (ewmul (split.0 a s x) (split.0 a s y))))
  :named split-first-of-ewmul
  :ranks "x y 1..4"
  :source "lemma: ewmul-of-concats and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (t Tensor))
    (= (split.0 a s (smul x t)) (smul (split.0 a s x) t)))
  :named split-first-of-smul
  :ranks "x 1..4, t 0"
  :source "lemma: smul-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (relu x)) (relu (split.0 a s x))))
  :named split-first-of-relu
  :ranks "x 1..4"
  :source "lemma: relu-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (b Int) (x Tensor) (y Tensor))
    (= (split.1 a s (concat b x y)) (concat b (split.1 a s x) (split.1 a s y))))
  :named split-second-of-concat-elsewhere
  :ranks "x y 2..4"
  :condition "a != b"
  :source "lemma: concat-exchange and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (y Tensor))
    (= (split.1 a s (ewadd x y)) (ewadd (split.1 a s x) (split.1 a s y))))
  :named split-second-of-ewadd
  :ranks "x y 1..4"
  :source "lemma: ewadd-of-concats and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (y Tensor))
    (= (split.1 a s (ewmul x y)) (ewmul (split.1 a s x) (split.1 a s y))))
  :named split-second-of-ewmul
  :ranks "x y 1..4"
  :source "lemma: ewmul-of-concats and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (t Tensor))
    (= (split.1 a s (smul x t)) (smul (split.1 a s x) t)))
  :named split-second-of-smul
  :ranks "x 1..4, t 0"
  :source "lemma: smul-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (relu x)) (relu (split.1 a s x))))
  :named split-second-of-relu
  :ranks "x 1..4"
  :source "lemma: relu-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (b Int) (t Sizes) (x Tensor))
    (= (split.0 a s (split.0 b t x)) (split.0 b t (split.0 a s x))))
  :named split-first-of-split-first-elsewhere
  :ranks "x 2..4"
  :condition "a != b"
  :source "elements by position"))

(assert (! (forall ((a Int) (s Sizes) (b Int) (t Sizes) (x Tensor))
    (= (split.0 a s (split.1 b t x)) (split.1 b t (split.0 a s x))))
  :named split-first-of-split-second-elsewhere
  :ranks "x 2..4"
  :condition "a != b"
  :source "elements by position"))

(assert (! (forall ((a Int) (s Sizes) (b Int) (t Sizes) (x Tensor))
    (= (split.1 a s (split.0 b t x)) (split.0 b t (split.1 a s x))))
  :named split-second-of-split-first-elsewhere
  :ranks "x 2..4"
  :condition "a != b"
  :source "elements by position"))

(assert (! (forall ((a Int) (s Sizes) (b Int) (t Sizes) (x Tensor))
    (= (split.1 a s (split.1 b t x)) (split.1 b t (split.1 a s x))))
  :named split-second-of-split-second-elsewhere
  :ranks "x 2..4"
  :condition "a != b"
  :source "elements by position"))

(assert (! (forall ((a Int) (m Int) (n Int) (o Int) (x Tensor))
    (= (split.0 a (sizes3 m n o) x) (split.0 a (sizes2 m (+ n o)) x)))
  :named split-of-three-first
  :ranks "x 1..4"
  :source "definition of a split into three"))

(assert (! (forall ((a Int) (m Int) (n Int) (o Int) (x Tensor))
    (= (split.1 a (sizes3 m n o) x)
         (split.0 a (sizes2 n o) (split.1 a (sizes2 m (+ n o)) x))))
  :named split-of-three-second
  :ranks "x 1..4"
  :source "definition of a split into three"))

(assert (! (forall ((a Int) (m Int) (n Int) (o Int) (x Tensor))
    (= (split.2 a (sizes3 m n o) x)
         (split.1 a (sizes2 n o) (split.1 a (sizes2 m (+ n o)) x))))
  :named split-of-three-third
  :ranks "x 1..4"
  :source "definition of a split into three"))

(assert (! (forall ((a Int) (m Int) (n Int) (o Int) (p Int) (x Tensor))
    (= (split.0 a (sizes4 m n o p) x)
         (split.0 a (sizes2 m (+ n o p)) x)))
  :named split-of-four-first
  :ranks "x 1..4"
  :source "definition of a split into four"))

(assert (! (forall ((a Int) (m Int) (n Int) (o Int) (p Int) (x Tensor))
    (= (split.1 a (sizes4 m n o p) x)
         (split.0 a (sizes3 n o p) (split.1 a (sizes2 m (+ n o p)) x))))
  :named split-of-four-second
  :ranks "x 1..4"
  :source "definition of a split into four"))

(assert (! (forall ((a Int) (m Int) (n Int) (o Int) (p Int) (x Tensor))
    (= (split.2 a (sizes4 m n o p) x)
         (split.1 a (sizes3 n o p) (split.1 a (sizes2 m (+ n o p)) x))))
  :named split-of-four-third
  :ranks "x 1..4"
  :source "definition of a split into four"))

(assert (! (forall ((a Int) (m Int) (n Int) (o Int) (p Int) (x Tensor))
    (= (split.3 a (sizes4 m n o p) x)
         (split.2 a (sizes3 n o p) (split.1 a (sizes2 m (+ n o p)) x))))
  :named split-of-four-fourth
  :ranks "x 1..4"
  :source "definition of a split into four"))

; --- transpose ---

(assert (! (forall ((x Tensor))
    (= (transpose (sizes2 1 0) (transpose (sizes2 1 0) x)) x))
  :named transpose-transpose
  :ranks "x 2"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((k Sizes) (x Tensor) (y Tensor))
    (= (transpose k (ewadd x y)) (ewadd (transpose k x) (transpose k y))))
  :named transpose-of-ewadd
  :ranks "x y 2..4"
  :source "Jia et al., TASO, SOSP 2019, table 3, for every permutation"))

(assert (! (forall ((k Sizes) (x Tensor) (y Tensor))
    (= (transpose k (ewmul x y)) (ewmul (transpose k x) (transpose k y))))
  :named transpose-of-ewmul
  :ranks "x y 2..4"
  :source "Jia et al., TASO, SOSP 2019, table 3, for every permutation"))

(assert (! (forall ((k Sizes) (x Tensor) (s Tensor))
    (= (transpose k (smul x s)) (smul (transpose k x) s)))
  :named transpose-of-smul
  :ranks "x 2..4, s 0"
  :source "Jia et al., TASO, SOSP 2019, table 3, for every permutation"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (relu x)) (relu (transpose k x))))
  :named transpose-of-relu
  :ranks "x 2..4"
  :source "Jia et al., TASO, SOSP 2019, table 3, for every permutation"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes2 1 0) (concat 0 x y))
         (concat 1 (transpose (sizes2 1 0) x) (transpose (sizes2 1 0) y))))
  :named transpose-of-concat-0
  :ranks "x y 2"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (transpose (sizes2 1 0) (split.0 0 s x)) (split.0 1 s (transpose (sizes2 1 0) x))))
  :named transpose-of-split-first-0
  :ranks "x 2"
  :source "lemma: transpose-of-concat-0 and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (transpose (sizes2 1 0) (split.1 0 s x)) (split.1 1 s (transpose (sizes2 1 0) x))))
  :named transpose-of-split-second-0
  :ranks "x 2"
  :source "lemma: transpose-of-concat-0 and concat-of-splits"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (transpose (sizes2 1 0) (concat 1 x y))
         (concat 0 (transpose (sizes2 1 0) x) (transpose (sizes2 1 0) y))))
  :named transpose-of-concat-1
  :ranks "x y 2"
  :source "lemma: transpose-of-concat-0 and transpose-transpose"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (transpose (sizes2 1 0) (split.0 1 s x)) (split.0 0 s (transpose (sizes2 1 0) x))))
  :named transpose-of-split-first-1
  :ranks "x 2"
  :source "lemma: transpose-of-concat-1 and concat-of-splits"))

(assert (! (forall ((s Sizes) (x Tensor))
    (= (transpose (sizes2 1 0) (split.1 1 s x)) (split.1 0 s (transpose (sizes2 1 0) x))))
  :named transpose-of-split-second-1
  :ranks "x 2"
  :source "lemma: transpose-of-concat-1 and concat-of-splits"))

; --- ones and the identity ---

(assert (! (forall ((b Int) (g Int))
    (= (concat 0 (constant_one (sizes1 b)) (constant_one (sizes1 g)))
         (constant_one (sizes1 (+ b g)))))
  :named concat-of-ones-1-0
  :source "all elements are 1"))

(assert (! (forall ((b Int) (c Int) (g Int))
    (= (concat 0 (constant_one (sizes2 b c)) (constant_one (sizes2 g c)))
         (constant_one (sizes2 (+ b g) c))))
  :named concat-of-ones-2-0
  :source "all elements are 1"))

(assert (! (forall ((b Int) (c Int) (g Int))
    (= (concat 1 (constant_one (sizes2 b c)) (constant_one (sizes2 b g)))
         (constant_one (sizes2 b (+ c g)))))
  :named concat-of-ones-2-1
  :source "all elements are 1"))

(assert (! (forall ((b Int) (c Int) (m Int) (g Int))
    (= (concat 0 (constant_one (sizes3 b c m)) (constant_one (sizes3 g c m)))
         (constant_one (sizes3 (+ b g) c m))))
  :named concat-of-ones-3-0
  :source "all elements are 1"))

(assert (! (forall ((b Int) (c Int) (m Int) (g Int))
    (= (concat 1 (constant_one (sizes3 b c m)) (constant_one (sizes3 b g m)))
         (constant_one (sizes3 b (+ c g) m))))
  :named concat-of-ones-3-1
  :source "all elements are 1"))

(assert (! (forall ((b Int) (c Int) (m Int) (g Int))
    (= (concat 2 (constant_one (sizes3 b c m)) (constant_one (sizes3 b c g)))
         (constant_one (sizes3 b c (+ m g)))))
  :named concat-of-ones-3-2
  :source "all elements are 1"))

(assert (! (forall ((b Int) (c Int) (m Int) (n Int) (g Int))
    (= (concat 0 (constant_one (sizes4 b c m n)) (constant_one (sizes4 g c m n)))
         (constant_one (sizes4 (+ b g) c m n))))
  :named concat-of-ones-4-0
  :source "all elements are 1"))

(assert (! (forall ((b Int) (c Int) (m Int) (n Int) (g Int))
    (= (concat 1 (constant_one (sizes4 b c m n)) (constant_one (sizes4 b g m n)))
         (constant_one (sizes4 b (+ c g) m n))))
  :named concat-of-ones-4-1
  :source "all elements are 1"))

(assert (! (forall ((b Int) (c Int) (m Int) (n Int) (g Int))
    (= (concat 2 (constant_one (sizes4 b c m n)) (constant_one (sizes4 b c g n)))
         (constant_one (sizes4 b c (+ m g) n))))
  :named concat-of-ones-4-2
  :source "all elements are 1"))

(assert (! (forall ((b Int) (c Int) (m Int) (n Int) (g Int))
    (= (concat 3 (constant_one (sizes4 b c m n)) (constant_one (sizes4 b c m g)))
         (constant_one (sizes4 b c m (+ n g)))))
  :named concat-of-ones-4-3
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int))
    (= (split.0 0 (sizes2 g h) (constant_one (sizes1 b))) (constant_one (sizes1 g))))
  :named split-first-of-one-1-0
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int))
    (= (split.1 0 (sizes2 g h) (constant_one (sizes1 b))) (constant_one (sizes1 h))))
  :named split-second-of-one-1-0
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int))
    (= (split.0 0 (sizes2 g h) (constant_one (sizes2 b c))) (constant_one (sizes2 g c))))
  :named split-first-of-one-2-0
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int))
    (= (split.1 0 (sizes2 g h) (constant_one (sizes2 b c))) (constant_one (sizes2 h c))))
  :named split-second-of-one-2-0
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int))
    (= (split.0 1 (sizes2 g h) (constant_one (sizes2 b c))) (constant_one (sizes2 b g))))
  :named split-first-of-one-2-1
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int))
    (= (split.1 1 (sizes2 g h) (constant_one (sizes2 b c))) (constant_one (sizes2 b h))))
  :named split-second-of-one-2-1
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int))
    (= (split.0 0 (sizes2 g h) (constant_one (sizes3 b c m))) (constant_one (sizes3 g c m))))
  :named split-first-of-one-3-0
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int))
    (= (split.1 0 (sizes2 g h) (constant_one (sizes3 b c m))) (constant_one (sizes3 h c m))))
  :named split-second-of-one-3-0
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int))
    (= (split.0 1 (sizes2 g h) (constant_one (sizes3 b c m))) (constant_one (sizes3 b g m))))
  :named split-first-of-one-3-1
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int))
    (= (split.1 1 (sizes2 g h) (constant_one (sizes3 b c m))) (constant_one (sizes3 b h m))))
  :named split-second-of-one-3-1
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int))
    (= (split.0 2 (sizes2 g h) (constant_one (sizes3 b c m))) (constant_one (sizes3 b c g))))
  :named split-first-of-one-3-2
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int))
    (= (split.1 2 (sizes2 g h) (constant_one (sizes3 b c m))) (constant_one (sizes3 b c h))))
  :named split-second-of-one-3-2
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int) (n Int))
    (= (split.0 0 (sizes2 g h) (constant_one (sizes4 b c m n)))
         (constant_one (sizes4 g c m n))))
  :named split-first-of-one-4-0
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int) (n Int))
    (= (split.1 0 (sizes2 g h) (constant_one (sizes4 b c m n)))
         (constant_one (sizes4 h c m n))))
  :named split-second-of-one-4-0
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int) (n Int))
    (= (split.0 1 (sizes2 g h) (constant_one (sizes4 b c m n)))
         (constant_one (sizes4 b g m n))))
  :named split-first-of-one-4-1
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int) (n Int))
    (= (split.1 1 (sizes2 g h) (constant_one (sizes4 b c m n)))
         (constant_one (sizes4 b h m n))))
  :named split-second-of-one-4-1
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int) (n Int))
    (= (split.0 2 (sizes2 g h) (constant_one (sizes4 b c m n)))
         (constant_one (sizes4 b c g n))))
  :named split-first-of-one-4-2
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int) (n Int))
    (= (split.1 2 (sizes2 g h) (constant_one (sizes4 b c m n)))
         (constant_one (sizes4 b c h n))))
  :named split-second-of-one-4-2
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int) (n Int))
    (= (split.0 3 (sizes2 g h) (constant_one (sizes4 b c m n)))
         (constant_one (sizes4 b c m g))))
  :named split-first-of-one-4-3
  :source "all elements are 1"))

(assert (! (forall ((g Int) (h Int) (b Int) (c Int) (m Int) (n Int))
    (= (split.1 3 (sizes2 g h) (constant_one (sizes4 b c m n)))
         (constant_one (sizes4 b c m h))))
  :named split-second-of-one-4-3
  :source "all elements are 1"))

(assert (! (forall ((a Int) (b Int))
    (= (transpose (sizes2 1 0) (constant_one (sizes2 a b))) (constant_one (sizes2 b a))))
  :named transpose-of-one
  :source "all elements are 1"))
