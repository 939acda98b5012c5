#include "interchange/taso_groups.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "interchange/taso_generalise.h"

namespace rewright::taso_format {
namespace {

using Groups = std::vector<std::int64_t>;

constexpr std::size_t kMostChoices = 4;  ///< Convolutions of a source that get groups one by one; of more, all alike.
constexpr std::size_t kSizes = 24;       ///< At which the target's groups are read, for each source.
constexpr std::size_t kMostInstances = 12;

/// One or two groups in each of `count` convolutions, fewest first.
std::vector<Groups> source_choices(std::size_t count) {
  if (count > kMostChoices) return {Groups(count, 1), Groups(count, 2)};
  std::vector<Groups> all;
  for (unsigned bits = 0; bits < (1U << count); ++bits) {
    Groups groups;
    for (std::size_t i = 0; i < count; ++i) groups.push_back(((bits >> i) & 1U) != 0 ? 2 : 1);
    all.push_back(std::move(groups));
  }
  std::ranges::stable_sort(all, {}, [](const Groups& groups) { return std::ranges::count(groups, 2); });
  return all;
}

/// "1, 1 => 2"; "=> 2" where the target alone has open convolutions; "" where no side has.
std::string groups_text(const Groups& source, const Groups& target) {
  if (source.empty() && target.empty()) return "";
  return fmt::format("{}{}=>{}{}", fmt::join(source, ", "), source.empty() ? "" : " ", target.empty() ? "" : " ",
                     fmt::join(target, ", "));
}

class GroupReader {
 public:
  GroupReader(const taso::Rule& rule, Scope scope) : rule_(rule), scope_(std::move(scope)) {}

  Result<std::vector<TasoInstance>> run() {
    REWRIGHT_TRY(const Side first, read(1, {}));
    const std::size_t open = first.open_groups.size();
    for (const Groups& groups : source_choices(open)) {
      if (const auto source = read(1, groups)) add_targets(*source);
    }
    if (!instances_.empty()) return std::move(instances_);
    const bool is_open = open > 0 || has_open_target_;
    if (!is_open && last_error_) return *last_error_;
    return make_error(ErrorCode::kShape, "no small sizes were found at which both sides are defined{}",
                      is_open
                          ? ", with one or two groups in each convolution of the source and as many in those of the "
                            "target as its shapes say"
                          : "");
  }

 private:
  [[nodiscard]] Result<Side> read(int side, const Groups& groups, const SizeAssignment* sizes = nullptr) {
    scope_.groups = groups;
    scope_.sizes = sizes;
    return read_side(rule_, side, scope_);
  }

  /// With the groups that the target's shapes give it at small sizes, each choice once.
  void add_targets(const Side& source) {
    std::set<Groups> tried;
    for (const SizeAssignment& sizes : source_sizes(scope_.inputs, source, kSizes)) add_target(source, &sizes, tried);
    if (tried.empty()) add_target(source, nullptr, tried);
  }
  void add_target(const Side& source, const SizeAssignment* sizes, std::set<Groups>& tried) {
    if (instances_.size() >= kMostInstances) return;
    const auto target = read(2, {}, sizes);
    if (!target) {
      last_error_ = target.error();
      return;
    }
    has_open_target_ |= !target->open_groups.empty();
    if (!tried.insert(target->open_groups).second) return;
    auto rule = make_rule(scope_.inputs, source, *target);
    if (!rule) {
      last_error_ = rule.error();
      return;
    }
    instances_.push_back({*std::move(rule), groups_text(source.open_groups, target->open_groups)});
  }

  const taso::Rule& rule_;
  Scope scope_;
  std::vector<TasoInstance> instances_;
  std::optional<Error> last_error_;
  bool has_open_target_ = false;
};

}  // namespace

Result<std::vector<TasoInstance>> read_with_groups(const taso::Rule& rule, Scope scope) {
  return GroupReader(rule, std::move(scope)).run();
}

}  // namespace rewright::taso_format
