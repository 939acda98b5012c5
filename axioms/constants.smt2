; Constants in places where data stands: kernels of ones, averages and identities convolved, pooled and added like images.
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
(define-fun activation.none () Int 0)
(define-fun activation.relu () Int 1)
(define-fun count_include_pad.yes () Int 0)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun smul (Tensor Tensor) Tensor)
(declare-fun relu (Tensor) Tensor)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)  ; strides padding pads dilations groups activation x w
(declare-fun pool2d_max (Sizes Sizes Int Sizes Tensor) Tensor)  ; kernel strides padding pads x
(declare-fun pool2d_avg (Sizes Sizes Int Sizes Int Tensor) Tensor)  ; kernel strides padding pads count_include_pad x
(declare-fun enlarge (Sizes Tensor) Tensor)
(declare-fun constant_pool (Sizes) Tensor)
(declare-fun constant_conv (Sizes) Tensor)
(declare-fun constant_one (Sizes) Tensor)

; --- the identity kernel as an image: one element that is not 0, in one channel ---

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (a Int) (b Int) (m Int) (n Int) (w Tensor))
    (= (conv2d s p q d g activation.none (constant_conv (sizes4 a b m n)) (relu w))
         (relu (conv2d s p q d g activation.none (constant_conv (sizes4 a b m n)) w))))
  :named conv-of-identity-image-and-relu
  :ranks "w 4"
  :needs "real-relu"
  :source "each output is one element of the kernel, or 0"))

; Twice: the kernel is turned round, and its channels exchanged, both times.
(assert (! (forall ((q Sizes) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none (constant_conv (sizes4 (dim 0 w) (dim 0 w) 3 3))
         (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none (constant_conv (sizes4 (dim 0 w) (dim 0 w) 3 3)) w))
       (enlarge (sizes2 3 3) w)))
  :named conv-of-identity-images
  :ranks "w 4"
  :domain "w.2 any 1 2 3; w.3 any 1 2 3"
  :source "turned round twice, a kernel is as it was"))

(assert (! (forall ((q Sizes) (w Tensor))
    (= (ewmul (constant_conv (sizes4 (dim 0 w) (dim 0 w) (dim 2 w) (dim 3 w)))
              (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none
                      (constant_conv (sizes4 (dim 0 w) (dim 0 w) (dim 2 w) (dim 3 w))) w))
       (ewmul w (constant_conv (sizes4 (dim 0 w) (dim 0 w) (dim 2 w) (dim 3 w))))))
  :named centre-of-conv-of-identity-image
  :ranks "w 4"
  :source "the centre of each kernel stays where it was"))

(assert (! (forall ((q Sizes) (w Tensor))
    (= (ewmul (constant_conv (sizes4 (dim 0 w) (dim 0 w) 3 3))
              (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none (constant_conv (sizes4 (dim 0 w) (dim 0 w) 3 3)) w))
       (ewmul (constant_conv (sizes4 (dim 0 w) (dim 0 w) 3 3)) (enlarge (sizes2 3 3) w))))
  :named centre-of-conv-of-larger-identity-image
  :ranks "w 4"
  :domain "w.2 any 1 2 3; w.3 any 1 2 3"
  :source "the centre of each kernel comes to the centre"))

(assert (! (forall ((q Sizes) (x Tensor) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none
               (ewmul x (constant_conv (sizes4 (dim 0 x) (dim 0 x) (dim 2 x) (dim 3 x))))
               (ewmul w (constant_conv (sizes4 (dim 0 w) (dim 0 w) (dim 2 w) (dim 3 w)))))
       (ewmul (ewmul x w) (constant_conv (sizes4 (dim 0 w) (dim 0 w) (dim 2 w) (dim 3 w))))))
  :named conv-of-centres
  :ranks "x w 4"
  :source "one element of each channel is not 0, in the image and in the kernel"))

(assert (! (forall ((q Sizes) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none
               (constant_conv (sizes4 (dim 0 w) (dim 0 w) (dim 2 w) (dim 3 w)))
               (ewmul w (constant_conv (sizes4 (dim 0 w) (dim 0 w) (dim 2 w) (dim 3 w)))))
       (ewmul w (constant_conv (sizes4 (dim 0 w) (dim 0 w) (dim 2 w) (dim 3 w))))))
  :named conv-of-identity-image-with-centre
  :ranks "w 4"
  :source "conv-of-centres, with ones for x"))

