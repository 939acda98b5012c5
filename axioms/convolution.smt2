; Convolution, pooling and the enlarging of kernels. Images are [N, C, H, W], weights [O, C/groups, KH, KW].
; README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(set-info :padding-same "floor((k-1)/2) before, ceil((k-1)/2) after, at every stride")
(set-info :pool-max-padding "never the greatest")
(set-info :pool-average-default "divides by the size of the kernel")
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun dim (Int Tensor) Int)
(define-fun padding.same () Int 0)
(define-fun padding.valid () Int 1)
(define-fun activation.none () Int 0)
(define-fun activation.relu () Int 1)
(define-fun count_include_pad.yes () Int 0)
(define-fun count_include_pad.no () Int 1)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun smul (Tensor Tensor) Tensor)
(declare-fun relu (Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun split.0 (Int Sizes Tensor) Tensor)  ; axis sizes x: the first part
(declare-fun split.1 (Int Sizes Tensor) Tensor)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)  ; strides padding pads dilations groups activation x w
(declare-fun pool2d_max (Sizes Sizes Int Sizes Tensor) Tensor)  ; kernel strides padding pads x
(declare-fun pool2d_avg (Sizes Sizes Int Sizes Int Tensor) Tensor)  ; kernel strides padding pads count_include_pad x
(declare-fun enlarge (Sizes Tensor) Tensor)
(declare-fun merge_gconv (Int Int Tensor) Tensor)  ; count groups w
(declare-fun constant_pool (Sizes) Tensor)
(declare-fun constant_conv (Sizes) Tensor)
(declare-fun constant_one (Sizes) Tensor)

; --- linearity; every stride, padding, dilation and number of groups ---

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (y Tensor) (w Tensor))
    (= (conv2d s p q d g activation.none (ewadd x y) w)
         (ewadd (conv2d s p q d g activation.none x w) (conv2d s p q d g activation.none y w))))
  :named conv-over-data-ewadd
  :ranks "x y w 4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

; Right to left only where y and z have one shape: under padding same, kernels of different sizes give outputs of one size.
(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (y Tensor) (z Tensor))
    (= (conv2d s p q d g activation.none x (ewadd y z))
         (ewadd (conv2d s p q d g activation.none x y) (conv2d s p q d g activation.none x z))))
  :named conv-over-weight-ewadd
  :ranks "x y z 4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (t Tensor) (w Tensor))
    (= (conv2d s p q d g activation.none (smul x t) w)
         (smul (conv2d s p q d g activation.none x w) t)))
  :named conv-of-data-smul
  :ranks "x w 4, t 0"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (w Tensor) (t Tensor))
    (= (conv2d s p q d g activation.none x (smul w t))
         (smul (conv2d s p q d g activation.none x w) t)))
  :named conv-of-weight-smul
  :ranks "x w 4, t 0"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (t Tensor) (w Tensor))
    (= (conv2d s p q d g activation.none (smul x t) w)
         (conv2d s p q d g activation.none x (smul w t))))
  :named conv-smul-moves
  :ranks "x w 4, t 0"
  :source "lemma: conv-of-data-smul and conv-of-weight-smul"))

; --- concatenation ---

; Right to left only where x and y have one image size: with stride 2, sizes 3 and 4 both give 2.
(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (a Int) (x Tensor) (y Tensor) (w Tensor))
    (= (conv2d s p q d g a (concat 0 x y) w)
         (concat 0 (conv2d s p q d g a x w) (conv2d s p q d g a y w))))
  :named conv-of-batch-concat
  :ranks "x y w 4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

; groups = 1 only; see rejected.smt2. Right to left only where both kernels have one size.
(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (a Int) (x Tensor) (y Tensor) (z Tensor))
    (= (conv2d s p q d 1 a x (concat 0 y z))
         (concat 1 (conv2d s p q d 1 a x y) (conv2d s p q d 1 a x z))))
  :named conv-of-weight-concat
  :ranks "x y z 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, there without groups = 1"))

