// Parameters: filling in defaults, text form, conversion between numbers, cuts and symbolic sizes.
#include <rewright/operator/map_sizes.h>
#include <rewright/operator/params.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tensor/real.h"

namespace rewright {

namespace {

std::string wanted(const ParamSpec& spec) {
  switch (spec.kind) {
    case ParamKind::kInt: return "an integer";
    case ParamKind::kInts: return "a list of integers";
    case ParamKind::kSizes: return "a list of sizes";
    case ParamKind::kChoice: return fmt::format("one of {}", fmt::join(spec.choices, ", "));
    case ParamKind::kReal: break;
  }
  return "a number";
}

std::string names_of(std::span<const ParamSpec> specs) {
  if (specs.empty()) return "it takes none";
  std::vector<std::string> names;
  for (const ParamSpec& spec : specs) names.push_back(spec.name);
  return fmt::format("it takes {}", fmt::join(names, ", "));
}

Error unknown_param(std::string_view op, std::string_view name, std::span<const ParamSpec> specs) {
  return make_error(ErrorCode::kUsage, "{}: has no parameter '{}'; {}", op, name, names_of(specs));
}

Result<std::int64_t> choice_of(std::string_view op, const ParamSpec& spec, std::string_view name) {
  const auto place = std::find(spec.choices.begin(), spec.choices.end(), name);
  if (place == spec.choices.end()) {
    return make_error(ErrorCode::kUsage, "{}: parameter '{}' is '{}', but must be {}", op, spec.name, name,
                      wanted(spec));
  }
  return static_cast<std::int64_t>(place - spec.choices.begin());
}

Result<ParamValue> value_of(std::string_view op, const ParamSpec& spec, const NamedParam& param) {
  const auto mismatch = [&] {
    return make_error(ErrorCode::kUsage, "{}: parameter '{}' must be {}", op, spec.name, wanted(spec));
  };
  const auto* integer = std::get_if<std::int64_t>(&param.value);
  const auto* real = std::get_if<double>(&param.value);
  const auto* list = std::get_if<std::vector<std::int64_t>>(&param.value);
  const auto* text = std::get_if<std::string>(&param.value);
  switch (spec.kind) {
    case ParamKind::kInt:
      if (integer) return ParamValue(*integer);
      return mismatch();
    case ParamKind::kInts:
      if (list) return ParamValue(*list);
      return mismatch();
    case ParamKind::kSizes:
      if (list) return ParamValue(SizeList<std::int64_t>{*list});
      return mismatch();
    case ParamKind::kReal:
      if (real) return ParamValue(*real);
      if (integer) return ParamValue(static_cast<double>(*integer));
      if (text) {
        if (const auto number = parse_real(*text)) return ParamValue(*number);
      }
      return mismatch();
    case ParamKind::kChoice:
      if (text) {
        REWRIGHT_TRY(const std::int64_t choice, choice_of(op, spec, *text));
        return ParamValue(choice);
      }
      if (integer && *integer >= 0 && *integer < static_cast<std::int64_t>(spec.choices.size()))
        return ParamValue(*integer);
      break;
  }
  return mismatch();
}

}  // namespace

Result<Params> make_params(std::string_view operator_name, std::span<const ParamSpec> specs,
                           std::span<const NamedParam> named) {
  for (const NamedParam& param : named) {
    if (std::none_of(specs.begin(), specs.end(), [&](const ParamSpec& spec) { return spec.name == param.name; })) {
      return unknown_param(operator_name, param.name, specs);
    }
  }
  std::vector<ParamValue> values;
  for (const ParamSpec& spec : specs) {
    const auto given =
        std::find_if(named.begin(), named.end(), [&](const NamedParam& param) { return param.name == spec.name; });
    if (given != named.end()) {
      REWRIGHT_TRY(ParamValue value, value_of(operator_name, spec, *given));
      values.push_back(std::move(value));
    } else if (spec.required) {
      return make_error(ErrorCode::kUsage, "{}: parameter '{}' is missing; it must be {}", operator_name, spec.name,
                        wanted(spec));
    } else {
      values.push_back(spec.default_value);
    }
  }
  return Params(std::move(values));
}

SymbolicParams to_symbolic(const Params& params) {
  return map_sizes(params, [](std::int64_t size) { return SymbolicDim(size); });
}

BasicParams<CutDim> to_cut(const Params& params) {
  return map_sizes(params, [](std::int64_t size) { return CutDim(size); });
}

std::optional<Params> evaluate(const SymbolicParams& params, const DimBinding& binding) {
  bool bound = true;
  auto numbers = map_sizes(params, [&](const SymbolicDim& size) {
    const auto value = size.evaluate(binding);
    bound = bound && value.has_value();
    return value.value_or(0);
  });
  if (!bound) return std::nullopt;
  return numbers;
}

// --- text --------------------------------------------------------------------------------------------------------

namespace {

std::string size_text(std::int64_t size) { return std::to_string(size); }
std::string size_text(const SymbolicDim& size) { return to_string(size); }

template <class Dim>
std::string value_text(const ParamSpec& spec, const BasicParamValue<Dim>& value) {
  switch (spec.kind) {
    case ParamKind::kInt: return std::to_string(std::get<0>(value));
    case ParamKind::kChoice: return spec.choices[static_cast<std::size_t>(std::get<0>(value))];
    case ParamKind::kReal: return real_text(std::get<1>(value));
    case ParamKind::kInts: return fmt::format("[{}]", fmt::join(std::get<2>(value), ", "));
    case ParamKind::kSizes: {
      std::vector<std::string> sizes;
      for (const Dim& size : std::get<3>(value).values) sizes.push_back(size_text(size));
      return fmt::format("[{}]", fmt::join(sizes, ", "));
    }
  }
  return {};
}

template <class Dim>
std::string params_text(std::span<const ParamSpec> specs, const BasicParams<Dim>& params) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < specs.size() && i < params.size(); ++i) {
    const std::string text = value_text<Dim>(specs[i], params[i]);
    if (!specs[i].required && text == value_text<std::int64_t>(specs[i], specs[i].default_value)) continue;
    parts.push_back(specs[i].name + "=" + text);
  }
  return parts.empty() ? std::string() : fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Splits at commas that stand outside brackets and parentheses.
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  if (trim(text).empty()) return parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    } else if (text[i] == '[' || text[i] == '(') {
      ++depth;
    } else if (text[i] == ']' || text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<BasicParamValue<SymbolicDim>> parse_value(std::string_view op, const ParamSpec& spec, std::string_view text) {
  const auto mismatch = [&] {
    return make_error(ErrorCode::kParse, "{}: parameter '{}' is '{}', but must be {}", op, spec.name, text,
                      wanted(spec));
  };
  const auto list_body = [&]() -> std::optional<std::string_view> {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
    return text.substr(1, text.size() - 2);
  };
  switch (spec.kind) {
    case ParamKind::kInt:
      if (const auto value = number_of<std::int64_t>(text)) return BasicParamValue<SymbolicDim>(*value);
      break;
    case ParamKind::kReal:
      if (const auto value = parse_real(text))
        return BasicParamValue<SymbolicDim>(*value);
      else if (text.find('/') != std::string_view::npos)
        return make_error(ErrorCode::kParse, "{}: parameter '{}': {}", op, spec.name, value.error().message);
      break;
    case ParamKind::kChoice: {
      REWRIGHT_TRY(const std::int64_t choice, choice_of(op, spec, text));
      return BasicParamValue<SymbolicDim>(choice);
    }
    case ParamKind::kInts: {
      const auto body = list_body();
      if (!body) return mismatch();
      std::vector<std::int64_t> values;
      for (const std::string_view part : split_list(*body)) {
        const auto value = number_of<std::int64_t>(part);
        if (!value) return mismatch();
        values.push_back(*value);
      }
      return BasicParamValue<SymbolicDim>(std::move(values));
    }
    case ParamKind::kSizes: {
      const auto body = list_body();
      if (!body) return mismatch();
      SizeList<SymbolicDim> sizes;
      for (const std::string_view part : split_list(*body)) {
        REWRIGHT_TRY(SymbolicDim size, SymbolicDim::parse(part));
        sizes.values.push_back(std::move(size));
      }
      return BasicParamValue<SymbolicDim>(std::move(sizes));
    }
  }
  return mismatch();
}

}  // namespace

