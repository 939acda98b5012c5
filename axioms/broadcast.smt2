; Broadcasting: sums, products, greatest and least with operands that are repeated, biases, slopes, batched products.
; stretch_left and stretch_right name the axes along which an operand of size 1 is repeated; sizes0 is the empty list.
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
(declare-fun transpose (Sizes Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun split.0 (Int Sizes Tensor) Tensor)
(declare-fun split.1 (Int Sizes Tensor) Tensor)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)
(declare-fun bias_add (Int Tensor Tensor) Tensor)
(declare-fun prelu (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_matmul (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_add (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_sub (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_mul (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_div (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_max (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_min (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun neg (Tensor) Tensor)
(declare-fun power (Int Tensor) Tensor)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes0 () Sizes)
(define-fun activation.none () Int 0)

; --- exchange and what they are without repetition ---

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor))
    (= (broadcast_add l r x y) (broadcast_add r l y x)))
  :named broadcast-add-commutes
  :ranks "x y 1..3; x 1..3, y 1..2"
  :source "element by element"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor))
    (= (broadcast_mul l r x y) (broadcast_mul r l y x)))
  :named broadcast-mul-commutes
  :ranks "x y 1..3; x 1..3, y 1..2"
  :source "element by element"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor))
    (= (broadcast_max l r x y) (broadcast_max r l y x)))
  :named broadcast-max-commutes
  :ranks "x y 1..3; x 1..3, y 1..2"
  :source "element by element"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor))
    (= (broadcast_min l r x y) (broadcast_min r l y x)))
  :named broadcast-min-commutes
  :ranks "x y 1..3; x 1..3, y 1..2"
  :source "element by element"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (broadcast_add sizes0 sizes0 x y) (ewadd x y)))
  :named broadcast-add-of-equal-shapes
  :ranks "x y 0; x y 1; x y 2; x y 3; x y 4"
  :source "nothing is repeated"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (broadcast_mul sizes0 sizes0 x y) (ewmul x y)))
  :named broadcast-mul-of-equal-shapes
  :ranks "x y 0; x y 1; x y 2; x y 3; x y 4"
  :source "nothing is repeated"))

(assert (! (forall ((x Tensor) (s Tensor))
    (= (broadcast_mul sizes0 sizes0 x s) (smul x s)))
  :named broadcast-mul-of-scalar
  :ranks "x 0..4, s 0"
  :source "a number is repeated"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor))
    (= (broadcast_sub l r x y) (broadcast_add l r x (neg y))))
  :named broadcast-sub-by-neg
  :ranks "x 1..3, y 1..3"
  :source "x - y = x + (-y)"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor))
    (= (broadcast_min l r x y) (neg (broadcast_max l r (neg x) (neg y)))))
  :named broadcast-min-by-max
  :ranks "x 1..3, y 1..3"
  :source "min(x, y) = -max(-x, -y)"))

(assert (! (forall ((x Tensor))
    (= (broadcast_max sizes0 sizes0 (relu x) x) (relu x)))
  :named relu-by-broadcast-max
  :ranks "x 0..3"
  :needs "real-relu"
  :source "max(max(x, 0), x) = max(x, 0)"))

(assert (! (forall ((x Tensor))
    (= (broadcast_max sizes0 sizes0 x x) x))
  :named broadcast-max-of-same
  :ranks "x 0..3"
  :source "the greatest of one number"))

(assert (! (forall ((x Tensor))
    (= (broadcast_min sizes0 sizes0 x x) x))
  :named broadcast-min-of-same
  :ranks "x 0..3"
  :source "the least of one number"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor))
    (= (relu (broadcast_max l r x y)) (broadcast_max l r (relu x) (relu y))))
  :named relu-of-broadcast-max
  :ranks "x 1..3, y 1..3"
  :needs "real-relu"
  :source "max(x, 0) keeps order"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor))
    (= (relu (broadcast_min l r x y)) (broadcast_min l r (relu x) (relu y))))
  :named relu-of-broadcast-min
  :ranks "x 1..3, y 1..3"
  :needs "real-relu"
  :source "max(x, 0) keeps order"))

; --- associativity and distributivity ---

; Where y is repeated over z the sum x + y must have the larger shape: what both sides being defined says.

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_add l r (ewadd x y) z) (ewadd x (broadcast_add l r y z))))
  :named broadcast-add-associates
  :ranks "x y 1..3, z 1..3"
  :source "associativity of addition"))

