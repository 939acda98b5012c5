// Schedules as text: written, and read back.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "schedule/step_text.h"

namespace rewright::schedule {
namespace {

using loop::LoopKind;

constexpr std::array<const char*, 5> kTails = {"divide", "mask", "cut", "pad", "overlap"};
constexpr std::array<const char*, 3> kConflicts = {"fail", "skip", "retarget"};
constexpr std::array<const char*, 2> kTiles = {"outer-product", "products"};
constexpr std::array<const char*, 4> kMarks = {"serial", "parallelise", "vectorise", "unroll"};  // By LoopKind.

std::string text_of(const Split& split) {
  std::string text = fmt::format("split {} {}", to_string(split.loop), split.factor);
  if (split.tail != Tail::kDivide) text += fmt::format(" tail={}", kTails[static_cast<std::size_t>(split.tail)]);
  return text;
}
std::string text_of(const Fuse& fuse) {
  return fmt::format("fuse {} {}", to_string(fuse.outer), to_string(fuse.inner));
}
std::string text_of(const Reorder& reorder) {
  std::string text = "reorder";
  for (const LoopName& name : reorder.loops) text += fmt::format(" {}", to_string(name));
  return text;
}
std::string text_of(const Distribute& distribute) { return fmt::format("distribute {}", to_string(distribute.loop)); }
std::string text_of(const Mark& mark) {
  return fmt::format("{} {}", kMarks[static_cast<std::size_t>(mark.kind)], to_string(mark.loop));
}
std::string text_of(const Cache& cache) {
  return fmt::format("cache {} {} {}", cache.buffer, to_string(cache.loop), cache.name);
}
std::string text_of(const CacheWrite& cache) {
  return fmt::format("cache-write {} {} {}", cache.buffer, to_string(cache.loop), cache.name);
}
std::string text_of(const ReductionFactor& factor) {
  return fmt::format("rfactor {} {}", to_string(factor.loop), factor.name);
}
std::string text_of(const Inline& inlined) { return fmt::format("inline {}", inlined.buffer); }
std::string text_of(const LayoutPart& part) {
  const char* const signs[] = {"", "/", "%"};
  if (part.kind == LayoutPart::Kind::kWhole) return fmt::format("{}", part.dimension);
  return fmt::format("{}{}{}", part.dimension, signs[static_cast<std::size_t>(part.kind)], part.factor);
}
std::string text_of(const Pack& pack) {
  std::string text = fmt::format("pack {} {}", pack.buffer, pack.name);
  for (const LayoutPart& part : pack.parts) text += fmt::format(" {}", text_of(part));
  if (pack.pads) text += " pad";
  return text;
}
std::string text_of(const Tensorise& tensorise) {
  return fmt::format("tensorise {} {}", to_string(tensorise.loop), kTiles[static_cast<std::size_t>(tensorise.tile)]);
}
std::string text_of(const ComputeAt& compute) {
  return fmt::format("compute-at {} {} {}", compute.buffer, to_string(compute.loop), compute.name);
}

/// Nothing where the text is no number.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// The words of one step.
class StepReader {
 public:
  StepReader(std::vector<std::string> words, int line) : words_(std::move(words)), line_(line) {}

  Result<Step> read() {
    Step step;
    REWRIGHT_CHECK(read_conflict(step));
    REWRIGHT_TRY(step.transform, read_transform());
    if (next_ < words_.size()) return error("the end of the step", words_[next_]);
    return step;
  }

