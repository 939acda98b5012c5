; Functions of one element beside relu: what they commute with, and what they are to each other.
; README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(set-info :pool-max-padding "never the greatest")
(set-info :padding-same "floor((k-1)/2) before, ceil((k-1)/2) after, at every stride")
(declare-sort Tensor 0)
(declare-sort Sizes 0)
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
(declare-fun constant_one (Sizes) Tensor)
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
(define-fun activation.none () Int 0)
(define-fun activation.sigmoid () Int 2)
(define-fun activation.tanh () Int 3)

; --- element by element: through concat, split and transpose ---

; Of relu the same is said in layout.smt2.

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (abs/1 (concat a x y)) (concat a (abs/1 x) (abs/1 y))))
  :named abs-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (abs/1 x)) (abs/1 (split.0 a s x))))
  :named split-first-of-abs
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: abs-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (abs/1 x)) (abs/1 (split.1 a s x))))
  :named split-second-of-abs
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: abs-of-concat and concat-of-splits"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (abs/1 x)) (abs/1 (transpose k x))))
  :named transpose-of-abs
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (neg (concat a x y)) (concat a (neg x) (neg y))))
  :named neg-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (neg x)) (neg (split.0 a s x))))
  :named split-first-of-neg
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: neg-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (neg x)) (neg (split.1 a s x))))
  :named split-second-of-neg
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: neg-of-concat and concat-of-splits"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (neg x)) (neg (transpose k x))))
  :named transpose-of-neg
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (exp (concat a x y)) (concat a (exp x) (exp y))))
  :named exp-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (exp x)) (exp (split.0 a s x))))
  :named split-first-of-exp
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: exp-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (exp x)) (exp (split.1 a s x))))
  :named split-second-of-exp
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: exp-of-concat and concat-of-splits"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (exp x)) (exp (transpose k x))))
  :named transpose-of-exp
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (log (concat a x y)) (concat a (log x) (log y))))
  :named log-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (log x)) (log (split.0 a s x))))
  :named split-first-of-log
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: log-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (log x)) (log (split.1 a s x))))
  :named split-second-of-log
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: log-of-concat and concat-of-splits"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (log x)) (log (transpose k x))))
  :named transpose-of-log
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (sqrt (concat a x y)) (concat a (sqrt x) (sqrt y))))
  :named sqrt-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (sqrt x)) (sqrt (split.0 a s x))))
  :named split-first-of-sqrt
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: sqrt-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (sqrt x)) (sqrt (split.1 a s x))))
  :named split-second-of-sqrt
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: sqrt-of-concat and concat-of-splits"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (sqrt x)) (sqrt (transpose k x))))
  :named transpose-of-sqrt
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (erf (concat a x y)) (concat a (erf x) (erf y))))
  :named erf-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (erf x)) (erf (split.0 a s x))))
  :named split-first-of-erf
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: erf-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (erf x)) (erf (split.1 a s x))))
  :named split-second-of-erf
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: erf-of-concat and concat-of-splits"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (erf x)) (erf (transpose k x))))
  :named transpose-of-erf
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (sigmoid (concat a x y)) (concat a (sigmoid x) (sigmoid y))))
  :named sigmoid-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (sigmoid x)) (sigmoid (split.0 a s x))))
  :named split-first-of-sigmoid
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: sigmoid-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (sigmoid x)) (sigmoid (split.1 a s x))))
  :named split-second-of-sigmoid
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: sigmoid-of-concat and concat-of-splits"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (sigmoid x)) (sigmoid (transpose k x))))
  :named transpose-of-sigmoid
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (tanh (concat a x y)) (concat a (tanh x) (tanh y))))
  :named tanh-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (tanh x)) (tanh (split.0 a s x))))
  :named split-first-of-tanh
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: tanh-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (tanh x)) (tanh (split.1 a s x))))
  :named split-second-of-tanh
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: tanh-of-concat and concat-of-splits"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (tanh x)) (tanh (transpose k x))))
  :named transpose-of-tanh
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor))
    (= (softplus (concat a x y)) (concat a (softplus x) (softplus y))))
  :named softplus-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (softplus x)) (softplus (split.0 a s x))))
  :named split-first-of-softplus
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: softplus-of-concat and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (softplus x)) (softplus (split.1 a s x))))
  :named split-second-of-softplus
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: softplus-of-concat and concat-of-splits"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (transpose k (softplus x)) (softplus (transpose k x))))
  :named transpose-of-softplus
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((u Real) (a Int) (x Tensor) (y Tensor))
    (= (leaky_relu u (concat a x y)) (concat a (leaky_relu u x) (leaky_relu u y))))
  :named leaky-relu-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((u Real) (a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (leaky_relu u x)) (leaky_relu u (split.0 a s x))))
  :named split-first-of-leaky-relu
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: leaky-relu-of-concat and concat-of-splits"))