(assert (! (forall ((r Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_add sizes0 r x (ewadd y z)) (broadcast_add sizes0 r (broadcast_add sizes0 r x y) z)))
  :named broadcast-add-of-small-sum
  :ranks "x 1..3, y z 1..3"
  :source "associativity of addition"))

(assert (! (forall ((r Sizes) (t Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_add sizes0 t (broadcast_add sizes0 r x y) z)
         (broadcast_add sizes0 r (broadcast_add sizes0 t x z) y)))
  :named broadcast-add-exchanges
  :ranks "x 2..3, y 1..2, z 1..2"
  :source "associativity and commutativity of addition"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_mul l r (ewmul x y) z) (ewmul x (broadcast_mul l r y z))))
  :named broadcast-mul-associates
  :ranks "x y 1..3, z 1..3"
  :source "associativity of multiplication"))

(assert (! (forall ((r Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_mul sizes0 r x (ewmul y z)) (broadcast_mul sizes0 r (broadcast_mul sizes0 r x y) z)))
  :named broadcast-mul-of-small-product
  :ranks "x 1..3, y z 1..3"
  :source "associativity of multiplication"))

(assert (! (forall ((r Sizes) (t Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_mul sizes0 t (broadcast_mul sizes0 r x y) z)
         (broadcast_mul sizes0 r (broadcast_mul sizes0 t x z) y)))
  :named broadcast-mul-exchanges
  :ranks "x 2..3, y 1..2, z 1..2"
  :source "associativity and commutativity of multiplication"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_mul l r (ewadd x y) z) (ewadd (broadcast_mul l r x z) (broadcast_mul l r y z))))
  :named broadcast-mul-over-ewadd
  :ranks "x y 1..3, z 1..3"
  :source "distributivity"))

(assert (! (forall ((r Sizes) (t Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_mul sizes0 r (broadcast_add sizes0 r x y) z)
         (broadcast_add sizes0 r (broadcast_mul sizes0 r x z) (ewmul y z))))
  :named broadcast-mul-over-broadcast-add
  :ranks "x 1..3, y z 1..3"
  :source "distributivity, the addend repeated as the factor is"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_div l r (ewadd x y) z) (ewadd (broadcast_div l r x z) (broadcast_div l r y z))))
  :named broadcast-div-over-ewadd
  :ranks "x y 1..3, z 1..3"
  :source "(x + y) / z = x / z + y / z"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_div l r (ewmul x y) z) (ewmul x (broadcast_div l r y z))))
  :named broadcast-div-of-ewmul
  :ranks "x y 1..3, z 1..3"
  :source "(x y) / z = x (y / z)"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (z Tensor) (s Tensor))
    (= (broadcast_div l r (smul x s) z) (smul (broadcast_div l r x z) s)))
  :named broadcast-div-of-smul
  :ranks "x 1..3, z 1..3, s 0"
  :source "(s x) / z = s (x / z)"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (z Tensor))
    (= (broadcast_div l r x z) (broadcast_mul l r x (power (- 1) z))))
  :named broadcast-div-by-power
  :ranks "x 1..3, z 1..3"
  :source "x / z = x (1 / z)"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (s Tensor))
    (= (broadcast_add l r (smul x s) (smul y s)) (smul (broadcast_add l r x y) s)))
  :named broadcast-add-of-smuls
  :ranks "x 1..3, y 1..3, s 0"
  :source "distributivity"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (s Tensor))
    (= (broadcast_mul l r (smul x s) y) (smul (broadcast_mul l r x y) s)))
  :named broadcast-mul-of-smul
  :ranks "x 1..3, y 1..3, s 0"
  :source "associativity of multiplication"))

; --- through concat, along an axis that neither operand is repeated along ---