; groups = 1 only; see rejected.smt2. Left to right only where the cuts meet: x.1 = z.1.
(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (conv2d s p q d 1 activation.none (concat 1 x y) (concat 1 z w))
         (ewadd (conv2d s p q d 1 activation.none x z) (conv2d s p q d 1 activation.none y w))))
  :named conv-of-channel-concats
  :ranks "x y z w 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, there without groups = 1"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (h Int) (a Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (conv2d s p q d (+ g h) a (concat 1 x y) (concat 0 z w))
         (concat 1 (conv2d s p q d g a x z) (conv2d s p q d h a y w))))
  :named conv-grouped
  :ranks "x y z w 4"
  :condition "h*z.0 = g*w.0; x.1 = g*z.1"
  :source "definition of groups: Krizhevsky et al., NIPS 2012, section 3.5"))

; --- merge_gconv: c neighbouring groups as one of h, by zeros in the weight ---

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (c Int) (h Int) (a Int) (x Tensor) (w Tensor))
    (= (conv2d s p q d (* c h) a x w)
         (conv2d s p q d h a x (merge_gconv c h w))))
  :named conv-of-merged-groups
  :ranks "x w 4"
  :domain "c any 1 2 3; h any 1 2"
  :source "definition of merge_gconv; what TASO's rule files mean by it, there without saying how many groups there are"))

(assert (! (forall ((c Int) (h Int) (x Tensor) (y Tensor))
    (= (merge_gconv c h (ewadd x y))
         (ewadd (merge_gconv c h x) (merge_gconv c h y))))
  :named merge-of-ewadd
  :ranks "x y 4"
  :domain "c any 1 2 3; h any 1 2"
  :source "zeros and copies"))

(assert (! (forall ((c Int) (h Int) (x Tensor) (y Tensor))
    (= (merge_gconv c h (ewmul x y))
         (ewmul (merge_gconv c h x) (merge_gconv c h y))))
  :named merge-of-ewmul
  :ranks "x y 4"
  :domain "c any 1 2 3; h any 1 2"
  :source "zeros and copies"))

(assert (! (forall ((c Int) (h Int) (x Tensor) (t Tensor))
    (= (merge_gconv c h (smul x t))
         (smul (merge_gconv c h x) t)))
  :named merge-of-smul
  :ranks "x 4, t 0"
  :domain "c any 1 2 3; h any 1 2"
  :source "zeros and copies"))

(assert (! (forall ((c Int) (h Int) (x Tensor))
    (= (merge_gconv c h (relu x))
         (relu (merge_gconv c h x))))
  :named merge-of-relu
  :ranks "x 4"
  :needs "real-relu"
  :domain "c any 1 2 3; h any 1 2"
  :source "zeros and copies; relu of 0 is 0"))

(assert (! (forall ((c Int) (h Int) (k Sizes) (x Tensor))
    (= (merge_gconv c h (enlarge k x))
         (enlarge k (merge_gconv c h x))))
  :named merge-of-enlarge
  :ranks "x 4"
  :domain "c any 1 2 3; h any 1 2; k any [3,3] [1,3]"
  :source "zeros and copies"))

(assert (! (forall ((b Int) (c Int) (h Int) (x Tensor))
    (= (merge_gconv c h (merge_gconv b (* c h) x))
         (merge_gconv (* b c) h x)))
  :named merge-merge
  :ranks "x 4"
  :domain "b any 1 2; c any 1 2 3; h any 1 2"
  :source "both are the weight of one convolution"))

(assert (! (forall ((h Int) (x Tensor))
    (= (merge_gconv 1 h x)
         x))
  :named merge-of-one
  :ranks "x 4"
  :domain "h any 1 2"
  :source "a group by itself"))

(assert (! (forall ((t Sizes) (s Sizes) (p Int) (q Sizes) (d Sizes) (a Int) (x Tensor) (w Tensor))
    (= (split.0 1 t (conv2d s p q d 1 a x w)) (conv2d s p q d 1 a x (split.0 0 t w))))
  :named split-first-of-conv-channels
  :ranks "x w 4"
  :source "lemma: conv-of-weight-concat and concat-of-splits"))