(assert (! (forall ((q Sizes) (g Int) (a Int) (b Int) (c Int) (h Int) (l Int) (m Int) (n Int) (o Int))
    (= (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) g activation.none (constant_one (sizes4 a b h l)) (constant_conv (sizes4 c o m n)))
       (constant_one (sizes4 a c h l))))
  :named conv-of-constant_one-with-identity-weight
  :source "each output is one element of the image"))

; --- the identity kernel as a weight, for any number of output channels: each copies one input channel, or is 0 ---

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (g Int) (a Int) (b Int) (m Int) (n Int) (x Tensor))
    (= (conv2d s p q d g activation.none (relu x) (constant_conv (sizes4 a b m n)))
         (relu (conv2d s p q d g activation.none x (constant_conv (sizes4 a b m n))))))
  :named conv-with-identity-weight-and-relu
  :ranks "x 4"
  :needs "real-relu"
  :source "each output is one element of the image, or 0"))

(assert (! (forall ((s Sizes) (p Int) (r Sizes) (q Sizes) (g Int) (a Int) (b Int) (k Int) (l Int) (m Int) (n Int) (x Tensor))
    (= (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) g activation.none
               (pool2d_avg (sizes2 m n) s p r count_include_pad.yes x) (constant_conv (sizes4 a b k l)))
       (conv2d s p r (sizes2 1 1) g activation.none x (constant_pool (sizes4 a b m n)))))
  :named identity-weight-on-average
  :ranks "x 4"
  :domain "m any 1 3; n any 1 3; k any 1 3; l any 1 3; a any 1 2 3 4; b any 1 2"
  :source "the average of each channel, copied"))

(assert (! (forall ((s Sizes) (p Int) (r Sizes) (q Sizes) (g Int) (a Int) (b Int) (k Int) (l Int) (m Int) (n Int) (x Tensor))
    (= (pool2d_avg (sizes2 m n) s p r count_include_pad.yes
         (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) g activation.none x (constant_conv (sizes4 a b k l))))
       (conv2d s p r (sizes2 1 1) g activation.none x (constant_pool (sizes4 a b m n)))))
  :named average-of-identity-weight-on-image
  :ranks "x 4"
  :domain "m any 1 3; n any 1 3; k any 1 3; l any 1 3; a any 1 2 3 4; b any 1 2"
  :source "each channel copied, and averaged"))

; --- maxima ---

(assert (! (forall ((k Sizes) (q Sizes) (a Int) (b Int) (m Int) (n Int))
    (= (ewmul (constant_conv (sizes4 a b m n)) (pool2d_max k (sizes2 1 1) padding.same q (constant_conv (sizes4 a b m n))))
       (constant_conv (sizes4 a b m n))))
  :named centre-of-maximum-of-identity-weight
  :source "a window holds the place that it is around"))

(assert (! (forall ((q Sizes) (r Sizes) (a Int))
    (= (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none (constant_conv (sizes4 a a 3 3))
               (pool2d_max (sizes2 3 3) (sizes2 1 1) padding.same r (constant_conv (sizes4 a a 3 3))))
       (pool2d_max (sizes2 3 3) (sizes2 1 1) padding.same r (constant_conv (sizes4 a a 3 3)))))
  :named conv-of-identity-image-with-its-maximum
  :source "every window of 3 x 3 in an image of 3 x 3 holds the centre, so the maximum is the same turned round"))

(assert (! (forall ((r Sizes) (a Int) (b Int))
    (= (pool2d_max (sizes2 3 3) (sizes2 1 1) padding.same r
         (pool2d_max (sizes2 3 3) (sizes2 1 1) padding.same r (constant_conv (sizes4 a b 3 3))))
       (pool2d_max (sizes2 3 3) (sizes2 1 1) padding.same r (constant_conv (sizes4 a b 3 3)))))
  :named maximum-of-maximum-of-identity-weight
  :source "every window of 3 x 3 in an image of 3 x 3 holds the centre, so that each channel has one value"))

(assert (! (forall ((k Sizes) (q Sizes) (a Int) (b Int) (m Int) (n Int) (t Tensor))
    (= (pool2d_max k (sizes2 1 1) padding.same q (smul (constant_one (sizes4 a b m n)) t))
       (smul (constant_one (sizes4 a b m n)) t)))
  :named maximum-of-multiple-of-constant_one
  :ranks "t 0"
  :source "each channel has one value"))

(assert (! (forall ((k Sizes) (q Sizes) (a Int) (b Int) (m Int) (n Int) (t Tensor))
    (= (pool2d_max k (sizes2 1 1) padding.same q (smul (constant_pool (sizes4 a b m n)) t))
       (smul (constant_pool (sizes4 a b m n)) t)))
  :named maximum-of-multiple-of-constant_pool
  :ranks "t 0"
  :source "each channel has one value"))

