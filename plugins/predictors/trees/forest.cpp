#include "forest.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace trees {
namespace {

using namespace rewright;
using tune::Features;
using tune::Network;
using Whole = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Words = std::vector<std::string>;

constexpr double kMostLog = 20;  ///< More than that from the scale is nonsense.
constexpr const char* kForest = "ai.onnx.ml:TreeEnsembleRegressor";

template <class Values>
const Values* attribute(const tune::NetworkNode& node, const char* name) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<Values>(&found->second);
}

/// Of a whole forest, a list for each thing, as ONNX has it.
struct Lists {
  Whole tree, node, feature, left, right, leaf_tree, leaf_node, leaf_member;
  Floats value, leaf_value;
  Words mode;
};

bool is_a_tree(const Tree& tree, std::size_t features) {
  const auto count = static_cast<std::int64_t>(tree.left.size());
  for (std::int64_t n = 0; n < count; ++n) {
    const auto at = static_cast<std::size_t>(n);
    if (tree.left[at] < 0) continue;  // Children stand behind their parent: no walk goes in circles.
    if (tree.left[at] <= n || tree.right[at] <= n || tree.left[at] >= count || tree.right[at] >= count) return false;
    if (tree.feature[at] < 0 || tree.feature[at] >= static_cast<std::int64_t>(features)) return false;
  }
  return count > 0;
}

}  // namespace

Rows::Rows(const tune::PredictorSetting& setting)
    : columns_(setting.columns.size()), work_(0), kinds_(setting.kinds.size()) {
  for (const char* name : {"operations", "vectors"}) {
    const auto found = std::ranges::find(setting.columns, name);
    if (found != setting.columns.end()) work_ = static_cast<std::size_t>(found - setting.columns.begin());
  }
}

std::vector<float> Rows::of(const Features& program) const {
  std::vector<double> sums(columns_, 0), counts(kinds_, 0);
  const std::vector<double>* most = nullptr;
  const auto work = [&](const std::vector<double>& row) { return work_ < row.size() ? row[work_] : 0; };
  for (const auto& row : program.stages) {
    for (std::size_t c = 0; c < columns_ && c < row.size(); ++c) sums[c] += row[c];
    if (most == nullptr || work(row) > work(*most)) most = &row;
  }
  for (std::size_t s = 0; kinds_ > 0 && s < program.stages.size(); ++s) {
    const std::int64_t kind = s < program.kinds.size() ? program.kinds[s] : 0;
    counts[kind > 0 && static_cast<std::size_t>(kind) < kinds_ ? static_cast<std::size_t>(kind) : 0] += 1;
  }
  std::vector<float> values;
  for (const double sum : sums) values.push_back(static_cast<float>(std::log(1 + sum)));
  for (std::size_t c = 0; c < columns_; ++c)
    values.push_back(most != nullptr && c < most->size() ? static_cast<float>(std::log(1 + (*most)[c])) : 0);
  for (const double count : counts) values.push_back(static_cast<float>(count));
  return values;
}

void Rows::add_to(Network& network) const {
  const auto columns = static_cast<std::int64_t>(columns_), kinds = static_cast<std::int64_t>(kinds_);
  network.constants["one"] = {{1}, Doubles{1}};
  network.constants["stage_axis"] = {{1}, Whole{0}};
  network.constants["work"] = {{1}, Whole{static_cast<std::int64_t>(work_)}};
  network.constants["row_sizes"] = {{2}, Whole{1, 2 * columns + kinds}};
  network.constants["columns"] = {{1}, Whole{columns}};
  const auto add = [&](std::string type, Words inputs, std::string output,
                       std::map<std::string, tune::NetworkAttribute> attributes = {}) {
    network.nodes.push_back({std::move(type), std::move(inputs), {std::move(output)}, std::move(attributes)});
  };
  add("ReduceSum", {"stages", "stage_axis"}, "sums", {{"keepdims", std::int64_t{0}}});
  add("Gather", {"stages", "work"}, "work_of_stage", {{"axis", std::int64_t{1}}});
  add("ArgMax", {"work_of_stage"}, "most", {{"axis", std::int64_t{0}}, {"keepdims", std::int64_t{0}}});
  add("Gather", {"stages", "most"}, "most_row", {{"axis", std::int64_t{0}}});
  add("Reshape", {"most_row", "columns"}, "most_flat");
  add("Concat", {"sums", "most_flat"}, "counted", {{"axis", std::int64_t{0}}});
  add("Add", {"counted", "one"}, "more");
  add("Log", {"more"}, "logs");
  add("Cast", {"logs"}, "logs_float", {{"to", std::int64_t{1}}});
  if (kinds_ == 0) {
    add("Reshape", {"logs_float", "row_sizes"}, "row");
    return;
  }
  network.constants["kind_count"] = {{1}, Whole{kinds}};
  network.constants["off_on"] = {{2}, Floats{0, 1}};
  add("OneHot", {"kinds", "kind_count", "off_on"}, "is_kind", {{"axis", std::int64_t{-1}}});
  add("ReduceSum", {"is_kind", "stage_axis"}, "of_kind", {{"keepdims", std::int64_t{0}}});
  add("Concat", {"logs_float", "of_kind"}, "flat", {{"axis", std::int64_t{0}}});
  add("Reshape", {"flat", "row_sizes"}, "row");
}