std::string to_string(std::span<const ParamSpec> specs, const Params& params) { return params_text(specs, params); }
std::string to_string(std::span<const ParamSpec> specs, const SymbolicParams& params) {
  return params_text(specs, params);
}

Result<SymbolicParams> parse_params(std::string_view operator_name, std::span<const ParamSpec> specs,
                                    std::string_view text) {
  text = trim(text);
  if (!text.empty() && (text.size() < 2 || text.front() != '[' || text.back() != ']')) {
    return make_error(ErrorCode::kParse, "{}: parameters '{}' must stand in [ ]", operator_name, text);
  }
  std::vector<std::optional<BasicParamValue<SymbolicDim>>> given(specs.size());
  for (const std::string_view part : split_list(text.empty() ? text : text.substr(1, text.size() - 2))) {
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos) {
      return make_error(ErrorCode::kParse, "{}: found '{}' among the parameters, expected name=value", operator_name,
                        part);
    }
    const std::string_view name = trim(part.substr(0, sign));
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const ParamSpec& s) { return s.name == name; });
    if (spec == specs.end()) return unknown_param(operator_name, name, specs);
    auto& slot = given[static_cast<std::size_t>(spec - specs.begin())];
    if (slot) return make_error(ErrorCode::kParse, "{}: parameter '{}' is given twice", operator_name, name);
    REWRIGHT_TRY(auto value, parse_value(operator_name, *spec, trim(part.substr(sign + 1))));
    slot = std::move(value);
  }
  std::vector<BasicParamValue<SymbolicDim>> values;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!given[i] && specs[i].required) {
      return make_error(ErrorCode::kParse, "{}: parameter '{}' is missing; it must be {}", operator_name, specs[i].name,
                        wanted(specs[i]));
    }
    values.push_back(given[i] ? std::move(*given[i]) : to_symbolic(Params({specs[i].default_value}))[0]);
  }
  return SymbolicParams(std::move(values));
}

}  // namespace rewright
