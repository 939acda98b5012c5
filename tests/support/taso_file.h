// Rule files of TASO, written byte by byte as protobuf's wire format says; shares no code with what reads them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rewright::testing::taso {

/// Operator types, by number.
enum Type {
  kConv = 3,
  kPoolMax = 6,
  kPoolAvg = 7,
  kRelu = 8,
  kConcat = 12,
  kSplit = 13,
  kTranspose = 15,
  kAdd = 16,
  kMul = 17,
  kMatMul = 18,
  kScale = 19,
  kEnlarge = 20,
  kMergeGconv = 21,
  kConstantImm = 22,
  kConstantIconv = 23,
  kConstantOne = 24,
  kConstantPool = 25
};
/// Parameter keys, by number.
enum Key {
  kNumInputs = 1,
  kNumOutputs = 2,
  kGroup = 3,
  kKernelH = 4,
  kKernelW = 5,
  kStrideH = 6,
  kStrideW = 7,
  kPad = 8,
  kActi = 9,
  kNumDim = 10,
  kAxis = 11,
  kPerm = 12,
  kOutShuffle = 13
};

struct Operand {
  int op = -1;  ///< Negative: an input.
  int output = 0;
};
struct Op {
  int type = 0;
  std::vector<Operand> in;
  std::vector<std::pair<int, int>> params = {};
};
struct Entry {
  std::vector<Op> source, target;
  std::vector<std::pair<Operand, Operand>> outputs;
};