float Tree::at(const std::vector<float>& row) const {
  std::size_t n = 0;
  while (left[n] >= 0)
    n = static_cast<std::size_t>(row[static_cast<std::size_t>(feature[n])] < value[n] ? left[n] : right[n]);
  return value[n];
}

std::vector<Estimate> Forest::predict(std::span<const Features> programs) const {
  std::vector<Estimate> all;
  for (const Features& program : programs) {
    const std::vector<float> row = rows_.of(program);
    double mean = 0, square = 0;
    for (const auto& member : members) {
      float sum = 0;
      for (const Tree& tree : member) sum += tree.at(row);
      const double logarithm = std::clamp(sign_ * sum, -kMostLog, kMostLog);
      mean += logarithm / static_cast<double>(members.size());
      square += logarithm * logarithm / static_cast<double>(members.size());
    }
    const double us = scale_us_ * std::exp(mean);
    all.push_back({us, us * std::sqrt(std::max(0.0, square - mean * mean))});
  }
  return all;
}

Result<Network> Forest::network() const {
  Network network;
  rows_.add_to(network);
  Lists lists;
  std::int64_t number = 0;
  for (std::size_t m = 0; m < members.size(); ++m) {
    for (const Tree& tree : members[m]) {
      for (std::size_t n = 0; n < tree.left.size(); ++n) {
        const bool is_leaf = tree.left[n] < 0;
        lists.tree.push_back(number);
        lists.node.push_back(static_cast<std::int64_t>(n));
        lists.feature.push_back(is_leaf ? 0 : tree.feature[n]);
        lists.left.push_back(is_leaf ? 0 : tree.left[n]);
        lists.right.push_back(is_leaf ? 0 : tree.right[n]);
        lists.value.push_back(is_leaf ? 0 : tree.value[n]);
        lists.mode.emplace_back(is_leaf ? "LEAF" : "BRANCH_LT");
        if (!is_leaf) continue;
        lists.leaf_tree.push_back(number);
        lists.leaf_node.push_back(static_cast<std::int64_t>(n));
        lists.leaf_member.push_back(static_cast<std::int64_t>(m));
        lists.leaf_value.push_back(tree.value[n]);
      }
      ++number;
    }
  }
  const auto count = static_cast<std::int64_t>(members.size());
  network.nodes.push_back({kForest,
                           {"row"},
                           {"leaves"},
                           {{"n_targets", count},
                            {"nodes_treeids", lists.tree},
                            {"nodes_nodeids", lists.node},
                            {"nodes_featureids", lists.feature},
                            {"nodes_truenodeids", lists.left},
                            {"nodes_falsenodeids", lists.right},
                            {"nodes_values", lists.value},
                            {"nodes_modes", lists.mode},
                            {"target_treeids", lists.leaf_tree},
                            {"target_nodeids", lists.leaf_node},
                            {"target_ids", lists.leaf_member},
                            {"target_weights", lists.leaf_value}}});
  network.constants["members"] = {{1}, Whole{count}};
  network.constants["sign"] = {{1}, Doubles{sign_}};
  network.constants["scale_us"] = {{1}, Doubles{scale_us_}};
  network.constants["least_log"] = {{}, Doubles{-kMostLog}};
  network.constants["most_log"] = {{}, Doubles{kMostLog}};
  network.nodes.push_back({"Reshape", {"leaves", "members"}, {"leaf_sums"}});
  network.nodes.push_back({"Cast", {"leaf_sums"}, {"sums_double"}, {{"to", std::int64_t{11}}}});
  network.nodes.push_back({"Mul", {"sums_double", "sign"}, {"logarithms"}});
  network.nodes.push_back({"Clip", {"logarithms", "least_log", "most_log"}, {"clipped"}});
  network.nodes.push_back({"Exp", {"clipped"}, {"ratios"}});
  network.nodes.push_back({"Mul", {"ratios", "scale_us"}, {"us"}});
  network.output = "us";
  return network;
}