 private:
  [[nodiscard]] Error error(std::string_view expected, std::string_view found) const {
    return make_error(ErrorCode::kParse, "{}: expected {}, found '{}'", line_, expected, found);
  }
  Result<std::string> word(std::string_view what) {
    if (next_ == words_.size()) return error(what, "the end of the step");
    return words_[next_++];
  }
  Result<LoopName> name() {
    REWRIGHT_TRY(const std::string text, word("a loop"));
    auto name = loop::parse_loop_name(text);
    if (!name) return error("a loop (stage.axis, stage.axis/0, ...)", text);
    return *std::move(name);
  }
  Status read_conflict(Step& step) {
    if (words_.size() < 2 || words_[words_.size() - 2] != "or") return {};
    const auto known = std::ranges::find(kConflicts, words_.back());
    if (known == kConflicts.end()) return error("fail, skip or retarget", words_.back());
    step.on_conflict = static_cast<OnConflict>(known - kConflicts.begin());
    words_.resize(words_.size() - 2);
    return {};
  }
  Result<Transform> read_transform() {
    REWRIGHT_TRY(const std::string kind, word("a transform"));
    if (kind == "split") return read_split();
    if (kind == "reorder") return read_reorder();
    if (kind == "fuse") {
      REWRIGHT_TRY(LoopName outer, name());
      REWRIGHT_TRY(LoopName inner, name());
      return Transform(Fuse{std::move(outer), std::move(inner)});
    }
    if (kind == "distribute") {
      REWRIGHT_TRY(LoopName loop, name());
      return Transform(Distribute{std::move(loop)});
    }
    if (kind == "cache") return read_copy<Cache>();
    if (kind == "cache-write") return read_copy<CacheWrite>();
    if (kind == "compute-at") return read_copy<ComputeAt>();
    if (kind == "rfactor") {
      REWRIGHT_TRY(LoopName loop, name());
      REWRIGHT_TRY(std::string partial, word("a name for the partial results"));
      return Transform(ReductionFactor{std::move(loop), std::move(partial)});
    }
    if (kind == "inline") {
      REWRIGHT_TRY(std::string buffer, word("a buffer"));
      return Transform(Inline{std::move(buffer)});
    }
    if (kind == "pack") return read_pack();
    if (kind == "tensorise") {
      REWRIGHT_TRY(LoopName loop, name());
      REWRIGHT_TRY(const std::string tile, word("outer-product or products"));
      const auto known = std::ranges::find(kTiles, tile);
      if (known == kTiles.end()) return error("outer-product or products", tile);
      return Transform(Tensorise{std::move(loop), static_cast<RegisterTile>(known - kTiles.begin())});
    }
    const auto mark = std::ranges::find(kMarks, kind);
    if (mark == kMarks.end())
      return error(
          "split, fuse, reorder, distribute, serial, parallelise, vectorise, unroll, cache, cache-write, compute-at, "
          "rfactor, inline, pack or tensorise",
          kind);
    REWRIGHT_TRY(LoopName loop, name());
    return Transform(Mark{std::move(loop), static_cast<LoopKind>(mark - kMarks.begin())});
  }
  template <class Copy>
  Result<Transform> read_copy() {
    REWRIGHT_TRY(std::string buffer, word("a buffer"));
    REWRIGHT_TRY(LoopName loop, name());
    REWRIGHT_TRY(std::string copy, word("a name for the copy"));
    return Transform(Copy{std::move(buffer), std::move(loop), std::move(copy)});
  }
  Result<Transform> read_split() {
    Split split;
    REWRIGHT_TRY(split.loop, name());
    REWRIGHT_TRY(const std::string factor, word("a factor"));
    const auto number = number_of(factor);
    if (number.value_or(0) < 1) return error("a factor of at least 1", factor);
    split.factor = *number;
    if (next_ == words_.size()) return Transform(std::move(split));
    const std::string option = words_[next_++];
    const auto known =
        std::ranges::find_if(kTails, [&](const char* tail) { return option == fmt::format("tail={}", tail); });
    if (known == kTails.end()) return error("tail=divide, tail=mask, tail=cut, tail=pad or tail=overlap", option);
    split.tail = static_cast<Tail>(known - kTails.begin());
    return Transform(std::move(split));
  }
  Result<Transform> read_pack() {
    Pack pack;
    REWRIGHT_TRY(pack.buffer, word("a buffer"));
    REWRIGHT_TRY(pack.name, word("a name for the packed buffer"));
    while (next_ < words_.size()) {
      const std::string text = words_[next_++];
      if (text == "pad" && next_ == words_.size()) {
        pack.pads = true;
        break;
      }
      const std::size_t sign = std::min(text.find_first_of("/%"), text.size());
      const auto dimension = number_of(std::string_view(text).substr(0, sign));
      const auto factor =
          sign == text.size() ? std::optional<std::int64_t>(1) : number_of(std::string_view(text).substr(sign + 1));
      if (dimension.value_or(-1) < 0 || factor.value_or(0) < 1)
        return error("a dimension, or one / or % a factor (1, 1/16, 1%16)", text);
      LayoutPart part{static_cast<std::size_t>(*dimension), LayoutPart::Kind::kWhole, *factor};
      if (sign < text.size()) part.kind = text[sign] == '/' ? LayoutPart::Kind::kBlock : LayoutPart::Kind::kInBlock;
      pack.parts.push_back(part);
    }
    return Transform(std::move(pack));
  }
  Result<Transform> read_reorder() {
    Reorder reorder;
    while (next_ < words_.size()) {
      REWRIGHT_TRY(LoopName loop, name());
      reorder.loops.push_back(std::move(loop));
    }
    if (reorder.loops.size() < 2) return error("two loops or more", reorder.loops.empty() ? "none" : "one");
    return Transform(std::move(reorder));
  }

  std::vector<std::string> words_;
  std::size_t next_ = 0;
  int line_;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
    text.remove_prefix(begin);
    const std::size_t length = std::min(text.find_first_of(" \t\r"), text.size());
    if (length > 0) words.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

}  // namespace

std::string to_string(const Transform& transform) {
  return std::visit([](const auto& each) { return text_of(each); }, transform);
}

std::string to_string(const Step& step) {
  std::string text = to_string(step.transform);
  if (step.on_conflict != OnConflict::kFail)
    text += fmt::format(" or {}", kConflicts[static_cast<std::size_t>(step.on_conflict)]);
  return text;
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule) text += to_string(step) + '\n';
  return text;
}

Result<Step> parse_step(StepText text) { return StepReader(std::move(text.words), text.line).read(); }

std::vector<StepText> step_texts(std::string_view text) {
  std::vector<StepText> steps;
  std::string origin;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, std::min(text.find('#'), end));
    text.remove_prefix(std::min(end + 1, text.size()));
    while (true) {
      const std::size_t length = std::min(rest.find(';'), rest.size());
      auto words = words_of(rest.substr(0, length));
      if (words.size() == 2 && words[0] == "from") {
        origin = words[1] == kHere ? "" : std::move(words[1]);
      } else if (!words.empty()) {
        steps.push_back({std::move(words), line, origin});
      }
      if (length == rest.size()) break;
      rest.remove_prefix(length + 1);
    }
  }
  return steps;
}

Result<Schedule> parse_schedule(std::string_view text) {
  Schedule schedule;
  for (StepText& words : step_texts(text)) {
    REWRIGHT_TRY(Step step, parse_step(std::move(words)));
    schedule.push_back(std::move(step));
  }
  return schedule;
}

}  // namespace rewright::schedule