(assert (! (forall ((t Sizes) (s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (a Int) (x Tensor) (w Tensor))
    (= (split.0 0 t (conv2d s p q d g a x w)) (conv2d s p q d g a (split.0 0 t x) w)))
  :named split-first-of-conv-batch
  :ranks "x w 4"
  :source "lemma: conv-of-batch-concat and concat-of-splits"))

(assert (! (forall ((t Sizes) (s Sizes) (p Int) (q Sizes) (d Sizes) (a Int) (x Tensor) (w Tensor))
    (= (split.1 1 t (conv2d s p q d 1 a x w)) (conv2d s p q d 1 a x (split.1 0 t w))))
  :named split-second-of-conv-channels
  :ranks "x w 4"
  :source "lemma: conv-of-weight-concat and concat-of-splits"))

(assert (! (forall ((t Sizes) (s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (a Int) (x Tensor) (w Tensor))
    (= (split.1 0 t (conv2d s p q d g a x w)) (conv2d s p q d g a (split.1 0 t x) w)))
  :named split-second-of-conv-batch
  :ranks "x w 4"
  :source "lemma: conv-of-batch-concat and concat-of-splits"))

; --- activation ---

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (w Tensor))
    (= (conv2d s p q d g activation.relu x w) (relu (conv2d s p q d g activation.none x w))))
  :named conv-with-relu
  :ranks "x w 4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

; --- enlarge: zeros around a kernel, centre on centre ---

; Dilation 1 only: with dilation 2 an even kernel moves its centre. Not under padding valid: see rejected.smt2.
(assert (! (forall ((s Sizes) (q Sizes) (g Int) (a Int) (x Tensor) (k Sizes) (w Tensor))
    (= (conv2d s padding.same q (sizes2 1 1) g a x (enlarge k w))
         (conv2d s padding.same q (sizes2 1 1) g a x w)))
  :named conv-of-enlarge
  :ranks "x w 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, for every stride and kernel under our padding"))

; Right to left only where x and y have one kernel size.
(assert (! (forall ((k Sizes) (x Tensor) (y Tensor))
    (= (enlarge k (ewadd x y)) (ewadd (enlarge k x) (enlarge k y))))
  :named enlarge-of-ewadd
  :ranks "x y 4"
  :source "0 and 0 give 0"))

; Right to left only where x and y have one kernel size.
(assert (! (forall ((k Sizes) (x Tensor) (y Tensor))
    (= (enlarge k (ewmul x y)) (ewmul (enlarge k x) (enlarge k y))))
  :named enlarge-of-ewmul
  :ranks "x y 4"
  :source "0 and 0 give 0"))

(assert (! (forall ((k Sizes) (x Tensor) (t Tensor))
    (= (enlarge k (smul x t)) (smul (enlarge k x) t)))
  :named enlarge-of-smul
  :ranks "x 4, t 0"
  :source "a multiple of 0 is 0"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (enlarge k (relu x)) (relu (enlarge k x))))
  :named enlarge-of-relu
  :ranks "x 4"
  :needs "real-relu"
  :source "max(0, 0) = 0"))

; Right to left only where x and y have one kernel size.
(assert (! (forall ((k Sizes) (x Tensor) (y Tensor))
    (= (enlarge k (concat 0 x y)) (concat 0 (enlarge k x) (enlarge k y))))
  :named enlarge-of-concat-0
  :ranks "x y 4"
  :source "kernel by kernel"))

(assert (! (forall ((k Sizes) (t Sizes) (x Tensor))
    (= (enlarge k (split.0 0 t x)) (split.0 0 t (enlarge k x))))
  :named enlarge-of-split-first-0
  :ranks "x 4"
  :source "kernel by kernel"))

(assert (! (forall ((k Sizes) (t Sizes) (x Tensor))
    (= (enlarge k (split.1 0 t x)) (split.1 0 t (enlarge k x))))
  :named enlarge-of-split-second-0
  :ranks "x 4"
  :source "kernel by kernel"))

; Right to left only where x and y have one kernel size.
(assert (! (forall ((k Sizes) (x Tensor) (y Tensor))
    (= (enlarge k (concat 1 x y)) (concat 1 (enlarge k x) (enlarge k y))))
  :named enlarge-of-concat-1
  :ranks "x y 4"
  :source "kernel by kernel"))

