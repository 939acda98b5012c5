// Changes of operators that are more than an attribute that moved or came: one function for each way.
#pragma once

#include "onnx/opset_step.h"

namespace rewright::model::rewrites {

using Step = Status (*)(NodeProto& node, OpsetStep& step);

/// Axes count from the front: negative ones came with opset 11.
Status axes_from_front(NodeProto& node, OpsetStep& step);
/// Refuses a second output, such as a mask or indices, whose meaning or type changed.
Status first_output_only(NodeProto& node, OpsetStep& step);
Status refuse_scan_of_batches(NodeProto& node, OpsetStep& step);

// opset_rewrites_old.cpp: 8 to 12.
Status equal_shapes(NodeProto& node, OpsetStep& step);             // Sum, Mean, Max, Min 8 down
Status expand_by_product(NodeProto& node, OpsetStep& step);        // Expand 8 down
Status batch_norm_drop_spatial(NodeProto& node, OpsetStep& step);  // BatchNormalization 9 up
Status fill_by_tile(NodeProto& node, OpsetStep& step);             // ConstantOfShape 9 down
Status upsample_to_resize(NodeProto& node, OpsetStep& step);       // Upsample 10 up
Status resize_to_upsample(NodeProto& node, OpsetStep& step);       // Resize 10 down
Status slice_without_steps(NodeProto& node, OpsetStep& step);      // Slice 10 down
Status clip_by_max_min(NodeProto& node, OpsetStep& step);          // Clip 11 down
Status indices_from_front(NodeProto& node, OpsetStep& step);       // Gather 11 down
Status scatter_to_elements(NodeProto& node, OpsetStep& step);      // Scatter 11 up
Status elements_to_scatter(NodeProto& node, OpsetStep& step);      // ScatterElements 11 down
Status gemm_with_addend(NodeProto& node, OpsetStep& step);         // Gemm 11 down
Status resize_up_11(NodeProto& node, OpsetStep& step);
Status resize_down_11(NodeProto& node, OpsetStep& step);
Status constant_not_sparse(NodeProto& node, OpsetStep& step);  // Constant 11 down
Status constant_as_tensor(NodeProto& node, OpsetStep& step);   // Constant 12 down
Status dropout_down_12(NodeProto& node, OpsetStep& step);
Status pow_of_one_type(NodeProto& node, OpsetStep& step);   // Pow 12 down
Status compare_or_equal(NodeProto& node, OpsetStep& step);  // GreaterOrEqual, LessOrEqual 12 down
Status celu_by_elu(NodeProto& node, OpsetStep& step);       // Celu 12 down

// opset_rewrites_new.cpp: 13 to 24.
Status softmax_up_13(NodeProto& node, OpsetStep& step);
Status softmax_down_13(NodeProto& node, OpsetStep& step);
Status resize_up_13(NodeProto& node, OpsetStep& step);
Status resize_down_13(NodeProto& node, OpsetStep& step);
Status reduce_no_axes(NodeProto& node, OpsetStep& step);           // ReduceSum 13, others 18, down
Status scale_of_whole_tensor(NodeProto& node, OpsetStep& step);    // QuantizeLinear, DequantizeLinear 13 down
Status batch_norm_not_training(NodeProto& node, OpsetStep& step);  // BatchNormalization 14 up
Status reshape_down_14(NodeProto& node, OpsetStep& step);
Status hard_swish_by_sigmoid(NodeProto& node, OpsetStep& step);  // HardSwish 14 down
Status shape_by_slice(NodeProto& node, OpsetStep& step);         // Shape 15 down
Status roi_align_up_16(NodeProto& node, OpsetStep& step);
Status roi_align_down_16(NodeProto& node, OpsetStep& step);
Status layer_norm_by_means(NodeProto& node, OpsetStep& step);  // LayerNormalization 17 down
Status split_up_18(NodeProto& node, OpsetStep& step);
Status split_down_18(NodeProto& node, OpsetStep& step);
Status pad_all_axes(NodeProto& node, OpsetStep& step);      // Pad 18 down
Status resize_all_axes(NodeProto& node, OpsetStep& step);   // Resize 18 down
Status mish_by_softplus(NodeProto& node, OpsetStep& step);  // Mish 18 down
Status group_norm_down_18(NodeProto& node, OpsetStep& step);
Status grid_sample_up_20(NodeProto& node, OpsetStep& step);
Status grid_sample_down_20(NodeProto& node, OpsetStep& step);
Status dft_up_20(NodeProto& node, OpsetStep& step);
Status dft_down_20(NodeProto& node, OpsetStep& step);
Status gelu_by_erf(NodeProto& node, OpsetStep& step);  // Gelu 20 down
Status group_norm_up_21(NodeProto& node, OpsetStep& step);
Status group_norm_down_21(NodeProto& node, OpsetStep& step);
Status quantize_down_21(NodeProto& node, OpsetStep& step);
Status rms_norm_by_mean(NodeProto& node, OpsetStep& step);  // RMSNormalization 23 down
Status attention_down_24(NodeProto& node, OpsetStep& step);
Status swish_by_sigmoid(NodeProto& node, OpsetStep& step);  // Swish 24 down

}  // namespace rewright::model::rewrites
