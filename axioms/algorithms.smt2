; Algorithms: other ways to compute an operator. Images are [N, C, H, W], weights [O, C, KH, KW].
; README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun sizes0 () Sizes)
(declare-fun sizes1 (Int) Sizes)
(declare-fun sizes2 (Int Int) Sizes)
(declare-fun sizes4 (Int Int Int Int) Sizes)
(declare-fun dim (Int Tensor) Int)
(define-fun padding.same () Int 0)
(define-fun padding.valid () Int 1)
(define-fun activation.none () Int 0)
(declare-fun conv2d (Sizes Int Sizes Sizes Int Int Tensor Tensor) Tensor)  ; strides padding pads dilations groups activation x w
(define-fun keepdims.yes () Int 1)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun ewmul (Tensor Tensor) Tensor)
(declare-fun exp (Tensor) Tensor)
(declare-fun softmax (Int Tensor) Tensor)
(declare-fun reduce_sum (Sizes Int Tensor) Tensor)
(declare-fun broadcast_sub (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_mul (Sizes Sizes Tensor Tensor) Tensor)
(declare-fun broadcast_div (Sizes Sizes Tensor Tensor) Tensor)
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

; --- attention by tiles of keys ---
; x are scores of queries, u the values of their keys; c and e are one number for each query: the greatest score so far,
; so that no exponential is above 1. Axes in front are heads, and images.

; The quotient waits until all values are added.
(assert (! (forall ((x Tensor) (u Tensor) (c Tensor))
    (= (broadcast_matmul sizes0 sizes0 (softmax 2 x) u)
       (broadcast_div sizes0 (sizes1 2)
         (broadcast_matmul sizes0 sizes0 (exp (broadcast_sub sizes0 (sizes1 2) x c)) u)
         (reduce_sum (sizes1 2) keepdims.yes (exp (broadcast_sub sizes0 (sizes1 2) x c))))))
  :named attention-with-late-quotient
  :ranks "x u c 3"
  :needs "real-functions"
  :source "Milakov & Gimelshein, Online normalizer calculation for softmax, 2018"))

(assert (! (forall ((x Tensor) (u Tensor) (c Tensor))
    (= (broadcast_matmul sizes0 sizes0 (softmax 3 x) u)
       (broadcast_div sizes0 (sizes1 3)
         (broadcast_matmul sizes0 sizes0 (exp (broadcast_sub sizes0 (sizes1 3) x c)) u)
         (reduce_sum (sizes1 3) keepdims.yes (exp (broadcast_sub sizes0 (sizes1 3) x c))))))
  :named attention-of-images-with-late-quotient
  :ranks "x u c 4"
  :needs "real-functions"
  :source "Milakov & Gimelshein, Online normalizer calculation for softmax, 2018"))

; What was added for one number is a multiple of what is added for another.
(assert (! (forall ((x Tensor) (u Tensor) (c Tensor) (e Tensor))
    (= (broadcast_matmul sizes0 sizes0 (exp (broadcast_sub sizes0 (sizes1 2) x e)) u)
       (broadcast_mul sizes0 (sizes1 2)
         (broadcast_matmul sizes0 sizes0 (exp (broadcast_sub sizes0 (sizes1 2) x c)) u)
         (exp (broadcast_sub sizes0 sizes0 c e)))))
  :named weighted-values-shifted
  :ranks "x u c e 3"
  :needs "real-functions"
  :source "e^(x - e) = e^(x - c) e^(c - e)"))

(assert (! (forall ((x Tensor) (u Tensor) (c Tensor) (e Tensor))
    (= (broadcast_matmul sizes0 sizes0 (exp (broadcast_sub sizes0 (sizes1 3) x e)) u)
       (broadcast_mul sizes0 (sizes1 3)
         (broadcast_matmul sizes0 sizes0 (exp (broadcast_sub sizes0 (sizes1 3) x c)) u)
         (exp (broadcast_sub sizes0 sizes0 c e)))))
  :named weighted-values-of-images-shifted
  :ranks "x u c e 4"
  :needs "real-functions"
  :source "e^(x - e) = e^(x - c) e^(c - e)"))

; Both, of two tiles: scores x and y, values u and v.
(assert (! (forall ((x Tensor) (y Tensor) (u Tensor) (v Tensor) (c Tensor) (e Tensor))
    (= (broadcast_matmul sizes0 sizes0 (softmax 2 (concat 2 x y)) (concat 1 u v))
       (broadcast_div sizes0 (sizes1 2)
         (ewadd
           (broadcast_mul sizes0 (sizes1 2)
             (broadcast_matmul sizes0 sizes0 (exp (broadcast_sub sizes0 (sizes1 2) x c)) u)
             (exp (broadcast_sub sizes0 sizes0 c e)))
           (broadcast_matmul sizes0 sizes0 (exp (broadcast_sub sizes0 (sizes1 2) y e)) v))
         (ewadd
           (ewmul
             (reduce_sum (sizes1 2) keepdims.yes (exp (broadcast_sub sizes0 (sizes1 2) x c)))
             (exp (broadcast_sub sizes0 sizes0 c e)))
           (reduce_sum (sizes1 2) keepdims.yes (exp (broadcast_sub sizes0 (sizes1 2) y e)))))))
  :named attention-by-tiles
  :ranks "x y u v c e 3"
  :needs "real-functions"
  :source "Dao et al., FlashAttention, NeurIPS 2022, section 3.1"))
