// Variables of sizes: a tensor's size along an axis, or a number that a pattern names.
#pragma once

#include <rewright/base/visibility.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rewright {

/// "x.0" is the size of x along axis 0; "n" is the number that a rule, an axiom or a caller calls n. Text is read and
/// written at the ends alone: a variable is the address of its one entry, which lasts as long as the program.
class REWRIGHT_API SizeVar {
 public:
  /// The size of a tensor along an axis, or the element of a list at a place: both have numbers and, in axioms, names.
  [[nodiscard]] static SizeVar axis(std::string_view tensor, std::int64_t axis);
  [[nodiscard]] static SizeVar axis(std::string_view tensor, std::string_view axis);
  /// Reads what text() gives.
  [[nodiscard]] static SizeVar read(std::string_view text);

  [[nodiscard]] const std::string& text() const { return entry_->text; }
  /// Is it the size of a tensor, or an element of a list?
  [[nodiscard]] bool is_axis() const { return entry_->tensor.size() < entry_->text.size(); }
  /// The tensor's name; of another variable its own.
  [[nodiscard]] const std::string& tensor() const { return entry_->tensor; }
  /// -1 where there is none, or it has a name.
  [[nodiscard]] std::int64_t axis() const { return entry_->axis; }
  /// "0" of "x.0", "a" of "x.a"; empty where there is none.
  [[nodiscard]] std::string_view axis_text() const {
    return is_axis() ? std::string_view(entry_->text).substr(entry_->tensor.size() + 1) : std::string_view();
  }

  friend bool operator==(SizeVar a, SizeVar b) { return a.entry_ == b.entry_; }
  /// By text, so that what is printed in this order does not depend on what was read first.
  friend std::strong_ordering operator<=>(SizeVar a, SizeVar b) {
    return a.entry_ == b.entry_ ? std::strong_ordering::equal : a.text() <=> b.text();
  }

 private:
  friend struct std::hash<SizeVar>;
  struct Entry {
    std::string text;
    std::string tensor;
    std::int64_t axis = -1;
  };
  explicit SizeVar(const Entry& entry) : entry_(&entry) {}
  const Entry* entry_;
};

}  // namespace rewright

template <>
struct std::hash<rewright::SizeVar> {
  std::size_t operator()(rewright::SizeVar variable) const { return std::hash<const void*>()(variable.entry_); }
};