(assert (! (forall ((l Sizes) (r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (broadcast_add l r (concat a x y) (concat a z w)) (concat a (broadcast_add l r x z) (broadcast_add l r y w))))
  :named broadcast-add-of-concats
  :ranks "x y z w 1..3"
  :source "element by element"))

(assert (! (forall ((r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_add sizes0 r (concat a x y) z)
         (concat a (broadcast_add sizes0 r x z) (broadcast_add sizes0 r y z))))
  :named broadcast-add-of-left-concat
  :ranks "x y 2, z 2; x y 2, z 1; x y 3, z 3; x y 3, z 2"
  :source "along a, z is repeated"))

(assert (! (forall ((l Sizes) (r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (broadcast_sub l r (concat a x y) (concat a z w)) (concat a (broadcast_sub l r x z) (broadcast_sub l r y w))))
  :named broadcast-sub-of-concats
  :ranks "x y z w 1..3"
  :source "element by element"))

(assert (! (forall ((r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_sub sizes0 r (concat a x y) z)
         (concat a (broadcast_sub sizes0 r x z) (broadcast_sub sizes0 r y z))))
  :named broadcast-sub-of-left-concat
  :ranks "x y 2, z 2; x y 2, z 1; x y 3, z 3; x y 3, z 2"
  :source "along a, z is repeated"))

(assert (! (forall ((l Sizes) (r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (broadcast_mul l r (concat a x y) (concat a z w)) (concat a (broadcast_mul l r x z) (broadcast_mul l r y w))))
  :named broadcast-mul-of-concats
  :ranks "x y z w 1..3"
  :source "element by element"))

(assert (! (forall ((r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_mul sizes0 r (concat a x y) z)
         (concat a (broadcast_mul sizes0 r x z) (broadcast_mul sizes0 r y z))))
  :named broadcast-mul-of-left-concat
  :ranks "x y 2, z 2; x y 2, z 1; x y 3, z 3; x y 3, z 2"
  :source "along a, z is repeated"))

(assert (! (forall ((l Sizes) (r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (broadcast_div l r (concat a x y) (concat a z w)) (concat a (broadcast_div l r x z) (broadcast_div l r y w))))
  :named broadcast-div-of-concats
  :ranks "x y z w 1..3"
  :source "element by element"))

(assert (! (forall ((r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_div sizes0 r (concat a x y) z)
         (concat a (broadcast_div sizes0 r x z) (broadcast_div sizes0 r y z))))
  :named broadcast-div-of-left-concat
  :ranks "x y 2, z 2; x y 2, z 1; x y 3, z 3; x y 3, z 2"
  :source "along a, z is repeated"))

(assert (! (forall ((l Sizes) (r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (broadcast_max l r (concat a x y) (concat a z w)) (concat a (broadcast_max l r x z) (broadcast_max l r y w))))
  :named broadcast-max-of-concats
  :ranks "x y z w 1..3"
  :source "element by element"))

(assert (! (forall ((r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_max sizes0 r (concat a x y) z)
         (concat a (broadcast_max sizes0 r x z) (broadcast_max sizes0 r y z))))
  :named broadcast-max-of-left-concat
  :ranks "x y 2, z 2; x y 2, z 1; x y 3, z 3; x y 3, z 2"
  :source "along a, z is repeated"))

(assert (! (forall ((l Sizes) (r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (broadcast_min l r (concat a x y) (concat a z w)) (concat a (broadcast_min l r x z) (broadcast_min l r y w))))
  :named broadcast-min-of-concats
  :ranks "x y z w 1..3"
  :source "element by element"))

(assert (! (forall ((r Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_min sizes0 r (concat a x y) z)
         (concat a (broadcast_min sizes0 r x z) (broadcast_min sizes0 r y z))))
  :named broadcast-min-of-left-concat
  :ranks "x y 2, z 2; x y 2, z 1; x y 3, z 3; x y 3, z 2"
  :source "along a, z is repeated"))

; --- biases ---

(assert (! (forall ((x Tensor) (b Tensor))
    (= (bias_add 1 x b) (broadcast_add sizes0 sizes0 x b)))
  :named bias-as-broadcast-last-2
  :ranks "x 2, b 1"
  :source "the last axes are aligned"))

(assert (! (forall ((x Tensor) (b Tensor))
    (= (bias_add 2 x b) (broadcast_add sizes0 sizes0 x b)))
  :named bias-as-broadcast-last-3
  :ranks "x 3, b 1"
  :source "the last axes are aligned"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (b Tensor))
    (= (bias_add a (ewadd x y) b) (ewadd x (bias_add a y b))))
  :named bias-of-ewadd
  :ranks "x y 1..4, b 1"
  :source "associativity of addition"))

(assert (! (forall ((a Int) (x Tensor) (b Tensor) (c Tensor))
    (= (bias_add a (bias_add a x b) c) (bias_add a x (ewadd b c))))
  :named bias-of-bias
  :ranks "x 1..4, b c 1"
  :source "associativity of addition"))

(assert (! (forall ((a Int) (e Int) (x Tensor) (b Tensor) (c Tensor))
    (= (bias_add a (bias_add e x b) c) (bias_add e (bias_add a x c) b)))
  :named bias-exchanges
  :ranks "x 1..4, b c 1"
  :source "associativity and commutativity of addition"))

(assert (! (forall ((a Int) (x Tensor) (b Tensor) (s Tensor))
    (= (bias_add a (smul x s) (smul b s)) (smul (bias_add a x b) s)))
  :named bias-of-smul
  :ranks "x 1..4, b 1, s 0"
  :source "distributivity"))

(assert (! (forall ((a Int) (x Tensor) (y Tensor) (b Tensor) (c Tensor))
    (= (bias_add a (concat a x y) (concat 0 b c)) (concat a (bias_add a x b) (bias_add a y c))))
  :named bias-of-concats
  :ranks "x y 1..4, b c 1"
  :source "each part has its own biases"))

(assert (! (forall ((a Int) (e Int) (x Tensor) (y Tensor) (b Tensor))
    (= (bias_add a (concat e x y) b) (concat e (bias_add a x b) (bias_add a y b))))
  :named bias-of-concat-elsewhere
  :ranks "x y 2..4, b 1"
  :condition "a != e"
  :source "the bias is repeated along the other axis"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (b Tensor))
    (= (split.0 a s (bias_add a x b)) (bias_add a (split.0 a s x) (split.0 0 s b))))
  :named split-first-of-bias
  :ranks "x 1..4, b 1"
  :domain "s any _2"
  :source "lemma: bias-of-concats and concat-of-splits"))

(assert (! (forall ((a Int) (e Int) (s Sizes) (x Tensor) (b Tensor))
    (= (split.0 e s (bias_add a x b)) (bias_add a (split.0 e s x) b)))
  :named split-first-of-bias-elsewhere
  :ranks "x 2..4, b 1"
  :condition "a != e"
  :domain "s any _2"
  :source "lemma: bias-of-concat-elsewhere and concat-of-splits"))

(assert (! (forall ((a Int) (s Sizes) (x Tensor) (b Tensor))
    (= (split.1 a s (bias_add a x b)) (bias_add a (split.1 a s x) (split.1 0 s b))))
  :named split-second-of-bias
  :ranks "x 1..4, b 1"
  :domain "s any _2"
  :source "lemma: bias-of-concats and concat-of-splits"))

(assert (! (forall ((a Int) (e Int) (s Sizes) (x Tensor) (b Tensor))
    (= (split.1 e s (bias_add a x b)) (bias_add a (split.1 e s x) b)))
  :named split-second-of-bias-elsewhere
  :ranks "x 2..4, b 1"
  :condition "a != e"
  :domain "s any _2"
  :source "lemma: bias-of-concat-elsewhere and concat-of-splits"))

(assert (! (forall ((x Tensor) (b Tensor))
    (= (transpose (sizes2 1 0) (bias_add 0 x b)) (bias_add 1 (transpose (sizes2 1 0) x) b)))
  :named transpose-of-bias-0
  :ranks "x 2, b 1"
  :source "the axis moves"))

(assert (! (forall ((x Tensor) (b Tensor))
    (= (transpose (sizes2 1 0) (bias_add 1 x b)) (bias_add 0 (transpose (sizes2 1 0) x) b)))
  :named transpose-of-bias-1
  :ranks "x 2, b 1"
  :source "the axis moves"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (x Tensor) (w Tensor) (v Tensor) (b Tensor) (c Tensor))
    (= (bias_add 1 (conv2d s p q d 1 activation.none x (concat 0 w v)) (concat 0 b c))
         (concat 1 (bias_add 1 (conv2d s p q d 1 activation.none x w) b) (bias_add 1 (conv2d s p q d 1 activation.none x v) c))))
  :named conv-outputs-with-bias
  :ranks "x w v 4, b c 1"
  :source "lemma: bias-of-concats and conv-of-weight-concat"))