(assert (! (forall ((k Sizes) (q Sizes) (x Tensor))
    (= (pool2d_max k (sizes2 1 1) padding.same q (ewadd x (constant_one (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x)))))
       (ewadd (pool2d_max k (sizes2 1 1) padding.same q x) (constant_one (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x))))))
  :named maximum-of-sum-with-constant_one
  :ranks "x 4"
  :source "adding one number to a channel keeps order"))

(assert (! (forall ((k Sizes) (q Sizes) (x Tensor))
    (= (pool2d_max k (sizes2 1 1) padding.same q (ewadd x (constant_pool (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x)))))
       (ewadd (pool2d_max k (sizes2 1 1) padding.same q x) (constant_pool (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x))))))
  :named maximum-of-sum-with-constant_pool
  :ranks "x 4"
  :source "adding one number to a channel keeps order"))

(assert (! (forall ((k Sizes) (q Sizes) (x Tensor))
    (= (pool2d_max k (sizes2 1 1) padding.same q (ewmul x (constant_pool (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x)))))
       (ewmul (pool2d_max k (sizes2 1 1) padding.same q x) (constant_pool (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x))))))
  :named maximum-of-product-with-constant_pool
  :ranks "x 4"
  :source "multiplying a channel by one number >= 0 keeps order"))

; --- averages ---

(assert (! (forall ((k Sizes) (q Sizes) (x Tensor))
    (= (pool2d_avg k (sizes2 1 1) padding.same q count_include_pad.yes
                   (ewmul x (constant_pool (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x)))))
       (ewmul (pool2d_avg k (sizes2 1 1) padding.same q count_include_pad.yes x)
              (constant_pool (sizes4 (dim 0 x) (dim 1 x) (dim 2 x) (dim 3 x))))))
  :named average-of-product-with-constant_pool
  :ranks "x 4"
  :source "each channel is multiplied by one number"))

(assert (! (forall ((q Sizes) (r Sizes) (a Int) (b Int) (m Int) (n Int))
    (= (pool2d_max (sizes2 3 3) (sizes2 1 1) padding.same q
         (pool2d_avg (sizes2 3 3) (sizes2 1 1) padding.same r count_include_pad.yes (constant_one (sizes4 a b m n))))
       (constant_one (sizes4 a b m n))))
  :named maximum-of-average-of-constant_one
  :condition "m >= 3; n >= 3"
  :domain "m any 3 4 5; n any 3 4 5"
  :source "every window holds a place that is not at the border, where the average is that of ones alone"))

(assert (! (forall ((q Sizes) (r Sizes) (a Int) (b Int) (m Int) (n Int))
    (= (pool2d_max (sizes2 3 3) (sizes2 1 1) padding.same q
         (pool2d_avg (sizes2 3 3) (sizes2 1 1) padding.same r count_include_pad.yes (constant_pool (sizes4 a b m n))))
       (constant_pool (sizes4 a b m n))))
  :named maximum-of-average-of-constant_pool
  :condition "m >= 3; n >= 3"
  :domain "m any 3 4 5; n any 3 4 5"
  :source "every window holds a place that is not at the border, where the average is that of equal numbers alone"))

(assert (! (forall ((q Sizes) (r Sizes) (x Tensor) (a Int))
    (= (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none
               (pool2d_avg (sizes2 3 3) (sizes2 1 1) padding.same r count_include_pad.yes x) (constant_pool (sizes4 a 1 3 3)))
       (pool2d_avg (sizes2 3 3) (sizes2 1 1) padding.same r count_include_pad.yes
         (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none x (constant_pool (sizes4 a 1 3 3))))))
  :named average-of-averages-of-one-channel
  :ranks "x 4"
  :source "either is the average of the average, in each of a channels"))

(assert (! (forall ((q Sizes) (r Sizes) (a Int) (b Int))
    (= (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none (constant_pool (sizes4 a 1 3 3))
               (pool2d_avg (sizes2 3 3) (sizes2 1 1) padding.same r count_include_pad.yes (constant_pool (sizes4 b 1 3 3))))
       (conv2d (sizes2 1 1) padding.same q (sizes2 1 1) 1 activation.none
               (pool2d_avg (sizes2 3 3) (sizes2 1 1) padding.same r count_include_pad.yes (constant_pool (sizes4 a 1 3 3)))
               (constant_pool (sizes4 b 1 3 3)))))
  :named conv-of-constant_pool-and-its-average
  :source "images of 3 x 3 that are the same turned round: what is averaged may be the image or the kernel"))