(assert (! (forall ((u Real) (a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (leaky_relu u x)) (leaky_relu u (split.1 a s x))))
  :named split-second-of-leaky-relu
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: leaky-relu-of-concat and concat-of-splits"))

(assert (! (forall ((u Real) (k Sizes) (x Tensor))
    (= (transpose k (leaky_relu u x)) (leaky_relu u (transpose k x))))
  :named transpose-of-leaky-relu
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((u Real) (v Real) (a Int) (x Tensor) (y Tensor))
    (= (elu u v (concat a x y)) (concat a (elu u v x) (elu u v y))))
  :named elu-of-concat
  :ranks "x y 1..4"
  :source "element by element"))

(assert (! (forall ((u Real) (v Real) (a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (elu u v x)) (elu u v (split.0 a s x))))
  :named split-first-of-elu
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: elu-of-concat and concat-of-splits"))

(assert (! (forall ((u Real) (v Real) (a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (elu u v x)) (elu u v (split.1 a s x))))
  :named split-second-of-elu
  :ranks "x 1..4"
  :domain "s any _2"
  :source "lemma: elu-of-concat and concat-of-splits"))

(assert (! (forall ((u Real) (v Real) (k Sizes) (x Tensor))
    (= (transpose k (elu u v x)) (elu u v (transpose k x))))
  :named transpose-of-elu
  :ranks "x 2..4"
  :source "element by element"))

(assert (! (forall ((u Real) (v Real) (a Int) (x Tensor) (y Tensor))
    (= (hard_sigmoid u v (concat a x y)) (concat a (hard_sigmoid u v x) (hard_sigmoid u v y))))
  :named hard-sigmoid-of-concat
  :ranks "x y 1..4"
  :domain "u any 0.2 -1.5; v any 0.5"
  :source "element by element"))

(assert (! (forall ((u Real) (v Real) (a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (hard_sigmoid u v x)) (hard_sigmoid u v (split.0 a s x))))
  :named split-first-of-hard-sigmoid
  :ranks "x 1..4"
  :domain "u any 0.2 -1.5; v any 0.5; s any _2"
  :source "lemma: hard-sigmoid-of-concat and concat-of-splits"))

(assert (! (forall ((u Real) (v Real) (a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (hard_sigmoid u v x)) (hard_sigmoid u v (split.1 a s x))))
  :named split-second-of-hard-sigmoid
  :ranks "x 1..4"
  :domain "u any 0.2 -1.5; v any 0.5; s any _2"
  :source "lemma: hard-sigmoid-of-concat and concat-of-splits"))

(assert (! (forall ((u Real) (v Real) (k Sizes) (x Tensor))
    (= (transpose k (hard_sigmoid u v x)) (hard_sigmoid u v (transpose k x))))
  :named transpose-of-hard-sigmoid
  :ranks "x 2..4"
  :domain "u any 0.2 -1.5; v any 0.5"
  :source "element by element"))

(assert (! (forall ((u Real) (v Real) (a Int) (x Tensor) (y Tensor))
    (= (clip u v (concat a x y)) (concat a (clip u v x) (clip u v y))))
  :named clip-of-concat
  :ranks "x y 1..4"
  :domain "u any -1.0 0.0; v any 0.5 2.0"
  :source "element by element"))

(assert (! (forall ((u Real) (v Real) (a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (clip u v x)) (clip u v (split.0 a s x))))
  :named split-first-of-clip
  :ranks "x 1..4"
  :domain "u any -1.0 0.0; v any 0.5 2.0; s any _2"
  :source "lemma: clip-of-concat and concat-of-splits"))

(assert (! (forall ((u Real) (v Real) (a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (clip u v x)) (clip u v (split.1 a s x))))
  :named split-second-of-clip
  :ranks "x 1..4"
  :domain "u any -1.0 0.0; v any 0.5 2.0; s any _2"
  :source "lemma: clip-of-concat and concat-of-splits"))

(assert (! (forall ((u Real) (v Real) (k Sizes) (x Tensor))
    (= (transpose k (clip u v x)) (clip u v (transpose k x))))
  :named transpose-of-clip
  :ranks "x 2..4"
  :domain "u any -1.0 0.0; v any 0.5 2.0"
  :source "element by element"))

(assert (! (forall ((u Int) (a Int) (x Tensor) (y Tensor))
    (= (power u (concat a x y)) (concat a (power u x) (power u y))))
  :named power-of-concat
  :ranks "x y 1..4"
  :domain "u any 2 3 -1"
  :source "element by element"))

(assert (! (forall ((u Int) (a Int) (s Sizes) (x Tensor))
    (= (split.0 a s (power u x)) (power u (split.0 a s x))))
  :named split-first-of-power
  :ranks "x 1..4"
  :domain "u any 2 3 -1; s any _2"
  :source "lemma: power-of-concat and concat-of-splits"))

(assert (! (forall ((u Int) (a Int) (s Sizes) (x Tensor))
    (= (split.1 a s (power u x)) (power u (split.1 a s x))))
  :named split-second-of-power
  :ranks "x 1..4"
  :domain "u any 2 3 -1; s any _2"
  :source "lemma: power-of-concat and concat-of-splits"))

(assert (! (forall ((u Int) (k Sizes) (x Tensor))
    (= (transpose k (power u x)) (power u (transpose k x))))
  :named transpose-of-power
  :ranks "x 2..4"
  :domain "u any 2 3 -1"
  :source "element by element"))

; --- negation ---

(assert (! (forall ((x Tensor))
    (= (neg (neg x)) x))
  :named neg-neg
  :ranks "x 0..4"
  :source "-(-x) = x"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (neg (ewadd x y)) (ewadd (neg x) (neg y))))
  :named neg-of-ewadd
  :ranks "x y 0..4"
  :source "linearity of negation"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (neg (ewmul x y)) (ewmul (neg x) y)))
  :named neg-of-ewmul
  :ranks "x y 0..4"
  :source "-(x y) = (-x) y"))