(assert (! (forall ((x Tensor) (w Tensor) (v Tensor) (b Tensor) (c Tensor))
    (= (bias_add 1 (matmul x (concat 1 w v)) (concat 0 b c))
         (concat 1 (bias_add 1 (matmul x w) b) (bias_add 1 (matmul x v) c))))
  :named matmul-columns-with-bias
  :ranks "x w v 2, b c 1"
  :source "lemma: bias-of-concats and matmul-of-right-concat"))

; --- slopes ---

(assert (! (forall ((r Sizes) (x Tensor) (s Tensor))
    (= (prelu sizes0 r x s) (broadcast_sub sizes0 sizes0 (relu x) (broadcast_mul sizes0 r (relu (neg x)) s))))
  :named prelu-by-relu
  :ranks "x 1..3, s 1..3"
  :needs "real-relu"
  :source "definition of the rectifier with slopes"))

(assert (! (forall ((r Sizes) (x Tensor) (s Tensor))
    (= (prelu sizes0 r (relu x) s) (relu x)))
  :named prelu-of-relu
  :ranks "x 1..3, s 1..3"
  :needs "real-relu"
  :source "it is x where x >= 0"))

(assert (! (forall ((r Sizes) (a Int) (x Tensor) (y Tensor) (s Tensor) (t Tensor))
    (= (prelu sizes0 r (concat a x y) (concat a s t)) (concat a (prelu sizes0 r x s) (prelu sizes0 r y t))))
  :named prelu-of-concats
  :ranks "x y s t 1..3"
  :source "element by element"))

