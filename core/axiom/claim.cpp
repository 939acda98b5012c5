#include "axiom/claim.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tensor/real.h"

namespace rewright {
namespace {

using Ints = std::vector<std::int64_t>;

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}
std::optional<double> to_real(std::string_view text) {
  const auto value = parse_real(text);
  return value ? std::optional(*value) : std::nullopt;
}

/// "_3": the length of a list of sizes.
std::optional<std::int64_t> length_of(std::string_view word) {
  if (!word.starts_with('_')) return std::nullopt;
  const auto length = to_integer(word.substr(1));
  return length && *length >= 0 && *length <= kMaxRank ? length : std::nullopt;
}
ParamValue sizes_of_length(std::int64_t length) {
  return SizeList<std::int64_t>{Ints(static_cast<std::size_t>(length))};
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t space = text.find_first_of(" \t\n");
    if (space != 0) words.push_back(text.substr(0, space));
    text = space == std::string_view::npos ? "" : text.substr(space + 1);
  }
  return words;
}

std::optional<ClaimRelation::Kind> relation_of(std::string_view word) {
  using Kind = ClaimRelation::Kind;
  static constexpr std::pair<std::string_view, Kind> kSigns[] = {{"<", Kind::kLess},     {"<=", Kind::kAtMost},
                                                                 {"=", Kind::kEqual},    {"!=", Kind::kNotEqual},
                                                                 {">=", Kind::kAtLeast}, {">", Kind::kMore}};
  for (const auto& [sign, kind] : kSigns) {
    if (word == sign) return kind;
  }
  return std::nullopt;
}

class ClaimReader {
 public:
  explicit ClaimReader(const Axiom& axiom) : axiom_(axiom), parameters_(parameter_variables(axiom)) {}

  Result<AxiomClaim> run() {
    for (std::string_view text = axiom_.domain; !text.empty();) {
      const std::size_t end = text.find(';');
      const auto words = words_of(text.substr(0, end));
      text = end == std::string_view::npos ? "" : text.substr(end + 1);
      if (words.empty()) continue;
      const auto relation = words.size() == 3 ? relation_of(words[1]) : std::nullopt;
      if (relation) {
        REWRIGHT_CHECK(read_relation(words, *relation));
      } else {
        REWRIGHT_CHECK(read_entry(words));
      }
    }
    return std::move(claim_);
  }