(assert (! (forall ((x Tensor) (s Tensor))
    (= (neg (smul x s)) (smul (neg x) s)))
  :named neg-of-smul
  :ranks "x 0..4, s 0"
  :source "-(x s) = (-x) s"))

(assert (! (forall ((x Tensor) (s Tensor))
    (= (neg (smul x s)) (smul x (neg s))))
  :named neg-of-smul-factor
  :ranks "x 0..4, s 0"
  :source "-(x s) = x (-s)"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (neg (matmul x y)) (matmul (neg x) y)))
  :named neg-of-left-of-matmul
  :ranks "x y 2..4"
  :source "bilinearity of the matrix product"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (neg (matmul x y)) (matmul x (neg y))))
  :named neg-of-right-of-matmul
  :ranks "x y 2..4"
  :source "bilinearity of the matrix product"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (w Tensor))
    (= (neg (conv2d s p q d g activation.none x w)) (conv2d s p q d g activation.none (neg x) w)))
  :named neg-of-data-of-conv
  :ranks "x w 4"
  :source "bilinearity of convolution"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (w Tensor))
    (= (neg (conv2d s p q d g activation.none x w)) (conv2d s p q d g activation.none x (neg w))))
  :named neg-of-weight-of-conv
  :ranks "x w 4"
  :source "bilinearity of convolution"))

; --- relu, magnitude and clamps, as the functions of numbers ---

(assert (! (forall ((x Tensor))
    (= (ewadd (relu x) (neg (relu (neg x)))) x))
  :named relu-minus-relu
  :ranks "x 0..4"
  :needs "real-relu"
  :source "max(x, 0) - max(-x, 0) = x"))

(assert (! (forall ((x Tensor))
    (= (abs/1 x) (ewadd (relu x) (relu (neg x)))))
  :named abs-by-relu
  :ranks "x 0..4"
  :needs "real-relu"
  :source "|x| = max(x, 0) + max(-x, 0)"))

(assert (! (forall ((x Tensor))
    (= (abs/1 (neg x)) (abs/1 x)))
  :named abs-of-neg
  :ranks "x 0..4"
  :source "|-x| = |x|"))

(assert (! (forall ((x Tensor))
    (= (abs/1 (abs/1 x)) (abs/1 x)))
  :named abs-abs
  :ranks "x 0..4"
  :source "|x| >= 0"))

(assert (! (forall ((x Tensor))
    (= (abs/1 (relu x)) (relu x)))
  :named abs-of-relu
  :ranks "x 0..4"
  :needs "real-relu"
  :source "max(x, 0) >= 0"))