(assert (! (forall ((k Sizes) (t Sizes) (x Tensor))
    (= (enlarge k (split.0 1 t x)) (split.0 1 t (enlarge k x))))
  :named enlarge-of-split-first-1
  :ranks "x 4"
  :source "kernel by kernel"))

(assert (! (forall ((k Sizes) (t Sizes) (x Tensor))
    (= (enlarge k (split.1 1 t x)) (split.1 1 t (enlarge k x))))
  :named enlarge-of-split-second-1
  :ranks "x 4"
  :source "kernel by kernel"))

(assert (! (forall ((k Sizes) (r Sizes) (x Tensor))
    (= (enlarge k (enlarge r x)) (enlarge k x)))
  :named enlarge-enlarge
  :ranks "x 4"
  :source "centre on centre on centre"))

(assert (! (forall ((k Sizes) (x Tensor))
    (= (enlarge k x) x))
  :named enlarge-of-same-size
  :ranks "x 4"
  :condition "x.2 = k.0; x.3 = k.1"
  :source "no zeros are added"))

; --- pooling ---

(assert (! (forall ((m Int) (n Int) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_avg (sizes2 m n) s p q count_include_pad.yes x)
         (conv2d s p q (sizes2 1 1) 1 activation.none x (constant_pool (sizes4 (dim 1 x) (dim 1 x) m n)))))
  :named average-as-convolution
  :ranks "x 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Cpool; the average counts padding"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (g Int) (x Tensor) (a Int) (b Int) (m Int) (n Int))
    (= (conv2d s p q (sizes2 1 1) g activation.none x (constant_pool (sizes4 a b m n)))
         (pool2d_avg (sizes2 m n) s p q count_include_pad.yes x)))
  :named convolution-as-average
  :ranks "x 4"
  :domain "m any 1 2 3; n any 1 2 3"
  :source "average-as-convolution for every number of groups"))

(assert (! (forall ((k Sizes) (s Sizes) (q Sizes) (x Tensor))
    (= (pool2d_avg k s padding.valid q count_include_pad.no x)
         (pool2d_avg k s padding.valid q count_include_pad.yes x)))
  :named average-padding-of-valid
  :ranks "x 4"
  :source "there is no padding to count"))