 private:
  template <class... Args>
  Error error(fmt::format_string<Args...> format, Args&&... args) const {
    return make_error(ErrorCode::kParse, "{}:{}: axiom {}: domain: {}", axiom_.file, axiom_.line, axiom_.name,
                      fmt::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] bool is_parameter(std::string_view name) const {
    return std::ranges::find(parameters_, name) != parameters_.end();
  }
  [[nodiscard]] const AxiomVariable* variable(std::string_view name) const {
    const auto found = std::ranges::find(axiom_.variables, name, &AxiomVariable::name);
    return found == axiom_.variables.end() ? nullptr : &*found;
  }
  /// Is "w.2" a size of a tensor variable?
  [[nodiscard]] bool is_tensor_size(std::string_view name) const {
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    const AxiomVariable* tensor = variable(name.substr(0, dot));
    return tensor != nullptr && tensor->sort == AxiomSort::kTensor && to_integer(name.substr(dot + 1));
  }
  [[nodiscard]] bool is_number(std::string_view name) const {
    const AxiomVariable* found = variable(name);
    return found != nullptr && is_parameter(name) &&
           (found->sort == AxiomSort::kInt || found->sort == AxiomSort::kReal);
  }

  Status read_relation(const std::vector<std::string_view>& words, ClaimRelation::Kind kind) {
    ClaimRelation relation{std::string(words[0]), kind, std::string(words[2])};
    if (const auto number = to_real(words[2])) relation.right = *number;
    for (const std::string_view side : {words[0], words[2]}) {
      if (!is_number(side) && (side == words[0] || !to_real(side)))
        return error("'{}' is no parameter variable that is a number", side);
    }
    claim_.relations.push_back(std::move(relation));
    return {};
  }

  Status read_entry(const std::vector<std::string_view>& words) {
    ClaimEntry entry{std::string(words[0]), false, {}, {}};
    const bool tensor_size = is_tensor_size(words[0]);
    const ParamSpec* spec = tensor_size ? nullptr : spec_of(axiom_, entry.name);
    if (!tensor_size && spec == nullptr)
      return error("'{}' is no parameter variable and no size of a tensor variable", words[0]);
    if (words.size() == 1) return error("'{}' has no values", words[0]);
    const bool size = tensor_size || !is_parameter(words[0]);
    for (const std::string_view word : std::span(words).subspan(1)) {
      if (word == "any") {
        entry.any = true;
      } else if (word.find("..") != std::string_view::npos) {
        REWRIGHT_CHECK(read_range(word, entry, spec));
      } else if (size) {
        const auto number = to_integer(word);
        if (!number || *number < (tensor_size ? 1 : 0)) return error("'{}' is no size", word);
        entry.values.emplace_back(*number);
      } else {
        REWRIGHT_TRY(ParamValue value, read_value(*spec, word));
        if (variable(words[0])->sort == AxiomSort::kSizes && std::holds_alternative<std::int64_t>(value))
          return error("'{}' is a number, and {} is a list", word, words[0]);
        entry.values.push_back(std::move(value));
      }
    }
    if (size && !entry.any && entry.ranges.size() + (entry.values.empty() ? 0 : 1) > 1)
      return error("{} is a size; expected one range or a list of sizes", words[0]);
    (size ? claim_.sizes : claim_.params).push_back(std::move(entry));
    return {};
  }

  /// "1..7", "0..", "_1.._4".
  Status read_range(std::string_view word, ClaimEntry& entry, const ParamSpec* spec) const {
    const std::size_t dots = word.find("..");
    const std::string_view low = word.substr(0, dots), high = word.substr(dots + 2);
    if (word.starts_with('_')) {
      const auto first = length_of(low), last = length_of(high);
      if (!first || !last || *first > *last || spec == nullptr || spec->kind != ParamKind::kSizes)
        return error("'{}' is no range of lengths of a list of sizes", word);
      for (std::int64_t length = *first; length <= *last; ++length) entry.values.push_back(sizes_of_length(length));
      return {};
    }
    ClaimRange range{to_real(low), to_real(high)};
    const bool readable = (low.empty() || range.low) && (high.empty() || range.high) && (range.low || range.high);
    if (!readable || (range.low && range.high && *range.low > *range.high))
      return error("'{}' is no range; expected LOW..HIGH, LOW.. or ..HIGH", word);
    if (spec != nullptr && spec->kind == ParamKind::kChoice)
      return error("{} is a choice and has no range", spec->name);
    entry.ranges.push_back(range);
    return {};
  }

  /// "3", "same", "[1,2]", "0.5", "_3" (a list of three sizes).
  [[nodiscard]] Result<ParamValue> read_value(const ParamSpec& spec, std::string_view word) const {
    if (word.size() >= 2 && word.starts_with('[') && word.ends_with(']')) {
      if (spec.kind != ParamKind::kInts && spec.kind != ParamKind::kSizes)
        return error("'{}' is a list, and {} is none", word, spec.name);
      REWRIGHT_TRY(Ints list, read_list(word));
      return ParamValue(std::move(list));
    }
    if (const auto length = length_of(word); length && spec.kind == ParamKind::kSizes) return sizes_of_length(*length);
    if (spec.kind == ParamKind::kReal) {
      if (const auto value = to_real(word)) return ParamValue(*value);
    }
    const auto number = to_integer(word);
    if (number && (spec.kind != ParamKind::kChoice || (*number >= 0 && *number < std::ssize(spec.choices))))
      return ParamValue(*number);
    const auto choice = std::ranges::find(spec.choices, word);
    if (choice == spec.choices.end())
      return error("'{}' is no value of {}; expected a number, a list [1,2] or one of its choices", word, spec.name);
    return ParamValue(std::int64_t{choice - spec.choices.begin()});
  }
  /// "[1,2]": the numbers between the brackets.
  [[nodiscard]] Result<Ints> read_list(std::string_view word) const {
    Ints list;
    for (std::string_view rest = word.substr(1, word.size() - 2); !rest.empty();) {
      const std::size_t comma = rest.find(',');
      const auto number = to_integer(rest.substr(0, comma));
      if (!number) return error("'{}' is no list of numbers", word);
      list.push_back(*number);
      rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
    return list;
  }

  const Axiom& axiom_;
  std::vector<std::string> parameters_;
  AxiomClaim claim_;
};

// --- a use -----------------------------------------------------------------------------------------------------------

std::string text_of(const ParamValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&value)) return real_text(*real);
  if (const auto* list = std::get_if<Ints>(&value)) return fmt::format("[{}]", fmt::join(*list, ","));
  return fmt::format("a list of {} sizes", std::get<SizeList<std::int64_t>>(value).values.size());
}

bool lies_in(double value, const ClaimRange& range) {
  return (!range.low || value >= *range.low) && (!range.high || value <= *range.high);
}
bool lies_in(const ParamValue& value, const ClaimRange& range) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return lies_in(static_cast<double>(*number), range);
  if (const auto* real = std::get_if<double>(&value)) return lies_in(*real, range);
  const auto* list = std::get_if<Ints>(&value);
  return list != nullptr &&
         std::ranges::all_of(*list, [&](std::int64_t element) { return lies_in(static_cast<double>(element), range); });
}

/// Of a list of sizes its length alone counts.
bool is_same(const ParamValue& a, const ParamValue& b) {
  const auto* first = std::get_if<SizeList<std::int64_t>>(&a);
  const auto* second = std::get_if<SizeList<std::int64_t>>(&b);
  return first != nullptr && second != nullptr ? first->values.size() == second->values.size() : a == b;
}