inline void put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(static_cast<char>(value | 128));
  to.push_back(static_cast<char>(value));
}
inline void put_number(std::string& to, int field, int value) {
  put_varint(to, static_cast<std::uint64_t>(field) << 3);
  put_varint(to, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
}
inline void put_message(std::string& to, int field, const std::string& message) {
  put_varint(to, (static_cast<std::uint64_t>(field) << 3) | 2);
  put_varint(to, message.size());
  to += message;
}

inline std::string bytes(const Op& op) {
  std::string text;
  put_number(text, 1, op.type);
  for (const Operand& operand : op.in) {
    std::string tensor;
    put_number(tensor, 1, operand.op);
    put_number(tensor, 2, operand.output);
    put_message(text, 2, tensor);
  }
  for (const auto& [key, value] : op.params) {
    std::string para;
    put_number(para, 1, key);
    put_number(para, 2, value);
    put_message(text, 3, para);
  }
  return text;
}
inline std::string bytes(const std::vector<Entry>& entries) {
  std::string file;
  for (const Entry& entry : entries) {
    std::string rule;
    for (const Op& op : entry.source) put_message(rule, 1, bytes(op));
    for (const Op& op : entry.target) put_message(rule, 2, bytes(op));
    for (const auto& [from, to] : entry.outputs) {
      std::string output;
      put_number(output, 1, from.op);
      put_number(output, 2, to.op);
      put_number(output, 3, from.output);
      put_number(output, 4, to.output);
      put_message(rule, 3, output);
    }
    put_message(file, 1, rule);
  }
  return file;
}

/// Entries that are known to be right, right under a condition, wrong, or beyond us; in the order of tests/golden/taso.
inline std::vector<Entry> known_entries() {
  const Operand x{-1}, y{-2}, z{-3}, first{0}, second{1}, third{2};
  const std::vector<std::pair<int, int>> same = {{kStrideH, 1}, {kStrideW, 1}, {kPad, 0}, {kActi, 0}};
  const auto with = [&](std::vector<std::pair<int, int>> more) {
    more.insert(more.begin(), same.begin(), same.end());
    return more;
  };
  const std::vector<std::pair<int, int>> channels = {{kAxis, 1}, {kNumDim, 4}}, batch = {{kAxis, 0}, {kNumDim, 4}};
  const auto merged = [&](std::vector<std::pair<int, int>> conv) {
    return Entry{{{kConv, {x, y}, conv}, {kConv, {x, z}, conv}, {kConcat, {first, second}, channels}},
                 {{kConcat, {y, z}, batch}, {kConv, {x, first}, conv}},
                 {{third, second}}};
  };
  return {
      // x (y z) = (x y) z
      {{{kMatMul, {y, z}}, {kMatMul, {x, first}}}, {{kMatMul, {x, y}}, {kMatMul, {first, z}}}, {{second, second}}},
      // A product by y vanishes: in the file that TASO ships.
      {{{kConv, {x, z}, same}, {kMul, {first, y}}}, {{kConv, {x, z}, same}}, {{second, first}}},
      // Two convolutions of one image become one: with one group only.
      merged(same),
      merged(with({{kGroup, 2}})),
      // The activation goes into the convolution.
      {{{kConv, {x, y}, same}, {kRelu, {first}}},
       {{kConv, {x, y}, {{kStrideH, 1}, {kStrideW, 1}, {kPad, 0}, {kActi, 2}}}},
       {{second, first}}},
      // A kernel of one tap in one of nine.
      {{{kConv, {x, y}, with({{kKernelH, 1}, {kKernelW, 1}})}},
       {{kEnlarge, {y}, {{kKernelH, 3}, {kKernelW, 3}}}, {kConv, {x, first}, same}},
       {{first, second}}},
      // An average as a convolution.
      {{{kPoolAvg, {x}, with({{kKernelH, 3}, {kKernelW, 3}})}},
       {{kConstantPool, {}, {{kKernelH, 3}, {kKernelW, 3}}}, {kConv, {x, first}, same}},
       {{first, second}}},
      // The parts of a relu are the relus of the parts.
      {{{kConcat, {x, y}, {{kAxis, 0}, {kNumDim, 2}}}, {kRelu, {first}}, {kSplit, {second}, {{kAxis, 0}}}},
       {{kRelu, {x}}, {kRelu, {y}}},
       {{third, first}, {{2, 1}, second}}},
      // x + y = y + x, of any rank.
      {{{kAdd, {x, y}}}, {{kAdd, {y, x}}}, {{first, first}}},
      // False for a negative scale.
      {{{kScale, {x, y}}, {kRelu, {first}}}, {{kRelu, {x}}, {kScale, {first, y}}}, {{second, second}}},
      // The product of transposes in the wrong order.
      {{{kTranspose, {x}, {{kNumDim, 2}, {kPerm, 2}}},
        {kTranspose, {y}, {{kNumDim, 2}, {kPerm, 2}}},
        {kMatMul, {first, second}}},
       {{kMatMul, {x, y}}, {kTranspose, {first}, {{kNumDim, 2}, {kPerm, 2}}}},
       {{third, second}}},
      // An operator that is not ours.
      {{{kConv, {x, y}, same}}, {{kMergeGconv, {y}}, {kConv, {x, first}, same}}, {{first, second}}},
  };
}

/// Entries whose convolutions differ in groups, by side or within one; in the order of tests/golden/taso/groups.pb.
inline std::vector<Entry> grouped_entries() {
  const Operand x{-1}, y{-2}, v{-3}, w{-4}, z{-5}, u{-6}, first{0}, second{1}, third{2}, fourth{3}, fifth{4};
  const std::vector<std::pair<int, int>> conv = {{kStrideH, 1}, {kStrideW, 1}, {kPad, 0}, {kActi, 0}};
  const std::vector<std::pair<int, int>> channels = {{kAxis, 1}, {kNumDim, 4}}, batch = {{kAxis, 0}, {kNumDim, 4}};
  const std::vector<Op> apart = {{kConv, {x, v}, conv}, {kConv, {y, w}, conv}, {kConcat, {first, second}, channels}};
  return {
      // Two convolutions side by side are one of twice the groups, where outputs per group agree.
      {apart,
       {{kConcat, {x, y}, channels}, {kConcat, {v, w}, batch}, {kConv, {first, second}, conv}},
       {{third, third}}},
      // With the images exchanged it is false.
      {apart,
       {{kConcat, {y, x}, channels}, {kConcat, {v, w}, batch}, {kConv, {first, second}, conv}},
       {{third, third}}},
      // The other way round: an image beside itself, under one weight twice.
      {{{kConcat, {x, x}, channels}, {kConcat, {v, v}, batch}, {kConv, {first, second}, conv}},
       {{kConv, {x, v}, conv}, {kConcat, {first, first}, channels}},
       {{third, second}}},
      // The same without the second half of the outputs' own image.
      {{{kConcat, {x, y}, channels}, {kConcat, {v, v}, batch}, {kConv, {first, second}, conv}},
       {{kConv, {x, v}, conv}, {kConcat, {first, first}, channels}},
       {{third, second}}},
      // Three of them.
      {{{kConv, {x, v}, conv},
        {kConv, {y, w}, conv},
        {kConv, {z, u}, conv},
        {kConcat, {first, second}, channels},
        {kConcat, {fourth, third}, channels}},
       {{kConcat, {x, y}, channels},
        {kConcat, {first, z}, channels},
        {kConcat, {v, w}, batch},
        {kConcat, {third, u}, batch},
        {kConv, {second, fourth}, conv}},
       {{fifth, fifth}}},
      // One side is a sum over channels, of one group each; grouped, it is another sum.
      {{{kConcat, {x, y}, channels}, {kConcat, {v, w}, channels}, {kConv, {first, second}, conv}},
       {{kConv, {x, v}, conv}, {kConv, {y, w}, conv}, {kAdd, {first, second}}},
       {{third, third}}},
  };
}

}  // namespace rewright::testing::taso
