#include "c_registers.h"

#include <fmt/format.h>

#include <iterator>

namespace rewright::c {

void Registers::touch(BufferId buffer, std::optional<std::int64_t> first, Piece piece) {
  const auto at = uses_.find(buffer.value);
  if (settled_ || at == uses_.end()) return;
  Uses& uses = at->second;
  if (!first) {
    uses.is_known = false;
  } else if (!piece.is_vector) {
    uses.numbers.insert(*first);
  } else {
    uses.is_known &= uses.vectors.emplace(*first, piece).first->second == piece;
  }
}

void Registers::settle() {
  settled_ = true;
  for (const auto& [buffer, uses] : uses_) {
    bool fits = uses.is_known;
    std::int64_t end = 0;
    for (const auto& [first, piece] : uses.vectors) {
      fits &= first >= end;
      end = first + piece.count;
    }
    std::map<std::int64_t, Piece> pieces = uses.vectors;
    for (const std::int64_t number : uses.numbers) {
      const auto after = uses.vectors.upper_bound(number);
      const bool is_inside =
          after != uses.vectors.begin() && number < std::prev(after)->first + std::prev(after)->second.count;
      if (!is_inside) pieces.emplace(number, Piece{});
    }
    if (fits && pieces.size() <= kMostPieces) pieces_.emplace(buffer, std::move(pieces));
  }
}

std::string Registers::element(const std::string& name, BufferId buffer, std::int64_t at) const {
  const auto piece = std::prev(pieces(buffer).upper_bound(at));
  const std::string variable = fmt::format("{}_{}", name, piece->first);
  return piece->second.is_vector ? fmt::format("{}[{}]", variable, at - piece->first) : variable;
}

}  // namespace rewright::c