(assert (! (forall ((r Sizes) (a Int) (x Tensor) (y Tensor) (s Tensor))
    (= (prelu sizes0 r (concat a x y) s) (concat a (prelu sizes0 r x s) (prelu sizes0 r y s))))
  :named prelu-of-left-concat
  :ranks "x y 2..3, s 1..3"
  :source "along a, the slopes are repeated"))

; --- batched matrix products ---

(assert (! (forall ((x Tensor) (y Tensor))
    (= (broadcast_matmul sizes0 sizes0 x y) (matmul x y)))
  :named broadcast-matmul-of-equal-batches
  :ranks "x y 2; x y 3; x y 4"
  :source "nothing is repeated"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_matmul l r x (ewadd y z)) (ewadd (broadcast_matmul l r x y) (broadcast_matmul l r x z))))
  :named broadcast-matmul-over-right-ewadd
  :ranks "x 2..3, y z 2..3"
  :domain "l any [] [0]; r any [] [0]"
  :source "bilinearity of the matrix product"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_matmul l r (ewadd x y) z) (ewadd (broadcast_matmul l r x z) (broadcast_matmul l r y z))))
  :named broadcast-matmul-over-left-ewadd
  :ranks "x y 2..3, z 2..3"
  :domain "l any [] [0]; r any [] [0]"
  :source "bilinearity of the matrix product"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (s Tensor))
    (= (smul (broadcast_matmul l r x y) s) (broadcast_matmul l r (smul x s) y)))
  :named smul-through-left-of-broadcast-matmul
  :ranks "x 2..3, y 2..3, s 0"
  :domain "l any [] [0]; r any [] [0]"
  :source "bilinearity of the matrix product"))

(assert (! (forall ((l Sizes) (r Sizes) (x Tensor) (y Tensor) (s Tensor))
    (= (smul (broadcast_matmul l r x y) s) (broadcast_matmul l r x (smul y s))))
  :named smul-through-right-of-broadcast-matmul
  :ranks "x 2..3, y 2..3, s 0"
  :domain "l any [] [0]; r any [] [0]"
  :source "bilinearity of the matrix product"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_matmul sizes0 sizes0 x (concat 1 y z))
         (concat 2 (broadcast_matmul sizes0 sizes0 x y) (broadcast_matmul sizes0 sizes0 x z))))
  :named broadcast-matmul-of-right-concat
  :ranks "x 3, y z 2"
  :source "column by column, in each batch"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_matmul sizes0 sizes0 (concat 1 x y) z)
         (concat 1 (broadcast_matmul sizes0 sizes0 x z) (broadcast_matmul sizes0 sizes0 y z))))
  :named broadcast-matmul-of-left-concat
  :ranks "x y 3, z 2"
  :source "row by row, in each batch"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_matmul sizes0 sizes0 (concat 0 x y) z)
         (concat 0 (broadcast_matmul sizes0 sizes0 x z) (broadcast_matmul sizes0 sizes0 y z))))
  :named broadcast-matmul-of-batch-concat
  :ranks "x y 3, z 2"
  :source "batch by batch"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (broadcast_matmul sizes0 sizes0 (concat 2 x y) (concat 0 z w))
         (ewadd (broadcast_matmul sizes0 sizes0 x z) (broadcast_matmul sizes0 sizes0 y w))))
  :named broadcast-matmul-of-inner-concats
  :ranks "x y 3, z w 2"
  :source "sums over both parts"))

(assert (! (forall ((x Tensor) (y Tensor) (z Tensor))
    (= (broadcast_matmul sizes0 sizes0 x (matmul y z))
         (broadcast_matmul sizes0 sizes0 (broadcast_matmul sizes0 sizes0 x y) z)))
  :named broadcast-matmul-associates
  :ranks "x 3, y z 2"
  :source "associativity of the matrix product, in each batch"))
