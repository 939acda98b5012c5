; Two convolutions in a row, one of them of kernel 1 x 1: one convolution whose weight is computed from both.
; README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(set-info :padding-same "floor((k-1)/2) before, ceil((k-1)/2) after, at every stride")
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(define-fun padding.same () Int 0)
(define-fun activation.none () Int 0)
(declare-fun transpose (Sizes Tensor) Tensor)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)

; The weight w is taken as images: one for each output channel, with the inner channels as its channels. groups = 1 only.
; u must be 1 x 1: under padding a larger inner kernel has made values where the outer one reads zeros.
(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (x Tensor) (u Tensor) (w Tensor))
    (= (conv2d s p q d 1 activation.none (conv2d (sizes2 1 1) padding.same (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x u) w)
       (conv2d s p q d 1 activation.none x (conv2d (sizes2 1 1) padding.same (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none w (transpose (sizes4 1 0 2 3) u)))))
  :named conv-of-pointwise-conv
  :ranks "x u w 4"
  :condition "u.2 = 1; u.3 = 1"
  :domain "u.2 any 1; u.3 any 1"
  :source "Ding et al., Diverse Branch Block, CVPR 2021, transform III; a product of matrices at each tap"))

(assert (! (forall ((s Sizes) (p Int) (q Sizes) (d Sizes) (x Tensor) (u Tensor) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.same (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none (conv2d s p q d 1 activation.none x w) u)
       (conv2d s p q d 1 activation.none x (transpose (sizes4 1 0 2 3) (conv2d (sizes2 1 1) padding.same (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none (transpose (sizes4 1 0 2 3) w) u)))))
  :named pointwise-conv-of-conv
  :ranks "x u w 4"
  :condition "u.2 = 1; u.3 = 1"
  :domain "u.2 any 1; u.3 any 1"
  :source "Ding et al., Diverse Branch Block, CVPR 2021, transform III; a product of matrices at each tap"))
