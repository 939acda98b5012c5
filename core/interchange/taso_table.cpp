#include "interchange/taso_table.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace rewright::taso_format {
namespace {

Error cannot_say(std::string_view what) { return make_error(ErrorCode::kUnsupported, "{}", what); }

// --- strides and padding ---------------------------------------------------------------------------------------

constexpr ParamCodec kWindow = {
    [](ParamReader& reader) -> Status {
      REWRIGHT_TRY(const std::int64_t height, reader.params.get(kStrideH, 1, 1000, 1));
      REWRIGHT_TRY(const std::int64_t width, reader.params.get(kStrideW, 1, 1000, 1));
      REWRIGHT_TRY(const std::int64_t padding, reader.params.get(kPad, 0, 1, 0));
      reader.named.push_back({"strides", std::vector<std::int64_t>{height, width}});
      reader.named.push_back({"padding", std::string(kPaddings[static_cast<std::size_t>(padding)])});
      return {};
    },
    [](ParamWriter& writer) -> Status {
      const std::int64_t padding = writer.integer("padding");
      if (padding > 1) return cannot_say("explicit padding");
      writer.put(kStrideH, writer.integers("strides")[0]);
      writer.put(kStrideW, writer.integers("strides")[1]);
      writer.put(kPad, padding);
      return {};
    }};

constexpr ParamCodec kDilations = {  // TASO has none.
    [](ParamReader&) -> Status { return {}; },
    [](ParamWriter& writer) -> Status {
      if (writer.integers("dilations") != std::vector<std::int64_t>{1, 1}) return cannot_say("dilations");
      return {};
    }};

constexpr ParamCodec kPaddingCounts = {  // TASO's averages divide by the kernel's size.
    [](ParamReader&) -> Status { return {}; },
    [](ParamWriter& writer) -> Status {
      if (writer.integer("count_include_pad") != 0) return cannot_say("averages without the padding");
      return {};
    }};

// --- kernels ---------------------------------------------------------------------------------------------------

Result<std::vector<std::int64_t>> read_kernel(const Parameters& params) {
  REWRIGHT_TRY(const std::int64_t height, params.get(kKernelH, 1, 1000));
  REWRIGHT_TRY(const std::int64_t width, params.get(kKernelW, 1, 1000));
  return std::vector<std::int64_t>{height, width};
}

void put_kernel(ParamWriter& writer, std::int64_t height, std::int64_t width) {
  writer.put(kKernelH, height);
  writer.put(kKernelW, width);
}

constexpr ParamCodec kKernel = {[](ParamReader& reader) -> Status {
                                  REWRIGHT_TRY(auto size, read_kernel(reader.params));
                                  reader.named.push_back({"kernel", std::move(size)});
                                  return {};
                                },
                                [](ParamWriter& writer) -> Status {
                                  put_kernel(writer, writer.integers("kernel")[0], writer.integers("kernel")[1]);
                                  return {};
                                }};

/// A convolution with a kernel size asks it of its weight.
constexpr ParamCodec kWeightKernel = {
    [](ParamReader& reader) -> Status {
      if (!reader.params.has(kKernelH) || !reader.params.has(kKernelW)) return {};
      REWRIGHT_TRY(const auto size, read_kernel(reader.params));
      for (int axis = 0; axis < 2; ++axis)
        reader.side.kernels.push_back(
            {Constraint::Kind::kEqual, (*reader.in[1])[2 + axis], size[static_cast<std::size_t>(axis)]});
      return {};
    },
    [](ParamWriter& writer) -> Status {
      if (writer.weight_kernel) put_kernel(writer, (*writer.weight_kernel)[0], (*writer.weight_kernel)[1]);
      return {};
    }};

// --- convolutions ----------------------------------------------------------------------------------------------

constexpr ParamCodec kGroups = {[](ParamReader& reader) -> Status {
                                  Side& side = reader.side;
                                  const SymbolicShape& weight = *reader.in[1];
                                  if (!reader.params.has(kGroup))
                                    side.open_groups.push_back(reader.open_groups(*reader.in[0], weight));
                                  const std::int64_t open = side.open_groups.empty() ? 1 : side.open_groups.back();
                                  REWRIGHT_TRY(const std::int64_t groups, reader.params.get(kGroup, 1, 1000, open));
                                  if (weight.rank() == 4) side.convolutions.emplace_back(weight[0], groups);
                                  reader.named.push_back({"groups", groups});
                                  return {};
                                },
                                [](ParamWriter& writer) -> Status {
                                  writer.put(kGroup, writer.integer("groups"));
                                  return {};
                                }};

constexpr ParamCodec kActivation = {
    [](ParamReader& reader) -> Status {
      reader.named.push_back({"activation", std::string(kActivations[static_cast<std::size_t>(reader.activation)])});
      reader.has_activation = true;
      return {};
    },
    [](ParamWriter& writer) -> Status {
      const auto& specs = writer.node.op->info().params;
      const auto spec = std::ranges::find(specs, "activation", &ParamSpec::name);
      const std::string& name = spec->choices[static_cast<std::size_t>(writer.integer("activation"))];
      writer.put(kActi, std::ranges::find(kActivations, name) - kActivations.begin());
      return {};
    }};

/// Of an operator that has none with us: where TASO's has one, an operator of its own follows.
constexpr ParamCodec kNoActivation = {[](ParamReader&) -> Status { return {}; },
                                      [](ParamWriter& writer) -> Status {
                                        writer.put(kActi, 0);
                                        return {};
                                      }};

// --- axes ------------------------------------------------------------------------------------------------------

Result<int> read_axis(ParamReader& reader) {
  REWRIGHT_TRY(const std::int64_t axis, reader.params.get(kAxis, 0, reader.in[0]->rank() - 1));
  reader.named.push_back({"axis", axis});
  return static_cast<int>(axis);
}

constexpr ParamCodec kConcatAxis = {[](ParamReader& reader) -> Status {
                                      REWRIGHT_CHECK(read_axis(reader));
                                      return {};
                                    },
                                    [](ParamWriter& writer) -> Status {
                                      writer.put(kAxis, writer.integer("axis"));
                                      writer.put(kNumDim, writer.in[0]->rank());
                                      return {};
                                    }};

/// A split in two is where the last concatenation along the axis was.
constexpr ParamCodec kSplitPoint = {
    [](ParamReader& reader) -> Status {
      REWRIGHT_TRY(const int axis, read_axis(reader));
      REWRIGHT_CHECK(reader.params.get(kNumOutputs, 2, 2, 2));
      const auto* cut = (*reader.in[0])[axis].cut();
      reader.sizes.push_back(cut != nullptr ? cut->first : reader.fresh_size());
      reader.sizes.push_back(cut != nullptr ? cut->second : reader.fresh_size());
      return {};
    },
    [](ParamWriter& writer) -> Status {
      const std::int64_t axis = writer.integer("axis");
      const auto& sizes = writer.sizes();
      const auto* cut = (*writer.in[0])[static_cast<int>(axis)].cut();
      if (!cut || sizes.size() != 2 || !(cut->first == sizes[0]) || !(cut->second == sizes[1]))
        return cannot_say("a split elsewhere than at the last concatenation");
      writer.put(kAxis, axis);
      writer.put(kNumOutputs, 2);
      return {};
    }};

/// perm = sum of p_i * n^(n-1-i): the digits of the permutation in base n.
constexpr ParamCodec kPermutation = {[](ParamReader& reader) -> Status {
                                       REWRIGHT_TRY(std::int64_t code, reader.params.get(kPerm, 0, 1 << 30));
                                       const std::int64_t rank = reader.in[0]->rank();
                                       std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
                                       for (auto digit = perm.rbegin(); digit != perm.rend(); ++digit, code /= rank)
                                         *digit = code % rank;
                                       if (code != 0 || std::ssize(std::set(perm.begin(), perm.end())) != rank)
                                         return make_error(ErrorCode::kParse, "{}: perm is no permutation of {} axes",
                                                           reader.params.where(), rank);
                                       reader.named.push_back({"perm", std::move(perm)});
                                       return {};
                                     },
                                     [](ParamWriter& writer) -> Status {
                                       const auto& perm = writer.integers("perm");
                                       std::int64_t code = 0;
                                       for (const std::int64_t axis : perm) code = code * std::ssize(perm) + axis;
                                       writer.put(kNumDim, std::ssize(perm));
                                       writer.put(kPerm, code);
                                       return {};
                                     }};

// --- constants -------------------------------------------------------------------------------------------------

Status write_nothing(ParamWriter&) { return {}; }

constexpr ParamCodec kSquare = {[](ParamReader& reader) -> Status {
                                  reader.sizes.assign(2, reader.fresh_size());
                                  return {};
                                },
                                write_nothing};

constexpr ParamCodec kAnyShape = {[](ParamReader& reader) -> Status {
                                    for (int axis = 0; axis < reader.open_rank; ++axis)
                                      reader.sizes.push_back(reader.fresh_size());
                                    return {};
                                  },
                                  write_nothing};

constexpr ParamCodec kWeightSizes = {[](ParamReader& reader) -> Status {
                                       REWRIGHT_TRY(const auto kernel, read_kernel(reader.params));
                                       for (int axis = 0; axis < 2; ++axis) reader.sizes.push_back(reader.fresh_size());
                                       for (const std::int64_t size : kernel) reader.sizes.emplace_back(size);
                                       return {};
                                     },
                                     [](ParamWriter& writer) -> Status {
                                       const auto height = writer.sizes()[2].constant(),
                                                  width = writer.sizes()[3].constant();
                                       if (!height || !width) return cannot_say("a constant kernel of unknown size");
                                       put_kernel(writer, *height, *width);
                                       return {};
                                     }};

// --- the table -------------------------------------------------------------------------------------------------

/// By type.
constexpr std::array<OperatorRow, kTypes> kRows = {{
    {"input"},
    {"weight"},
    {"any"},
    {"conv2d", "conv2d", 2, 2, {&kWindow, &kDilations, &kGroups, &kActivation, &kWeightKernel}},
    {"dropout"},
    {"linear"},
    {"pool2d_max", "pool2d_max", 1, 1, {&kWindow, &kKernel, &kNoActivation}},
    {"pool2d_avg", "pool2d_avg", 1, 1, {&kPaddingCounts, &kWindow, &kKernel, &kNoActivation}},
    {"relu", "relu"},
    {"sigmoid", "sigmoid"},
    {"tanh", "tanh"},
    {"batchnorm"},
    {"concat", "concat", 2, kMostOperators, {&kConcatAxis}},
    {"split", "split", 1, 1, {&kSplitPoint}},
    {"reshape"},
    {"transpose", "transpose", 1, 1, {&kPermutation}},
    {"ew_add", "ewadd", 2, 2},
    {"ew_mul", "ewmul", 2, 2},
    {"matmul", "matmul", 2, 2},
    {"mul", "smul", 2, 2},
    {"enlarge", "enlarge", 1, 1, {&kKernel}},
    {"merge_gconv"},
    {"constant_imm", "constant_identity", 0, 0, {&kSquare}},
    {"constant_iconv", "constant_conv", 0, 0, {&kWeightSizes}},
    {"constant_one", "constant_one", 0, 0, {&kAnyShape}},
    {"constant_pool", "constant_pool", 0, 0, {&kWeightSizes}},
}};

}  // namespace

const BasicParamValue<SymbolicDim>& ParamWriter::at(std::string_view param) const {
  const auto& specs = node.op->info().params;
  std::size_t i = 0;
  while (specs[i].name != param) ++i;
  return node.params[i];
}

void ParamWriter::put(Key key, std::int64_t value) {
  taso::Parameter& para = *op.add_para();
  para.set_key(key);
  para.set_value(static_cast<std::int32_t>(value));
}

const OperatorRow* row_of(int type) {
  return type >= 0 && type < kTypes ? &kRows[static_cast<std::size_t>(type)] : nullptr;
}

std::optional<int> type_of(std::string_view ours) {
  const auto row = std::ranges::find_if(kRows, [&](const OperatorRow& r) { return r.ours && ours == r.ours; });
  if (row == kRows.end()) return std::nullopt;
  return static_cast<int>(row - kRows.begin());
}

std::string where_of(int side, int index, int type) {
  const OperatorRow* row = row_of(type);
  return fmt::format("{} operator {} ({})", side == 1 ? "source" : "target", index, row ? row->name : "unknown");
}

}  // namespace rewright::taso_format
