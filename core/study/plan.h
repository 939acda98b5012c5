// A study: networks, compressions, algorithms, threads and schedules, every combination of which is a cell. One layer
// of the stack is varied while the others stay as they are.
//
//   title = "Four networks, three compressions, four algorithms"
//   networks = ["cifar_resnet18"]                  # files of the folder of models, without .onnx
//   algorithms = ["direct", "cost"]                # rewright compile --algorithm; usual; cost: each node by its
//   fastest threads = [1]                                  # default schedules = ["one-shot"]                       #
//   default; tuned: searched first seconds = 600                                  # that a cell may take; default
//   [[compressions]]
//   name = "dense"
//   [[compressions]]
//   name = "zeros"
//   zeros = 0.95                                   # or channels = 0.5: rewright compress
//   algorithms = { direct = "sparse" }             # what an algorithm is with this compression, where it is another
#pragma once

#include <rewright/base/result.h>
#include <rewright/base/visibility.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rewright::study {

struct Compression {
  std::string name;
  std::optional<double> zeros = {}, channels = {};  ///< Of rewright compress; neither: the network as it is.
  std::map<std::string, std::string> algorithms = {};
  [[nodiscard]] bool is_none() const { return !zeros && !channels; }
};

struct Plan {
  std::string title;
  std::vector<std::string> networks;
  std::vector<Compression> compressions;
  std::vector<std::string> algorithms;
  std::vector<std::int64_t> threads;
  std::vector<std::string> schedules;
  std::int64_t seconds = 600;
};

struct Cell {
  std::string network;
  std::size_t compression = 0;  ///< Of the plan's.
  std::string algorithm;        ///< As the plan names it.
  std::int64_t threads = 1;
  std::string schedules;
};

/// Errors: kParse, FILE:LINE:COLUMN: what is wrong: a value that there is not, one twice, no value of a layer.
[[nodiscard]] REWRIGHT_API Result<Plan> parse_plan(std::string_view text, const std::string& file);
/// All of them, in the order of the plan's layers.
[[nodiscard]] REWRIGHT_API std::vector<Cell> cells_of(const Plan& plan);
/// What a cell's algorithm is with its compression.
[[nodiscard]] REWRIGHT_API std::string computed_by(const Plan& plan, const Cell& cell);
/// "cifar_resnet18, zeros, direct, 1 thread, one-shot".
[[nodiscard]] REWRIGHT_API std::string to_string(const Plan& plan, const Cell& cell);

}  // namespace rewright::study
