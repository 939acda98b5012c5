; Reductions, softmax, layer and batch normalisation.
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
(declare-fun constant_one (Sizes) Tensor)
(declare-fun reshape (Sizes Tensor) Tensor)
(declare-fun bias_add (Int Tensor Tensor) Tensor)
(declare-fun softmax (Int Tensor) Tensor)
(declare-fun log_softmax (Int Tensor) Tensor)
(declare-fun layer_norm/2 (Int Real Tensor Tensor) Tensor)
(declare-fun layer_norm/3 (Int Real Tensor Tensor Tensor) Tensor)
(declare-fun batch_norm (Real Tensor Tensor Tensor Tensor Tensor) Tensor)
(declare-fun reduce_sum (Sizes Int Tensor) Tensor)
(declare-fun reduce_mean (Sizes Int Tensor) Tensor)
(declare-fun reduce_max (Sizes Int Tensor) Tensor)
(declare-fun dim (Int Tensor) Int)
(declare-fun broadcast_add (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_sub (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_mul (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_max (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun neg (Tensor) Tensor)
(declare-fun exp (Tensor) Tensor)
(declare-fun log (Tensor) Tensor)
(declare-fun sizes1 (Int) Sizes)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun sizes0 () Sizes)
(define-fun activation.none () Int 0)
(define-fun keepdims.no () Int 0)
(define-fun keepdims.yes () Int 1)

; --- sums, means and greatest along axes ---

(assert (! (forall ((k Sizes) (d Int) (x Tensor) (y Tensor))
    (= (reduce_sum k d (ewadd x y)) (ewadd (reduce_sum k d x) (reduce_sum k d y))))
  :named reduce-sum-of-ewadd
  :ranks "x y 1..3"
  :source "linearity of the sum"))

(assert (! (forall ((k Sizes) (d Int) (x Tensor) (s Tensor))
    (= (reduce_sum k d (smul x s)) (smul (reduce_sum k d x) s)))
  :named reduce-sum-of-smul
  :ranks "x 1..3, s 0"
  :source "linearity of the sum"))

(assert (! (forall ((k Sizes) (d Int) (x Tensor))
    (= (reduce_sum k d (neg x)) (neg (reduce_sum k d x))))
  :named reduce-sum-of-neg
  :ranks "x 1..3"
  :source "linearity of the sum"))

(assert (! (forall ((k Sizes) (d Int) (x Tensor) (y Tensor))
    (= (reduce_mean k d (ewadd x y)) (ewadd (reduce_mean k d x) (reduce_mean k d y))))
  :named reduce-mean-of-ewadd
  :ranks "x y 1..3"
  :source "linearity of the mean"))

(assert (! (forall ((k Sizes) (d Int) (x Tensor) (s Tensor))
    (= (reduce_mean k d (smul x s)) (smul (reduce_mean k d x) s)))
  :named reduce-mean-of-smul
  :ranks "x 1..3, s 0"
  :source "linearity of the mean"))

(assert (! (forall ((k Sizes) (d Int) (x Tensor))
    (= (reduce_mean k d (neg x)) (neg (reduce_mean k d x))))
  :named reduce-mean-of-neg
  :ranks "x 1..3"
  :source "linearity of the mean"))

(assert (! (forall ((k Sizes) (d Int) (x Tensor))
    (= (reduce_max k d (relu x)) (relu (reduce_max k d x))))
  :named reduce-max-of-relu
  :ranks "x 1..3"
  :needs "real-relu"
  :source "max(x, 0) keeps order"))

(assert (! (forall ((b Int) (a Int) (x Tensor) (y Tensor))
    (= (reduce_sum (sizes1 b) keepdims.yes (concat a x y))
         (concat a (reduce_sum (sizes1 b) keepdims.yes x) (reduce_sum (sizes1 b) keepdims.yes y))))
  :named reduce-sum-of-concat-elsewhere
  :ranks "x y 2..4"
  :condition "a != b"
  :domain "b any 0 1 2 3"
  :source "index by index of the other axes"))

(assert (! (forall ((a Int) (b Int) (x Tensor))
    (= (reduce_sum (sizes1 a) keepdims.yes (reduce_sum (sizes1 b) keepdims.yes x))
         (reduce_sum (sizes1 b) keepdims.yes (reduce_sum (sizes1 a) keepdims.yes x))))
  :named reduce-sum-twice
  :ranks "x 2..4"
  :domain "a any 0 1 2; b any 0 1 2 3"
  :source "the order does not count"))

(assert (! (forall ((b Int) (a Int) (x Tensor) (y Tensor))
    (= (reduce_mean (sizes1 b) keepdims.yes (concat a x y))
         (concat a (reduce_mean (sizes1 b) keepdims.yes x) (reduce_mean (sizes1 b) keepdims.yes y))))
  :named reduce-mean-of-concat-elsewhere
  :ranks "x y 2..4"
  :condition "a != b"
  :domain "b any 0 1 2 3"
  :source "index by index of the other axes"))

(assert (! (forall ((a Int) (b Int) (x Tensor))
    (= (reduce_mean (sizes1 a) keepdims.yes (reduce_mean (sizes1 b) keepdims.yes x))
         (reduce_mean (sizes1 b) keepdims.yes (reduce_mean (sizes1 a) keepdims.yes x))))
  :named reduce-mean-twice
  :ranks "x 2..4"
  :domain "a any 0 1 2; b any 0 1 2 3"
  :source "the order does not count"))

(assert (! (forall ((b Int) (a Int) (x Tensor) (y Tensor))
    (= (reduce_max (sizes1 b) keepdims.yes (concat a x y))
         (concat a (reduce_max (sizes1 b) keepdims.yes x) (reduce_max (sizes1 b) keepdims.yes y))))
  :named reduce-max-of-concat-elsewhere
  :ranks "x y 2..4"
  :condition "a != b"
  :domain "b any 0 1 2 3"
  :source "index by index of the other axes"))

(assert (! (forall ((a Int) (b Int) (x Tensor))
    (= (reduce_max (sizes1 a) keepdims.yes (reduce_max (sizes1 b) keepdims.yes x))
         (reduce_max (sizes1 b) keepdims.yes (reduce_max (sizes1 a) keepdims.yes x))))
  :named reduce-max-twice
  :ranks "x 2..4"
  :domain "a any 0 1 2; b any 0 1 2 3"
  :source "the order does not count"))

(assert (! (forall ((a Int) (d Int) (x Tensor) (y Tensor))
    (= (reduce_sum (sizes1 a) d (concat a x y)) (ewadd (reduce_sum (sizes1 a) d x) (reduce_sum (sizes1 a) d y))))
  :named reduce-sum-of-concat
  :ranks "x y 1..4"
  :domain "a any 0 1 2 3"
  :source "a sum of two parts"))

(assert (! (forall ((a Int) (d Int) (x Tensor) (y Tensor))
    (= (reduce_max (sizes1 a) d (concat a x y))
         (broadcast_max sizes0 sizes0 (reduce_max (sizes1 a) d x) (reduce_max (sizes1 a) d y))))
  :named reduce-max-of-concat
  :ranks "x y 1..4"
  :domain "a any 0 1 2 3"
  :source "the greatest of two parts"))

(assert (! (forall ((x Tensor))
    (= (reduce_sum (sizes1 0) keepdims.no (transpose (sizes2 1 0) x)) (reduce_sum (sizes1 1) keepdims.no x)))
  :named reduce-sum-of-transpose-0
  :ranks "x 2"
  :source "the axis moves"))

(assert (! (forall ((x Tensor))
    (= (reduce_sum (sizes1 1) keepdims.no (transpose (sizes2 1 0) x)) (reduce_sum (sizes1 0) keepdims.no x)))
  :named reduce-sum-of-transpose-1
  :ranks "x 2"
  :source "the axis moves"))

(assert (! (forall ((x Tensor))
    (= (reduce_mean (sizes1 0) keepdims.no (transpose (sizes2 1 0) x)) (reduce_mean (sizes1 1) keepdims.no x)))
  :named reduce-mean-of-transpose-0
  :ranks "x 2"
  :source "the axis moves"))

(assert (! (forall ((x Tensor))
    (= (reduce_mean (sizes1 1) keepdims.no (transpose (sizes2 1 0) x)) (reduce_mean (sizes1 0) keepdims.no x)))
  :named reduce-mean-of-transpose-1
  :ranks "x 2"
  :source "the axis moves"))

(assert (! (forall ((x Tensor))
    (= (reduce_max (sizes1 0) keepdims.no (transpose (sizes2 1 0) x)) (reduce_max (sizes1 1) keepdims.no x)))
  :named reduce-max-of-transpose-0
  :ranks "x 2"
  :source "the axis moves"))

(assert (! (forall ((x Tensor))
    (= (reduce_max (sizes1 1) keepdims.no (transpose (sizes2 1 0) x)) (reduce_max (sizes1 0) keepdims.no x)))
  :named reduce-max-of-transpose-1
  :ranks "x 2"
  :source "the axis moves"))

(assert (! (forall ((x Tensor))
    (= (reduce_sum (sizes1 1) keepdims.yes x) (matmul x (constant_one (sizes2 (dim 1 x) 1)))))
  :named reduce-sum-as-matmul
  :ranks "x 2"
  :source "the product with a column of ones"))

(assert (! (forall ((x Tensor))
    (= (reduce_sum (sizes1 0) keepdims.yes x) (matmul (constant_one (sizes2 1 (dim 0 x))) x)))
  :named reduce-sum-as-left-matmul
  :ranks "x 2"
  :source "the product with a row of ones"))

(assert (! (forall ((x Tensor) (y Tensor))
    (= (reduce_sum (sizes1 0) keepdims.yes (matmul x y)) (matmul (reduce_sum (sizes1 0) keepdims.yes x) y)))
  :named reduce-sum-of-matmul
  :ranks "x y 2"
  :source "the sum of all rows"))

; --- softmax ---

(assert (! (forall ((a Int) (b Int) (x Tensor) (y Tensor))
    (= (softmax a (concat b x y)) (concat b (softmax a x) (softmax a y))))
  :named softmax-of-concat
  :ranks "x y 2..4"
  :condition "a != b"
  :needs "real-functions"
  :source "each line along a by itself"))

(assert (! (forall ((b Int) (s Sizes) (a Int) (x Tensor))
    (= (split.0 b s (softmax a x)) (softmax a (split.0 b s x))))
  :named split-first-of-softmax
  :ranks "x 2..4"
  :condition "a != b"
  :needs "real-functions"
  :domain "s any _2"
  :source "lemma: softmax-of-concat and concat-of-splits"))

(assert (! (forall ((b Int) (s Sizes) (a Int) (x Tensor))
    (= (split.1 b s (softmax a x)) (softmax a (split.1 b s x))))
  :named split-second-of-softmax
  :ranks "x 2..4"
  :condition "a != b"
  :needs "real-functions"
  :domain "s any _2"
  :source "lemma: softmax-of-concat and concat-of-splits"))

(assert (! (forall ((x Tensor))
    (= (transpose (sizes2 1 0) (softmax 0 x)) (softmax 1 (transpose (sizes2 1 0) x))))
  :named transpose-of-softmax-0
  :ranks "x 2"
  :needs "real-functions"
  :source "the axis moves"))

(assert (! (forall ((x Tensor))
    (= (transpose (sizes2 1 0) (softmax 1 x)) (softmax 0 (transpose (sizes2 1 0) x))))
  :named transpose-of-softmax-1
  :ranks "x 2"
  :needs "real-functions"
  :source "the axis moves"))

(assert (! (forall ((a Int) (x Tensor) (c Tensor))
    (= (softmax a (broadcast_add sizes0 (sizes1 a) x c)) (softmax a x)))
  :named softmax-shifted
  :ranks "x c 1; x c 2; x c 3"
  :needs "real-functions"
  :source "e^c cancels, c being one number for each line"))

(assert (! (forall ((a Int) (b Int) (x Tensor) (y Tensor))
    (= (log_softmax a (concat b x y)) (concat b (log_softmax a x) (log_softmax a y))))
  :named log-softmax-of-concat
  :ranks "x y 2..4"
  :condition "a != b"
  :needs "real-functions"
  :source "each line along a by itself"))

(assert (! (forall ((b Int) (s Sizes) (a Int) (x Tensor))
    (= (split.0 b s (log_softmax a x)) (log_softmax a (split.0 b s x))))
  :named split-first-of-log-softmax
  :ranks "x 2..4"
  :condition "a != b"
  :needs "real-functions"
  :domain "s any _2"
  :source "lemma: log-softmax-of-concat and concat-of-splits"))

(assert (! (forall ((b Int) (s Sizes) (a Int) (x Tensor))
    (= (split.1 b s (log_softmax a x)) (log_softmax a (split.1 b s x))))
  :named split-second-of-log-softmax
  :ranks "x 2..4"
  :condition "a != b"
  :needs "real-functions"
  :domain "s any _2"
  :source "lemma: log-softmax-of-concat and concat-of-splits"))

(assert (! (forall ((x Tensor))
    (= (transpose (sizes2 1 0) (log_softmax 0 x)) (log_softmax 1 (transpose (sizes2 1 0) x))))
  :named transpose-of-log-softmax-0
  :ranks "x 2"
  :needs "real-functions"
  :source "the axis moves"))

(assert (! (forall ((x Tensor))
    (= (transpose (sizes2 1 0) (log_softmax 1 x)) (log_softmax 0 (transpose (sizes2 1 0) x))))
  :named transpose-of-log-softmax-1
  :ranks "x 2"
  :needs "real-functions"
  :source "the axis moves"))

(assert (! (forall ((a Int) (x Tensor) (c Tensor))
    (= (log_softmax a (broadcast_add sizes0 (sizes1 a) x c)) (log_softmax a x)))
  :named log-softmax-shifted
  :ranks "x c 1; x c 2; x c 3"
  :needs "real-functions"
  :source "e^c cancels, c being one number for each line"))

(assert (! (forall ((a Int) (x Tensor))
    (= (log (softmax a x)) (log_softmax a x)))
  :named log-of-softmax
  :ranks "x 1..3"
  :needs "real-functions"
  :source "ln(e^x / sum) = x - ln(sum)"))

(assert (! (forall ((a Int) (x Tensor))
    (= (exp (log_softmax a x)) (softmax a x)))
  :named exp-of-log-softmax
  :ranks "x 1..3"
  :needs "real-functions"
  :source "the exponential is the inverse of the logarithm"))

(assert (! (forall ((a Int) (x Tensor))
    (= (softmax a (log_softmax a x)) (softmax a x)))
  :named softmax-of-log-softmax
  :ranks "x 1..3"
  :needs "real-functions"
  :source "log_softmax is x shifted"))

(assert (! (forall ((a Int) (x Tensor))
    (= (relu (softmax a x)) (softmax a x)))
  :named relu-of-softmax
  :ranks "x 1..3"
  :needs "real-functions"
  :source "e^x / sum > 0"))

; --- layer normalisation ---

(assert (! (forall ((a Int) (b Int) (e Real) (x Tensor) (y Tensor) (s Tensor))
    (= (layer_norm/2 a e (concat b x y) s) (concat b (layer_norm/2 a e x s) (layer_norm/2 a e y s))))
  :named layer-norm-of-concat
  :ranks "x y 2..3, s 1..2"
  :condition "a >= b + 1"
  :domain "e any 0.00001 0.5"
  :source "each part behind axis a by itself"))

(assert (! (forall ((a Int) (b Int) (e Real) (x Tensor) (y Tensor) (s Tensor) (t Tensor))
    (= (layer_norm/3 a e (concat b x y) s t) (concat b (layer_norm/3 a e x s t) (layer_norm/3 a e y s t))))
  :named layer-norm-of-concat-with-bias
  :ranks "x y 2..3, s t 1..2"
  :condition "a >= b + 1"
  :domain "e any 0.00001 0.5"
  :source "each part behind axis a by itself"))

(assert (! (forall ((a Int) (e Real) (x Tensor) (s Tensor) (t Tensor))
    (= (layer_norm/3 a e x s t) (broadcast_add sizes0 sizes0 (layer_norm/2 a e x s) t)))
  :named layer-norm-bias
  :ranks "x 1..3, s t 1..3"
  :domain "e any 0.00001 0.5"
  :source "the bias is added last"))

(assert (! (forall ((a Int) (e Real) (x Tensor) (s Tensor) (t Tensor))
    (= (layer_norm/2 a e x (ewmul s t)) (broadcast_mul sizes0 sizes0 (layer_norm/2 a e x s) t)))
  :named layer-norm-scale
  :ranks "x 1..3, s t 1..3"
  :domain "e any 0.00001 0.5"
  :source "the scale is a factor"))

(assert (! (forall ((a Int) (e Real) (x Tensor) (s Tensor) (t Tensor) (u Tensor))
    (= (layer_norm/3 a e x s (ewadd t u)) (broadcast_add sizes0 sizes0 (layer_norm/3 a e x s t) u)))
  :named layer-norm-biases
  :ranks "x 1..3, s t u 1..3"
  :domain "e any 0.00001 0.5"
  :source "lemma: layer-norm-bias and broadcast-add-of-small-sum"))

; --- batch normalisation ---

(assert (! (forall ((e Real) (x Tensor) (s Tensor) (b Tensor) (m Tensor) (v Tensor) (y Tensor))
    (= (batch_norm e (concat 0 x y) s b m v) (concat 0 (batch_norm e x s b m v) (batch_norm e y s b m v))))
  :named batch-norm-of-concat
  :ranks "x y 2..4, s b m v 1"
  :domain "e any 0.00001 0.5"
  :source "image by image"))

(assert (! (forall ((e Real) (x Tensor) (s Tensor) (b Tensor) (m Tensor) (v Tensor) (y Tensor) (t Tensor) (c Tensor) (n Tensor) (w Tensor))
    (= (batch_norm e (concat 1 x y) (concat 0 s t) (concat 0 b c) (concat 0 m n) (concat 0 v w))
         (concat 1 (batch_norm e x s b m v) (batch_norm e y t c n w))))
  :named batch-norm-of-channel-concat
  :ranks "x y 2..4, s b m v t c n w 1"
  :domain "e any 0.00001 0.5"
  :source "channel by channel"))

(assert (! (forall ((e Real) (x Tensor) (s Tensor) (b Tensor) (m Tensor) (v Tensor) (c Tensor))
    (= (batch_norm e (bias_add 1 x c) s b m v) (batch_norm e x s b (broadcast_sub sizes0 sizes0 m c) v)))
  :named batch-norm-of-bias
  :ranks "x 2..4, s b m v c 1"
  :domain "e any 0.00001 0.5"
  :source "the mean moves with the channel"))

(assert (! (forall ((e Real) (x Tensor) (s Tensor) (b Tensor) (m Tensor) (v Tensor) (c Tensor))
    (= (bias_add 1 (batch_norm e x s b m v) c) (batch_norm e x s (ewadd b c) m v)))
  :named bias-of-batch-norm
  :ranks "x 2..4, s b m v c 1"
  :domain "e any 0.00001 0.5"
  :source "the bias is added last"))

(assert (! (forall ((e Real) (x Tensor) (s Tensor) (t Tensor) (b Tensor) (m Tensor) (v Tensor))
    (= (batch_norm e x (ewmul s t) (ewmul b t) m v)
         (transpose (sizes4 0 3 1 2) (broadcast_mul sizes0 sizes0 (transpose (sizes4 0 2 3 1) (batch_norm e x s b m v)) t))))
  :named batch-norm-scale
  :ranks "x 4, s t b m v 1"
  :domain "e any 0.00001 0.5"
  :source "a factor for each channel"))

; Folding into the weights of the convolution before: they and the biases change, the image does not. z is a vector of zeros.

(assert (! (forall ((t Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (e Real) (x Tensor) (w Tensor) (s Tensor) (b Tensor) (m Tensor) (v Tensor))
    (= (batch_norm e (conv2d t p q d g activation.none x w) s b m v)
         (bias_add 1 (conv2d t p q d g activation.none x (transpose (sizes4 1 0 2 3) (batch_norm e (transpose (sizes4 1 0 2 3) w) s (broadcast_sub sizes0 sizes0 m m) (broadcast_sub sizes0 sizes0 m m) v))) (reshape (sizes1 (dim 0 m)) (batch_norm e (reshape (sizes2 1 (dim 0 m)) (broadcast_sub sizes0 sizes0 m m)) s b m v)))))
  :named batch-norm-of-conv
  :ranks "x w 4, s b m v 1"
  :domain "e any 0.00001"
  :source "linear in the image for each channel (Jacob et al., CVPR 2018, section 3.2)"))

(assert (! (forall ((e Real) (x Tensor) (w Tensor) (s Tensor) (b Tensor) (m Tensor) (v Tensor))
    (= (batch_norm e (matmul x w) s b m v)
         (bias_add 1 (matmul x (batch_norm e w s (broadcast_sub sizes0 sizes0 m m) (broadcast_sub sizes0 sizes0 m m) v)) (reshape (sizes1 (dim 0 m)) (batch_norm e (reshape (sizes2 1 (dim 0 m)) (broadcast_sub sizes0 sizes0 m m)) s b m v)))))
  :named batch-norm-of-matmul
  :ranks "x w 2, s b m v 1"
  :domain "e any 0.00001"
  :source "linear in the row for each column"))
