#include "interchange/taso_format.h"

#include <set>

namespace rewright::taso_format {

const char* counterpart(int type) {
  switch (type) {
    case kConv2d: return "conv2d";
    case kPoolMax: return "pool2d_max";
    case kPoolAvg: return "pool2d_avg";
    case kRelu: return "relu";
    case kSigmoid: return "sigmoid";
    case kTanh: return "tanh";
    case kConcat: return "concat";
    case kSplit: return "split";
    case kTranspose: return "transpose";
    case kEwAdd: return "ewadd";
    case kEwMul: return "ewmul";
    case kMatMul: return "matmul";
    case kMul: return "smul";
    case kEnlarge: return "enlarge";
    case kConstantImm: return "constant_identity";
    case kConstantIconv: return "constant_conv";
    case kConstantOne: return "constant_one";
    case kConstantPool: return "constant_pool";
    default: return nullptr;
  }
}

std::string where_of(int side, int index, int type) {
  return fmt::format("{} operator {} ({})", side == 1 ? "source" : "target", index,
                     type >= 0 && type < kTypes ? kTypeNames[static_cast<std::size_t>(type)] : "unknown");
}

Result<std::vector<std::int64_t>> read_permutation(std::int64_t code, std::int64_t rank, const std::string& where) {
  std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
  std::set<std::int64_t> seen;
  for (auto digit = perm.rbegin(); digit != perm.rend(); ++digit, code /= rank) seen.insert(*digit = code % rank);
  if (code != 0 || std::ssize(seen) != rank)
    return make_error(ErrorCode::kParse, "{}: perm is no permutation of {} axes", where, rank);
  return perm;
}

}  // namespace rewright::taso_format