; Right to left only where x and y have one image size.
(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (c Int) (x Tensor) (y Tensor))
    (= (pool2d_avg k s p q c (ewadd x y))
         (ewadd (pool2d_avg k s p q c x) (pool2d_avg k s p q c y))))
  :named average-over-ewadd
  :ranks "x y 4"
  :source "linearity of the average"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (c Int) (x Tensor) (t Tensor))
    (= (pool2d_avg k s p q c (smul x t)) (smul (pool2d_avg k s p q c x) t)))
  :named average-of-smul
  :ranks "x 4, t 0"
  :source "linearity of the average"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (c Int) (x Tensor) (y Tensor))
    (= (pool2d_avg k s p q c (concat 0 x y))
         (concat 0 (pool2d_avg k s p q c x) (pool2d_avg k s p q c y))))
  :named average-of-concat-0
  :ranks "x y 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor) (y Tensor))
    (= (pool2d_max k s p q (concat 0 x y))
         (concat 0 (pool2d_max k s p q x) (pool2d_max k s p q y))))
  :named maximum-of-concat-0
  :ranks "x y 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (c Int) (t Sizes) (x Tensor))
    (= (pool2d_avg k s p q c (split.0 0 t x)) (split.0 0 t (pool2d_avg k s p q c x))))
  :named average-of-split-first-0
  :ranks "x 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (t Sizes) (x Tensor))
    (= (pool2d_max k s p q (split.0 0 t x)) (split.0 0 t (pool2d_max k s p q x))))
  :named maximum-of-split-first-0
  :ranks "x 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (c Int) (t Sizes) (x Tensor))
    (= (pool2d_avg k s p q c (split.1 0 t x)) (split.1 0 t (pool2d_avg k s p q c x))))
  :named average-of-split-second-0
  :ranks "x 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (t Sizes) (x Tensor))
    (= (pool2d_max k s p q (split.1 0 t x)) (split.1 0 t (pool2d_max k s p q x))))
  :named maximum-of-split-second-0
  :ranks "x 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (c Int) (x Tensor) (y Tensor))
    (= (pool2d_avg k s p q c (concat 1 x y))
         (concat 1 (pool2d_avg k s p q c x) (pool2d_avg k s p q c y))))
  :named average-of-concat-1
  :ranks "x y 4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor) (y Tensor))
    (= (pool2d_max k s p q (concat 1 x y))
         (concat 1 (pool2d_max k s p q x) (pool2d_max k s p q y))))
  :named maximum-of-concat-1
  :ranks "x y 4"
  :source "Jia et al., TASO, SOSP 2019, table 3"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (c Int) (t Sizes) (x Tensor))
    (= (pool2d_avg k s p q c (split.0 1 t x)) (split.0 1 t (pool2d_avg k s p q c x))))
  :named average-of-split-first-1
  :ranks "x 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (t Sizes) (x Tensor))
    (= (pool2d_max k s p q (split.0 1 t x)) (split.0 1 t (pool2d_max k s p q x))))
  :named maximum-of-split-first-1
  :ranks "x 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (c Int) (t Sizes) (x Tensor))
    (= (pool2d_avg k s p q c (split.1 1 t x)) (split.1 1 t (pool2d_avg k s p q c x))))
  :named average-of-split-second-1
  :ranks "x 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (t Sizes) (x Tensor))
    (= (pool2d_max k s p q (split.1 1 t x)) (split.1 1 t (pool2d_max k s p q x))))
  :named maximum-of-split-second-1
  :ranks "x 4"
  :source "image by image"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (ewadd x x))
         (ewadd (pool2d_max k s p q x) (pool2d_max k s p q x))))
  :named maximum-of-double
  :ranks "x 4"
  :source "doubling keeps order"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (ewadd x (ewadd x x)))
         (ewadd (pool2d_max k s p q x) (ewadd (pool2d_max k s p q x) (pool2d_max k s p q x)))))
  :named maximum-of-triple
  :ranks "x 4"
  :source "tripling keeps order"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (ewmul x (ewmul x x)))
         (ewmul (pool2d_max k s p q x) (ewmul (pool2d_max k s p q x) (pool2d_max k s p q x)))))
  :named maximum-of-cube
  :ranks "x 4"
  :source "cubing keeps order"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (ewmul (ewmul x x) (ewmul x x)))
         (ewmul (pool2d_max k s p q (ewmul x x)) (pool2d_max k s p q (ewmul x x)))))
  :named maximum-of-fourth-power
  :ranks "x 4"
  :source "squaring keeps the order of numbers >= 0"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (ewmul (relu x) (relu x)))
         (ewmul (pool2d_max k s p q (relu x)) (pool2d_max k s p q (relu x)))))
  :named maximum-of-square-of-relu
  :ranks "x 4"
  :needs "real-relu"
  :source "squaring keeps the order of numbers >= 0"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (ewadd x (relu x)))
         (ewadd (pool2d_max k s p q x) (relu (pool2d_max k s p q x)))))
  :named maximum-of-sum-with-own-relu
  :ranks "x 4"
  :needs "real-relu"
  :source "x + max(x, 0) grows with x"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (pool2d_max k s p q (ewmul x (relu x)))
         (ewmul (pool2d_max k s p q x) (relu (pool2d_max k s p q x)))))
  :named maximum-of-product-with-own-relu
  :ranks "x 4"
  :needs "real-relu"
  :source "x max(x, 0) grows with x"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor) (t Tensor))
    (= (pool2d_max k s p q (smul x (ewmul t t))) (smul (pool2d_max k s p q x) (ewmul t t))))
  :named maximum-of-square-multiple
  :ranks "x 4, t 0"
  :source "multiplying by a number >= 0 keeps order"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor) (t Tensor))
    (= (pool2d_max k s p q (smul x (relu t))) (smul (pool2d_max k s p q x) (relu t))))
  :named maximum-of-relu-multiple
  :ranks "x 4, t 0"
  :needs "real-relu"
  :source "multiplying by a number >= 0 keeps order"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (x Tensor))
    (= (relu (pool2d_max k s p q x)) (pool2d_max k s p q (relu x))))
  :named relu-of-maximum
  :ranks "x 4"
  :needs "real-relu"
  :source "max(x, 0) keeps order"))

