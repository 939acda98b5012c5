// Parameters with other sizes: symbolic ones from numbers, numbers from symbolic ones.
#pragma once

#include <rewright/operator/params.h>

#include <functional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rewright {

/// function(size) for each size of a size list, in order; a value of another kind as it is.
template <class From, class Function>
[[nodiscard]] auto map_sizes(const BasicParamValue<From>& value, Function&& function) {
  using To = std::remove_cvref_t<std::invoke_result_t<Function&, const From&>>;
  return std::visit(
      [&]<class Value>(const Value& given) -> BasicParamValue<To> {
        if constexpr (std::is_same_v<Value, SizeList<From>>) {
          SizeList<To> sizes;
          sizes.values.reserve(given.values.size());
          for (const From& size : given.values) sizes.values.push_back(function(size));
          return sizes;
        } else {
          return given;
        }
      },
      value);
}
template <class From, class Function>
[[nodiscard]] auto map_sizes(const BasicParams<From>& params, Function&& function) {
  using To = std::remove_cvref_t<std::invoke_result_t<Function&, const From&>>;
  std::vector<BasicParamValue<To>> values;
  values.reserve(params.size());
  for (const auto& value : params.values()) values.push_back(map_sizes<From>(value, function));
  return BasicParams<To>(std::move(values));
}

}  // namespace rewright