(assert (! (forall ((x Tensor))
    (= (relu (abs/1 x)) (abs/1 x)))
  :named relu-of-abs
  :ranks "x 0..4"
  :needs "real-relu"
  :source "|x| >= 0"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (abs/1 (ewmul x y)) (ewmul (abs/1 x) (abs/1 y))))
  :named abs-of-ewmul
  :ranks "x y 0..4"
  :source "|x y| = |x| |y|"))

(assert (! (forall ((x Tensor))
    (= (ewmul (abs/1 x) (abs/1 x)) (ewmul x x)))
  :named square-of-abs
  :ranks "x 0..4"
  :source "|x| |x| = x x"))

(assert (! (forall ((u Real) (x Tensor))
    (= (leaky_relu u (relu x)) (relu x)))
  :named leaky-relu-of-relu
  :ranks "x 0..4"
  :needs "real-relu"
  :source "leaky(x) = x where x >= 0"))

(assert (! (forall ((u Real) (x Tensor))
    (= (elu u 1.0 (relu x)) (relu x)))
  :named elu-of-relu
  :ranks "x 0..4"
  :needs "real-functions"
  :source "elu(x) = x where x >= 0 and gamma = 1"))

(assert (! (forall ((u Real) (v Real) (x Tensor))
    (= (clip u v (clip u v x)) (clip u v x)))
  :named clip-clip
  :ranks "x 0..4"
  :domain "u any -1.0 0.0; v any 0.5 2.0"
  :source "what lies between the bounds stays"))

(assert (! (forall ((v Real) (x Tensor))
    (= (clip 0.0 v (relu x)) (clip 0.0 v x)))
  :named clip-of-relu
  :ranks "x 0..4"
  :needs "real-relu"
  :domain "v any 0.5 2.0 6.0"
  :source "min(max(max(x, 0), 0), v) = min(max(x, 0), v)"))

(assert (! (forall ((v Real) (x Tensor))
    (= (relu (clip 0.0 v x)) (clip 0.0 v x)))
  :named relu-of-clip
  :ranks "x 0..4"
  :needs "real-relu"
  :domain "v any 0.5 2.0 6.0"
  :source "a clamp from 0 on is >= 0"))

(assert (! (forall ((x Tensor))
    (= (relu (sigmoid x)) (sigmoid x)))
  :named relu-of-sigmoid
  :ranks "x 0..4"
  :needs "real-functions"
  :source "the logistic function is > 0"))

(assert (! (forall ((u Real) (v Real) (x Tensor))
    (= (relu (hard_sigmoid u v x)) (hard_sigmoid u v x)))
  :named relu-of-hard-sigmoid
  :ranks "x 0..4"
  :needs "real-relu"
  :domain "u any 0.25 -1.5; v any 0.5"
  :source "a clamp from 0 to 1 is >= 0"))

(assert (! (forall ((x Tensor))
    (= (relu (exp x)) (exp x)))
  :named relu-of-exp
  :ranks "x 0..4"
  :needs "real-functions"
  :source "e^x > 0"))

(assert (! (forall ((x Tensor))
    (= (relu (softplus x)) (softplus x)))
  :named relu-of-softplus
  :ranks "x 0..4"
  :needs "real-functions"
  :source "ln(1 + e^x) > 0"))

(assert (! (forall ((x Tensor))
    (= (relu (sqrt (relu x))) (sqrt (relu x))))
  :named relu-of-sqrt
  :ranks "x 0..4"
  :needs "real-functions"
  :source "a square root is >= 0"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (sigmoid x)) (sigmoid (pool2d_max k s p q x))))
  :named maximum-of-sigmoid
  :ranks "x 4"
  :needs "real-functions"
  :source "the logistic function grows"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (tanh x)) (tanh (pool2d_max k s p q x))))
  :named maximum-of-tanh
  :ranks "x 4"
  :needs "real-functions"
  :source "the hyperbolic tangent grows"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (exp x)) (exp (pool2d_max k s p q x))))
  :named maximum-of-exp
  :ranks "x 4"
  :needs "real-functions"
  :source "the exponential grows"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (softplus x)) (softplus (pool2d_max k s p q x))))
  :named maximum-of-softplus
  :ranks "x 4"
  :needs "real-functions"
  :source "ln(1 + e^x) grows"))

; --- products, sums and inverses ---

