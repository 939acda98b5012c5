; Algorithms: other ways to compute an operator. Images are [N, C, H, W], weights [O, C, KH, KW].
; README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes0 () Sizes)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun dim (Int Tensor) Int)
(define-fun padding.same () Int 0)
(define-fun padding.valid () Int 1)
(define-fun activation.none () Int 0)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)  ; strides padding pads dilations groups activation x w
(declare-fun broadcast_matmul (Sizes Sizes Tensor Tensor) Tensor)  ; stretch_left stretch_right a b
(declare-fun pad (Sizes Sizes Real Tensor) Tensor)  ; before after value x
(declare-fun slice (Sizes Sizes Sizes Sizes Tensor) Tensor)  ; axes starts sizes steps x
(declare-fun im2col (Sizes Sizes Sizes Tensor) Tensor)  ; kernel strides dilations x
(declare-fun im2col_matmul (Tensor Tensor) Tensor)  ; v w
(declare-fun winograd_input (Int Tensor) Tensor)  ; outputs x
(declare-fun winograd_weight (Int Tensor) Tensor)  ; outputs w
(declare-fun winograd_output (Int Tensor) Tensor)  ; outputs z

; --- a convolution by tiles of 2 x 2, and of 4 x 4, outputs ---
; Which zeros are around the image, and which outputs of the last tiles are left out, is said by pad and slice.

(assert (! (forall ((x Tensor) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.valid (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x w)
       (winograd_output 2 (broadcast_matmul sizes0 (sizes2 2 3) (winograd_input 2 x) (winograd_weight 2 w)))))
  :named conv-by-winograd-2
  :ranks "x w 4"
  :domain "w.2 3; w.3 3"
  :source "Winograd 1980; Lavin & Gray, CVPR 2016, section 4.1"))

(assert (! (forall ((x Tensor) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.valid (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x w)
       (winograd_output 4 (broadcast_matmul sizes0 (sizes2 2 3) (winograd_input 4 x) (winograd_weight 4 w)))))
  :named conv-by-winograd-4
  :ranks "x w 4"
  :domain "w.2 3; w.3 3"
  :source "Winograd 1980; Lavin & Gray, CVPR 2016, section 4.2"))

; Zeros around the image are a pad of it.
(assert (! (forall ((x Tensor) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.same (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x w)
       (conv2d (sizes2 1 1) padding.valid (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none (pad (sizes4 0 0 1 1) (sizes4 0 0 1 1) 0.0 x) w)))
  :named conv-same-of-3-by-3
  :ranks "x w 4"
  :domain "w.2 3; w.3 3"
  :source "definition"))

; More zeros behind the image give more outputs behind the others.
(assert (! (forall ((i Int) (j Int) (x Tensor) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.valid (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x w)
       (slice (sizes2 2 3) (sizes2 0 0) (sizes2 (+ (dim 2 x) (- 2)) (+ (dim 3 x) (- 2))) (sizes2 1 1)
         (conv2d (sizes2 1 1) padding.valid (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none (pad (sizes4 0 0 0 0) (sizes4 0 0 i j) 0.0 x) w))))
  :named conv-of-image-with-more-behind
  :ranks "x w 4"
  :domain "w.2 3; w.3 3; i 0..3; j 0..3"
  :source "definition"))

; --- a convolution as one product of matrices ---

(assert (! (forall ((x Tensor) (w Tensor))
    (= (conv2d (sizes2 1 1) padding.valid (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x w)
       (im2col_matmul (im2col (sizes2 (dim 2 w) (dim 3 w)) (sizes2 1 1) (sizes2 1 1) x) w)))
  :named conv-by-im2col
  :ranks "x w 4"
  :source "Chellapilla, Puri & Simard 2006"))

(assert (! (forall ((x Tensor) (w Tensor))
    (= (conv2d (sizes2 2 2) padding.valid (sizes4 0 0 0 0) (sizes2 1 1) 1 activation.none x w)
       (im2col_matmul (im2col (sizes2 (dim 2 w) (dim 3 w)) (sizes2 2 2) (sizes2 1 1) x) w)))
  :named strided-conv-by-im2col
  :ranks "x w 4"
  :source "Chellapilla, Puri & Simard 2006"))
