// Certificates of theorems as text.
//
//   r no | r USE*     USE := source at second numerator denominator count symbol*
//   g GROUP*          an answer about groups: counts before lists, numbers all along
//   c no | c branch MAP
#pragma once

#include <charconv>

#include "verify/theorem_arithmetic.h"

namespace rewright::certified {

inline void write(std::string& text, const Polynomial& p) {
  text += fmt::format(" {}", p.size());
  for (const auto& [monomial, coefficient] : p) {
    text += fmt::format(" {} {}", coefficient, monomial.size());
    for (const int s : monomial) text += fmt::format(" {}", s);
  }
}

class Recorder final : public Oracle {
 public:
  explicit Recorder(Oracle& oracle) : oracle_(oracle) {}
  std::optional<std::vector<FactUse>> combination(const std::vector<Fact>& facts) override {
    return written(oracle_.combination(facts));
  }
  std::optional<std::vector<FactUse>> refutation(const std::vector<Symbol>& symbols,
                                                 const std::vector<Fact>& facts) override {
    return written(oracle_.refutation(symbols, facts));
  }
  std::optional<std::vector<FactUse>> written(std::optional<std::vector<FactUse>> answer) {
    text += answer ? fmt::format("r {}", answer->size()) : "r no";
    for (const FactUse& use : answer.value_or(std::vector<FactUse>())) {
      text += fmt::format(" {} {} {} {} {} {}", use.source, use.at, use.second, use.numerator, use.denominator,
                          use.times.size());
      for (const int s : use.times) text += fmt::format(" {}", s);
    }
    text += '\n';
    return answer;
  }
  Groups groups(const std::vector<Symbol>& symbols, const std::vector<Fact>& facts, const std::vector<Term>& terms,
                Trial& trial) override {
    Groups answer = oracle_.groups(symbols, facts, terms, trial);
    text += fmt::format("g {}", answer.size());
    for (const auto& group : answer) {
      text += fmt::format(" {}", group.size());
      for (const Member& member : group) {
        text +=
            fmt::format(" {} {} {} {}", member.term, member.map.size(), member.inverse.size(), member.factors.size());
        for (const Polynomial& p : member.map) write(text, p);
        for (const Polynomial& p : member.inverse) write(text, p);
        for (const std::size_t f : member.factors) text += fmt::format(" {}", f);
      }
    }
    text += '\n';
    return answer;
  }
  std::optional<Cover> cover(const std::vector<Symbol>& symbols, const std::vector<Fact>& facts, const Branch& branch,
                             const std::vector<Branch>& others, Trial& trial) override {
    auto answer = oracle_.cover(symbols, facts, branch, others, trial);
    text += answer ? fmt::format("c {} {}", answer->branch, answer->map.size()) : "c no";
    if (answer) {
      for (const Polynomial& p : answer->map) write(text, p);
    }
    text += '\n';
    return answer;
  }
  std::string text;

 private:
  Oracle& oracle_;
};

class Reader final : public Oracle {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}
  std::optional<std::vector<FactUse>> refutation(const std::vector<Symbol>&, const std::vector<Fact>& facts) override {
    return combination(facts);
  }
  std::optional<std::vector<FactUse>> combination(const std::vector<Fact>&) override {
    begin("r");
    if (line_ == "no") {
      line_ = {};
      return std::nullopt;
    }
    std::vector<FactUse> uses(count());
    for (FactUse& use : uses) {
      const std::string_view source = word();
      if (source.size() != 1) fail_here("one letter");
      use.source = source[0];
      use.at = count();
      use.second = count();
      use.numerator = next();
      use.denominator = next();
      use.times = product_of();
    }
    end();
    return uses;
  }
  Groups groups(const std::vector<Symbol>&, const std::vector<Fact>&, const std::vector<Term>&, Trial&) override {
    begin("g");
    Groups groups(count());
    for (auto& group : groups) {
      group.resize(count());
      for (Member& member : group) {
        member.term = count();
        member.map.resize(count());
        member.inverse.resize(count());
        member.factors.resize(count());
        for (Polynomial& p : member.map) p = polynomial();
        for (Polynomial& p : member.inverse) p = polynomial();
        for (std::size_t& f : member.factors) f = count();
      }
    }
    end();
    return groups;
  }
  std::optional<Cover> cover(const std::vector<Symbol>&, const std::vector<Fact>&, const Branch&,
                             const std::vector<Branch>&, Trial&) override {
    begin("c");
    if (line_ == "no") {
      line_ = {};
      return std::nullopt;
    }
    Cover cover;
    cover.branch = count();
    cover.map.resize(count());
    for (Polynomial& p : cover.map) p = polynomial();
    end();
    return cover;
  }
  void finish() const {
    if (!rest_.empty()) refuse(fmt::format("line {}: more than the proof asks for", number_ + 1));
  }
  [[nodiscard]] int line() const { return number_; }

 private:
  static constexpr std::int64_t kMostEntries = 100'000;

  [[noreturn]] void fail_here(std::string_view what) const {
    refuse(fmt::format("line {}: {} expected", number_, what));
  }
  void begin(std::string_view kind) {
    const std::size_t end = rest_.find('\n');
    if (rest_.empty() || end == std::string_view::npos) refuse("the certificate ends before the proof does");
    ++number_;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (word() != kind) fail_here(fmt::format("an answer of kind {}", kind));
  }
  void end() const {
    if (!line_.empty()) fail_here("the end of the line");
  }
  std::string_view word() {
    const std::size_t end = std::min(line_.find(' '), line_.size());
    const std::string_view result = line_.substr(0, end);
    if (result.empty() || end + 1 == line_.size()) fail_here("a word");
    line_.remove_prefix(std::min(end + 1, line_.size()));
    return result;
  }
  std::int64_t next() {
    const std::string_view text = word();
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    // One number has one text: neither 07 nor -0.
    if (text.starts_with("-0") || (text.size() > 1 && text[0] == '0')) fail_here("a number as it is written");
    if (code != std::errc() || end != text.data() + text.size() || value == INT64_MIN) fail_here("a number");
    return value;
  }
  std::size_t count() {
    const std::int64_t value = next();
    if (value < 0 || value > kMostEntries) fail_here("a count");
    return static_cast<std::size_t>(value);
  }
  Product product_of() {
    Product result;
    for (std::size_t symbols = count(); symbols > 0; --symbols) result.push_back(count());
    return result;
  }
  Polynomial polynomial() {
    Polynomial result;
    for (std::size_t terms = count(); terms > 0; --terms) {
      const std::int64_t coefficient = next();
      if (coefficient == 0 || !result.emplace(product_of(), coefficient).second)
        fail_here("a polynomial that names each product once, with a coefficient other than 0,");
    }
    return result;
  }

  std::string_view rest_, line_;
  int number_ = 0;
};

}  // namespace rewright::certified