(assert (! (forall ((x Tensor) (y Tensor))
    (= (exp (ewadd x y)) (ewmul (exp x) (exp y))))
  :named exp-of-sum
  :ranks "x y 0..4"
  :needs "real-functions"
  :source "e^(x + y) = e^x e^y"))

(assert (! (forall ((x Tensor))
    (= (log (exp x)) x))
  :named log-of-exp
  :ranks "x 0..4"
  :needs "real-functions"
  :source "the logarithm is the inverse of the exponential"))

(assert (! (forall ((x Tensor))
    (= (exp (neg (softplus (neg x)))) (sigmoid x)))
  :named exp-of-softplus
  :ranks "x 0..4"
  :needs "real-functions"
  :source "1 / (1 + e^-x) = e^-ln(1 + e^-x)"))

(assert (! (forall ((x Tensor))
    (= (tanh (neg x)) (neg (tanh x))))
  :named tanh-of-neg
  :ranks "x 0..4"
  :needs "real-functions"
  :source "tanh is odd"))

(assert (! (forall ((x Tensor))
    (= (erf (neg x)) (neg (erf x))))
  :named erf-of-neg
  :ranks "x 0..4"
  :needs "real-functions"
  :source "erf is odd"))

(assert (! (forall ((x Tensor))
    (= (sqrt (ewmul x x)) (abs/1 x)))
  :named sqrt-of-square
  :ranks "x 0..4"
  :needs "real-functions"
  :source "the square root of x x is |x|"))

(assert (! (forall ((x Tensor))
    (= (ewadd (softplus x) (neg (softplus (neg x)))) x))
  :named softplus-difference
  :ranks "x 0..4"
  :needs "real-functions"
  :source "ln(1 + e^x) - ln(1 + e^-x) = x"))

(assert (! (forall ((x Tensor))
    (= (ewadd (sigmoid x) (sigmoid (neg x))) (constant_one (sizes1 (dim 0 x)))))
  :named sigmoid-of-neg-1
  :ranks "x 1"
  :needs "real-functions"
  :source "1 / (1 + e^-x) + 1 / (1 + e^x) = 1"))

(assert (! (forall ((x Tensor))
    (= (ewadd (sigmoid x) (sigmoid (neg x))) (constant_one (sizes2 (dim 0 x) (dim 1 x)))))
  :named sigmoid-of-neg-2
  :ranks "x 2"
  :needs "real-functions"
  :source "1 / (1 + e^-x) + 1 / (1 + e^x) = 1"))

(assert (! (forall ((x Tensor))
    (= (ewadd (sigmoid x) (sigmoid (neg x))) (constant_one (sizes3 (dim 0 x) (dim 1 x) (dim 2 x)))))
  :named sigmoid-of-neg-3
  :ranks "x 3"
  :needs "real-functions"
  :source "1 / (1 + e^-x) + 1 / (1 + e^x) = 1"))

(assert (! (forall ((x Tensor))
    (= (ewadd (sigmoid x) (sigmoid (neg x))) (constant_one (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x)))))
  :named sigmoid-of-neg-4
  :ranks "x 4"
  :needs "real-functions"
  :source "1 / (1 + e^-x) + 1 / (1 + e^x) = 1"))

(assert (! (forall ((x Tensor))
    (= (power 2 x) (ewmul x x)))
  :named power-two
  :ranks "x 0..4"
  :source "definition of a power"))

(assert (! (forall ((x Tensor))
    (= (power 3 x) (ewmul x (ewmul x x))))
  :named power-three
  :ranks "x 0..4"
  :source "definition of a power"))

(assert (! (forall ((x Tensor))
    (= (power 4 x) (ewmul (ewmul x x) (ewmul x x))))
  :named power-four
  :ranks "x 0..4"
  :source "definition of a power"))

(assert (! (forall ((u Int) (x Tensor) (y Tensor))
    (= (power u (ewmul x y)) (ewmul (power u x) (power u y))))
  :named power-of-ewmul
  :ranks "x y 0..4"
  :domain "u any 2 3 5"
  :source "(x y)^n = x^n y^n"))

; --- fused activations ---

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (w Tensor))
    (= (conv2d s p q d g activation.sigmoid x w) (sigmoid (conv2d s p q d g activation.none x w))))
  :named conv-with-sigmoid
  :ranks "x w 4"
  :source "definition of a fused activation"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (w Tensor))
    (= (conv2d s p q d g activation.tanh x w) (tanh (conv2d s p q d g activation.none x w))))
  :named conv-with-tanh
  :ranks "x w 4"
  :source "definition of a fused activation"))
