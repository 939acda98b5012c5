// Keys of hash tables: what is looked up, as bytes.
#pragma once

#include <rewright/operator/params.h>
#include <rewright/tensor/dim.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rewright {

/// A key of bytes: equal for equal sequences of what is added.
class ByteKey {
 public:
  template <class Value>
  requires std::is_scalar_v<Value>
  void add(Value value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(std::string_view text) { bytes_.append(text).push_back('\0'); }
  void add(const SymbolicDim& dim) {
    add(dim.atoms().size());
    for (const SymbolicDim::Atom& atom : dim.atoms()) {
      add(std::string_view(atom.key()));
      add(atom.coefficient);
    }
    add(dim.constant_term());
  }
  template <class Element>
  void add(const std::vector<Element>& list) {
    add(list.size());
    for (const Element& element : list) add(element);
  }
  void add(const SizeList<SymbolicDim>& sizes) { add(sizes.values); }
  void add(const Constraint& constraint) {
    add(constraint.kind);
    add(constraint.left);
    add(constraint.right);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

}  // namespace rewright
