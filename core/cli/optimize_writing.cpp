#include "cli/optimize_writing.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "cli/output.h"
#include "cli/progress.h"

namespace rewright::cli {
namespace {

/// Of a search that is made again: no two runs take the same time.
constexpr double kMoreTime = 1.2;

/// "faster.onnx" gives "faster.unchecked.onnx".
std::string unchecked_name(const std::string& output) {
  const std::filesystem::path path(output);
  return (path.parent_path() / path.stem()).string() + ".unchecked" + path.extension().string();
}

}  // namespace

void Writing::has_read(ModelFiles files) {
  const std::scoped_lock lock(mutex_);
  files_ = std::move(files);
}

void Writing::has_found(const OptimizeReport& report, std::uint64_t candidates) {
  const std::scoped_lock lock(mutex_);
  searched_s_ = report.seconds;
  candidates_ = candidates;
  gain_ = report.search.cost_before_us / std::max(report.search.cost_after_us, 1e-9);
}

void Writing::has_candidate(std::string model) {
  const std::scoped_lock lock(mutex_);
  candidate_ = std::move(model);
}

Status Writing::write(const std::string& model) {
  const std::scoped_lock lock(mutex_);
  REWRIGHT_CHECK(write_model(*files_, model));
  is_written_ = true;
  return {};
}

void Writing::overtake() {
  mutex_.lock();
  bool is_original = !is_written_ && files_;
  if (is_original) {
    const Status status = write_model(*files_, files_->original);
    if (!status) {
      is_original = false;
      print_error(status.error(), settings_.json);
    }
  }
  say_what_was_written(is_original, is_original && write_candidate());
}

/// Under another name than the output's, as nothing was compared.
bool Writing::write_candidate() const {
  if (candidate_.empty()) return false;
  ModelFiles files = *files_;
  files.output = unchecked_name(arguments_.output);
  const Status status = write_model(files, candidate_);
  if (!status) print_error(status.error(), settings_.json);
  return status.has_value();
}

void Writing::say_what_was_written(bool is_original, bool is_kept) const {
  if (settings_.json) {
    print_json({{"stopped_early", true},
                {"output", arguments_.output},
                {"written", is_written_ || is_original},
                {"original_written", is_original},
                {"unchecked", is_kept ? Json(unchecked_name(arguments_.output)) : Json()}});
  }
  if (is_written_) return note("stopped after the result was written", settings_.quiet);
  if (!is_original) return note(fmt::format("stopped; '{}' is not written", arguments_.output), settings_.quiet);
  if (is_kept)
    return note(
        fmt::format("stopped before the best so far ({:.2f}x by the cost model) was compared and measured: '{}' "
                    "is the original, '{}' the best so far; rewright graph compare {} {} compares them",
                    gain_, arguments_.output, unchecked_name(arguments_.output), arguments_.input,
                    unchecked_name(arguments_.output)),
        settings_.quiet);
  note(fmt::format(
           "stopped before a result was compared and measured, so '{}' is the original{}; {}", arguments_.output,
           gain_ > 1 ? fmt::format(" and not the best so far ({:.2f}x by the cost model)", gain_) : "", how_to_go_on()),
       settings_.quiet);
}

/// A search of the same seed and limits looks at the same graphs in the same order, so that it finds the best so far
/// again after as much time.
std::string Writing::how_to_go_on() const {
  if (!arguments_.checkpoint.empty()) return "the same command with --resume goes on";
  if (gain_ <= 1) return "--seconds ends a search and leaves time to compare its best";
  return fmt::format("the same command with {}--seconds {:.0f} finds that again and compares it",
                     candidates_ > 0 ? fmt::format("--candidates {} ", candidates_) : "",
                     std::ceil(kMoreTime * searched_s_ + 1));
}

}  // namespace rewright::cli