bool is_claimed(const ClaimEntry& entry, const ParamValue& value) {
  return entry.any || std::ranges::any_of(entry.values, [&](const ParamValue& one) { return is_same(one, value); }) ||
         std::ranges::any_of(entry.ranges, [&](const ClaimRange& range) { return lies_in(value, range); });
}

std::optional<double> number_of(const ParamBinding& binding, const std::string& name) {
  const auto found = binding.find(name);
  if (found == binding.end()) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*number);
  if (const auto* real = std::get_if<double>(&found->second)) return *real;
  return std::nullopt;
}

bool holds(double left, ClaimRelation::Kind kind, double right) {
  switch (kind) {
    case ClaimRelation::Kind::kLess: return left < right;
    case ClaimRelation::Kind::kAtMost: return left <= right;
    case ClaimRelation::Kind::kEqual: return left == right;
    case ClaimRelation::Kind::kNotEqual: return left != right;
    case ClaimRelation::Kind::kAtLeast: return left >= right;
    case ClaimRelation::Kind::kMore: break;
  }
  return left > right;
}

bool holds(const ClaimRelation& relation, const ParamBinding& binding) {
  const auto left = number_of(binding, relation.left);
  const auto* name = std::get_if<std::string>(&relation.right);
  const auto right = name != nullptr ? number_of(binding, *name) : std::get<double>(relation.right);
  return !left || !right || holds(*left, relation.kind, *right);
}

Error outside(const Axiom& axiom, const std::string& what) {
  return make_error(ErrorCode::kMismatch,
                    "{}:{}: axiom {} is not claimed for {}: its :domain is \"{}\", and the audit looks no further",
                    axiom.file, axiom.line, axiom.name, what, axiom.domain);
}

}  // namespace

const ClaimEntry* AxiomClaim::param(std::string_view name) const {
  const auto found = std::ranges::find(params, name, &ClaimEntry::name);
  return found == params.end() ? nullptr : &*found;
}

const ParamSpec* spec_of(const Axiom& axiom, const std::string& variable) {
  const auto mentions = [&](const SymbolicDim& dim) {
    return std::ranges::any_of(dim.variables(), [&](SizeVar one) { return one.text() == variable; });
  };
  const ParamSpec* in_sizes = nullptr;
  for (const AxiomTerm& term : axiom.terms) {
    for (std::size_t i = 0; i < term.params.size(); ++i) {
      const auto* whole = std::get_if<AxiomParamVariable>(&term.params[i]);
      const auto* one = std::get_if<SymbolicDim>(&term.params[i]);
      const auto* list = std::get_if<std::vector<SymbolicDim>>(&term.params[i]);
      if (!(whole && whole->name == variable) && !(one && mentions(*one)) &&
          !(list && std::ranges::any_of(*list, mentions)))
        continue;
      const ParamSpec& spec = term.op->info().params[i];
      if (spec.kind != ParamKind::kSizes) return &spec;
      if (!in_sizes) in_sizes = &spec;
    }
  }
  return in_sizes;
}

Result<AxiomClaim> read_claim(const Axiom& axiom) {
  if (axiom.domain.empty()) return AxiomClaim();
  return ClaimReader(axiom).run();
}

Status check_claim(const Axiom& axiom, const AxiomClaim& claim, const ParamBinding& binding) {
  for (const ClaimEntry& entry : claim.params) {
    const auto found = binding.find(entry.name);
    if (found != binding.end() && !is_claimed(entry, found->second))
      return outside(axiom, fmt::format("{} = {}", entry.name, text_of(found->second)));
  }
  for (const ClaimRelation& relation : claim.relations) {
    if (holds(relation, binding)) continue;
    std::string values;
    for (const auto& [name, value] : binding) {
      const auto* right = std::get_if<std::string>(&relation.right);
      if (name == relation.left || (right != nullptr && name == *right))
        values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", name, text_of(value));
    }
    return outside(axiom, values);
  }
  return {};
}

std::vector<Constraint> size_constraints(const AxiomClaim& claim) {
  std::vector<Constraint> constraints;
  for (const ClaimEntry& entry : claim.sizes) {
    if (entry.any) continue;
    const SymbolicDim size = SymbolicDim::variable(SizeVar::read(entry.name));
    if (entry.ranges.empty()) {
      SymbolicDim product(1);
      for (const ParamValue& value : entry.values)
        product = product * (size - SymbolicDim(std::get<std::int64_t>(value)));
      constraints.push_back({Constraint::Kind::kEqual, product, SymbolicDim(0)});
      continue;
    }
    // The reader lets one range through.
    const auto [low, high] = entry.ranges.front();
    if (low)
      constraints.push_back(
          {Constraint::Kind::kAtLeast, size, SymbolicDim(static_cast<std::int64_t>(std::ceil(*low)))});
    if (high)
      constraints.push_back(
          {Constraint::Kind::kAtLeast, SymbolicDim(static_cast<std::int64_t>(std::floor(*high))), size});
  }
  return constraints;
}

}  // namespace rewright