(assert (! (forall ((k Sizes) (s Sizes) (p Int) (q Sizes) (c Int) (x Tensor))
    (= (relu (pool2d_avg k s p q c (relu x))) (pool2d_avg k s p q c (relu x))))
  :named relu-of-average-of-relu
  :ranks "x 4"
  :needs "real-relu"
  :source "an average of numbers >= 0 is >= 0"))

; The window around a position contains it, under padding same and stride 1.
(assert (! (forall ((k Sizes) (q Sizes) (x Tensor))
    (= (ewmul (relu x) (pool2d_max k (sizes2 1 1) padding.same q x))
         (ewmul (relu x) (pool2d_max k (sizes2 1 1) padding.same q (relu x)))))
  :named product-of-relu-and-maximum
  :ranks "x 4"
  :needs "real-relu"
  :source "where x > 0 the greatest around it is > 0, elsewhere both sides are 0"))

; --- constant weights ---

(assert (! (forall ((q Sizes) (g Int) (x Tensor) (a Int) (b Int) (m Int) (n Int))
    (= (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) g activation.none x (constant_conv (sizes4 a b m n)))
         x))
  :named convolution-with-identity
  :ranks "x 4"
  :source "Jia et al., TASO, SOSP 2019, table 3, with constant Iconv"))

(assert (! (forall ((g Int) (h Int) (a Int) (b Int) (m Int) (n Int))
    (= (enlarge (sizes2 g h) (constant_conv (sizes4 a b m n)))
         (constant_conv (sizes4 a b g h))))
  :named enlarge-of-identity
  :domain "g any 1 2 3; h any 1 2 3"
  :source "centre on centre"))

(assert (! (forall ((a Int) (b Int) (m Int) (n Int))
    (= (ewmul (constant_conv (sizes4 a b m n)) (constant_conv (sizes4 a b m n)))
         (constant_conv (sizes4 a b m n))))
  :named square-of-identity-weight
  :source "0 and 1 are their own squares"))

(assert (! (forall ((k Sizes) (q Sizes) (a Int) (b Int) (m Int) (n Int))
    (= (pool2d_max k (sizes2 1 1) padding.same q (constant_pool (sizes4 a b m n)))
         (constant_pool (sizes4 a b m n))))
  :named maximum-of-constant_pool
  :source "each image has one value"))

(assert (! (forall ((k Sizes) (q Sizes) (a Int) (b Int) (m Int) (n Int))
    (= (pool2d_max k (sizes2 1 1) padding.same q (constant_one (sizes4 a b m n)))
         (constant_one (sizes4 a b m n))))
  :named maximum-of-constant_one
  :source "each image has one value"))

(assert (! (forall ((a Int) (b Int) (m Int) (n Int))
    (= (relu (constant_pool (sizes4 a b m n))) (constant_pool (sizes4 a b m n))))
  :named relu-of-constant_pool
  :needs "real-relu"
  :source "no element is negative"))

(assert (! (forall ((a Int) (b Int) (m Int) (n Int))
    (= (relu (constant_conv (sizes4 a b m n))) (constant_conv (sizes4 a b m n))))
  :named relu-of-constant_conv
  :needs "real-relu"
  :source "no element is negative"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (x Tensor) (w Tensor))
    (= (relu (conv2d s p q d g activation.none (relu x) (relu w)))
         (conv2d s p q d g activation.none (relu x) (relu w))))
  :named relu-of-conv-of-relus
  :ranks "x w 4"
  :needs "real-relu"
  :source "a sum of products of numbers >= 0 is >= 0"))

; Odd kernels only: the window of an even one does not reach the centre from every position.
(assert (! (forall ((a Int) (b Int) (m Int) (n Int))
    (= (pool2d_avg (sizes2 m n) (sizes2 1 1) padding.same (sizes4 0 0 0 0) count_include_pad.yes (constant_conv (sizes4 a b m n)))
         (constant_pool (sizes4 a b m n))))
  :named average-of-identity-weight
  :condition "2 | m + 1; 2 | n + 1"
  :domain "m any 1 2 3 5; n any 1 2 3 5"
  :source "Jia et al., TASO, SOSP 2019, table 3, there without odd kernels"))