Result<std::unique_ptr<Forest>> Forest::read(const Network& network, const Rows& rows) {
  const auto broken = [](const char* what) {
    return make_error(ErrorCode::kParse, "predictor trees: {} is not as it writes it", what);
  };
  const auto number = [&](const char* name) -> std::optional<double> {
    const auto found = network.constants.find(name);
    const auto* values = found == network.constants.end() ? nullptr : std::get_if<Doubles>(&found->second.values);
    if (values == nullptr || values->size() != 1 || !std::isfinite(values->front())) return std::nullopt;
    return values->front();
  };
  const auto scale = number("scale_us"), sign = number("sign");
  if (!scale || !(*scale > 0)) return broken("scale_us");
  if (!sign || std::abs(*sign) != 1) return broken("sign");
  const auto node = std::ranges::find(network.nodes, kForest, &tune::NetworkNode::type);
  if (node == network.nodes.end()) return broken("the forest");
  const auto* count = attribute<std::int64_t>(*node, "n_targets");
  const auto *tree = attribute<Whole>(*node, "nodes_treeids"), *feature = attribute<Whole>(*node, "nodes_featureids"),
             *left = attribute<Whole>(*node, "nodes_truenodeids"),
             *right = attribute<Whole>(*node, "nodes_falsenodeids"), *member = attribute<Whole>(*node, "target_ids");
  const auto *value = attribute<Floats>(*node, "nodes_values"), *leaf = attribute<Floats>(*node, "target_weights");
  const auto* mode = attribute<Words>(*node, "nodes_modes");
  for (const bool is_there : {count != nullptr, tree != nullptr, feature != nullptr, left != nullptr, right != nullptr,
                              member != nullptr, value != nullptr, leaf != nullptr, mode != nullptr}) {
    if (!is_there) return broken("an attribute of the forest");
  }
  const std::size_t nodes = tree->size();
  if (*count < 1 || *count > 1000) return broken("n_targets");
  for (const std::size_t size : {feature->size(), left->size(), right->size(), value->size(), mode->size()})
    if (size != nodes) return broken("the length of a list of the forest");
  auto forest = std::make_unique<Forest>(rows, *scale, *sign);
  forest->members.resize(static_cast<std::size_t>(*count));
  std::size_t leaves = 0;
  for (std::size_t first = 0; first < nodes;) {
    Tree made;
    std::optional<std::int64_t> of;
    std::size_t n = first;
    for (; n < nodes && (*tree)[n] == (*tree)[first]; ++n) {
      const bool is_leaf = (*mode)[n] == "LEAF";
      if (is_leaf && (leaves >= leaf->size() || leaves >= member->size())) return broken("the number of leaves");
      made.feature.push_back((*feature)[n]);
      made.left.push_back(is_leaf ? -1 : (*left)[n]);
      made.right.push_back(is_leaf ? -1 : (*right)[n]);
      made.value.push_back(is_leaf ? (*leaf)[leaves] : (*value)[n]);
      if (is_leaf) of = (*member)[leaves++];
    }
    if (!of || *of < 0 || *of >= *count) return broken("the member of a tree");
    if (!is_a_tree(made, rows.size())) return broken("a tree");
    forest->members[static_cast<std::size_t>(*of)].push_back(std::move(made));
    first = n;
  }
  return forest;
}

}  // namespace trees
