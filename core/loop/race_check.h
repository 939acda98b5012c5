// Which iterations have touched an element, and whether their order matters.
//
// A context is the stack of the parallel loops at a place: of each the run of the loop, and the iteration. Two contexts
// are concurrent if the first pair in which they differ is one run in two iterations. Of an element are kept the last
// context that wrote it and two that read it since, of which the second is concurrent with the first: whatever writes
// it next is concurrent with one of the two if it is so with any.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace rewright::loop {

class RaceCheck {
 public:
  void enter_loop() { stack_.push_back({++runs_, 0}); }
  void set_iteration(std::int64_t iteration) {
    stack_.back().second = iteration;
    is_new_ = true;
  }
  void leave_loop() {
    stack_.pop_back();
    is_new_ = true;
  }

  [[nodiscard]] bool is_inside() const { return !stack_.empty(); }

  struct Touched {
    std::int32_t writer = -1;
    std::int32_t reader = -1;
    std::int32_t other_reader = -1;
  };
  /// False if it conflicts with what another iteration does.
  bool read(Touched& element) {
    const std::int32_t now = context();
    if (are_concurrent(element.writer, now)) return false;
    if (element.reader < 0 || is_over(element.reader)) {
      element.reader = now;
      element.other_reader = -1;
    } else if (element.other_reader < 0 && are_concurrent(element.reader, now)) {
      element.other_reader = now;
    }
    return true;
  }
  bool write(Touched& element) {
    const std::int32_t now = context();
    for (const std::int32_t before : {element.writer, element.reader, element.other_reader}) {
      if (are_concurrent(before, now)) return false;
    }
    element = {now, -1, -1};
    return true;
  }

 private:
  using Context = std::vector<std::pair<std::int64_t, std::int64_t>>;

  std::int32_t context() {
    if (is_new_) {
      contexts_.push_back(stack_);
      is_new_ = false;
    }
    return static_cast<std::int32_t>(contexts_.size()) - 1;
  }
  [[nodiscard]] bool are_concurrent(std::int32_t a, std::int32_t b) const {
    if (a < 0 || b < 0 || a == b) return false;
    const Context &m = contexts_[static_cast<std::size_t>(a)], &n = contexts_[static_cast<std::size_t>(b)];
    for (std::size_t i = 0; i < m.size() && i < n.size(); ++i) {
      if (m[i].first != n[i].first) return false;
      if (m[i].second != n[i].second) return true;
    }
    return false;
  }
  /// Is the outermost parallel loop of a context another run than now's?
  [[nodiscard]] bool is_over(std::int32_t context) const {
    const Context& m = contexts_[static_cast<std::size_t>(context)];
    return m.empty() || stack_.empty() || m[0].first != stack_[0].first;
  }

  Context stack_;
  std::vector<Context> contexts_;
  std::int64_t runs_ = 0;
  bool is_new_ = true;
};

}  // namespace rewright::loop
