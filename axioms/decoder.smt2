; Transposed convolution and group normalisation. Images are [N, C, H, W], weights [C, O, KH, KW] with O channels a group.
; README.md says how operators and their parameters are written.
(set-logic UFNIRA)
(declare-sort Tensor 0)
(declare-sort Sizes 0)
(declare-fun ewadd (Tensor Tensor) Tensor)
(declare-fun smul (Tensor Tensor) Tensor)
(declare-fun neg (Tensor) Tensor)
(declare-fun concat (Int Tensor Tensor) Tensor)
(declare-fun bias_add (Int Tensor Tensor) Tensor)
(declare-fun conv_transpose2d (Sizes Sizes Sizes Sizes Int Tensor Tensor) Tensor)  ; strides pads dilations extra groups x w
(declare-fun group_norm (Int Real Tensor Tensor Tensor) Tensor)  ; groups epsilon x scale bias

; --- transposed convolution: linear in both operands, with every stride, padding, dilation and number of groups ---

(assert (! (forall ((s Sizes) (p Sizes) (d Sizes) (e Sizes) (g Int) (x Tensor) (y Tensor) (w Tensor))
    (= (conv_transpose2d s p d e g (ewadd x y) w)
       (ewadd (conv_transpose2d s p d e g x w) (conv_transpose2d s p d e g y w))))
  :named conv-transpose-over-data-ewadd
  :ranks "x y w 4"
  :source "linearity: Dumoulin & Visin, arXiv:1603.07285, section 4"))

(assert (! (forall ((s Sizes) (p Sizes) (d Sizes) (e Sizes) (g Int) (x Tensor) (y Tensor) (z Tensor))
    (= (conv_transpose2d s p d e g x (ewadd y z))
       (ewadd (conv_transpose2d s p d e g x y) (conv_transpose2d s p d e g x z))))
  :named conv-transpose-over-weight-ewadd
  :ranks "x y z 4"
  :source "linearity: Dumoulin & Visin, arXiv:1603.07285, section 4"))

(assert (! (forall ((s Sizes) (p Sizes) (d Sizes) (e Sizes) (g Int) (x Tensor) (t Tensor) (w Tensor))
    (= (conv_transpose2d s p d e g (smul x t) w) (smul (conv_transpose2d s p d e g x w) t)))
  :named conv-transpose-of-data-smul
  :ranks "x w 4, t 0"
  :source "linearity: Dumoulin & Visin, arXiv:1603.07285, section 4"))

(assert (! (forall ((s Sizes) (p Sizes) (d Sizes) (e Sizes) (g Int) (x Tensor) (t Tensor) (w Tensor))
    (= (conv_transpose2d s p d e g x (smul w t)) (smul (conv_transpose2d s p d e g x w) t)))
  :named conv-transpose-of-weight-smul
  :ranks "x w 4, t 0"
  :source "linearity: Dumoulin & Visin, arXiv:1603.07285, section 4"))

(assert (! (forall ((s Sizes) (p Sizes) (d Sizes) (e Sizes) (g Int) (x Tensor) (y Tensor) (w Tensor))
    (= (conv_transpose2d s p d e g (concat 0 x y) w)
       (concat 0 (conv_transpose2d s p d e g x w) (conv_transpose2d s p d e g y w))))
  :named conv-transpose-of-batch-concat
  :ranks "x y w 4"
  :source "image by image"))

; groups = 1 only: with 2, the channels of y and z alternate.
(assert (! (forall ((s Sizes) (p Sizes) (d Sizes) (e Sizes) (x Tensor) (y Tensor) (z Tensor))
    (= (conv_transpose2d s p d e 1 x (concat 1 y z))
       (concat 1 (conv_transpose2d s p d e 1 x y) (conv_transpose2d s p d e 1 x z))))
  :named conv-transpose-of-weight-concat
  :ranks "x y z 4"
  :source "channel by channel"))

; Left to right only where the cuts meet: x.1 = z.0.
(assert (! (forall ((s Sizes) (p Sizes) (d Sizes) (e Sizes) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (conv_transpose2d s p d e 1 (concat 1 x y) (concat 0 z w))
       (ewadd (conv_transpose2d s p d e 1 x z) (conv_transpose2d s p d e 1 y w))))
  :named conv-transpose-of-channel-concats
  :ranks "x y z w 4"
  :source "a sum over channels in two parts"))

(assert (! (forall ((s Sizes) (p Sizes) (d Sizes) (e Sizes) (g Int) (h Int) (x Tensor) (y Tensor) (z Tensor) (w Tensor))
    (= (conv_transpose2d s p d e (+ g h) (concat 1 x y) (concat 0 z w))
       (concat 1 (conv_transpose2d s p d e g x z) (conv_transpose2d s p d e h y w))))
  :named conv-transpose-grouped
  :ranks "x y z w 4"
  :condition "h*z.0 = g*w.0; x.1 = z.0"
  :source "definition of groups: Krizhevsky et al., NIPS 2012, section 3.5"))

; --- group normalisation ---

(assert (! (forall ((g Int) (e Real) (x Tensor) (y Tensor) (s Tensor) (b Tensor))
    (= (group_norm g e (concat 0 x y) s b) (concat 0 (group_norm g e x s b) (group_norm g e y s b))))
  :named group-norm-of-batch-concat
  :ranks "x y 3..4, s b 1"
  :domain "e any 0.00001 0.5"
  :source "image by image"))

(assert (! (forall ((g Int) (h Int) (e Real) (x Tensor) (y Tensor) (s Tensor) (t Tensor) (b Tensor) (c Tensor))
    (= (group_norm (+ g h) e (concat 1 x y) (concat 0 s t) (concat 0 b c))
       (concat 1 (group_norm g e x s b) (group_norm h e y t c))))
  :named group-norm-of-channel-concat
  :ranks "x y 3..4, s b t c 1"
  :condition "h*x.1 = g*y.1; x.1 = s.0; x.1 = b.0"
  :domain "e any 0.00001 0.5"
  :source "group by group"))

(assert (! (forall ((g Int) (e Real) (x Tensor) (s Tensor) (b Tensor) (c Tensor))
    (= (group_norm g e x s (ewadd b c)) (bias_add 1 (group_norm g e x s b) c)))
  :named bias-of-group-norm
  :ranks "x 3..4, s b c 1"
  :domain "e any 0.00001 0.5"
  :source "the bias is added last"))

; No other factor of x passes: epsilon does not grow with it.
(assert (! (forall ((g Int) (e Real) (x Tensor) (s Tensor) (b Tensor))
    (= (group_norm g e (neg x) s b) (group_norm g e x (neg s) b)))
  :named group-norm-of-neg
  :ranks "x 3..4, s b 1"
  :domain "e any 0.00001 0.5"
  :source "the variance does not see a sign"))
