// Transforms of the loops and buffers that a program has, most of which apply.
#pragma once

#include <rewright/schedule/transform.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schedule/apply.h"
#include "support/random_definitions.h"

namespace test_support {

class RandomTransforms {
 public:
  explicit RandomTransforms(std::uint64_t seed) : random_(seed) {}

  schedule::Transform next(const loop::Program& program) {
    using namespace schedule;
    names_.clear();
    collect(program.body);
    if (std::exchange(is_first_, false) && random_.one_in(2)) return Inline{temporary(program)};
    const auto any = [&] { return names_[random_.below(names_.size())]; };
    switch (random_.below(16)) {
      case 0: return Reorder{{any(), any()}};
      case 1: return Distribute{any()};
      case 2: return Mark{any(), static_cast<loop::LoopKind>(random_.below(4))};
      case 3: return Fuse{any(), any()};
      case 4: return Cache{buffer(program), any(), new_name("copy")};
      case 5: return ComputeAt{temporary(program), any(), new_name("made")};
      case 6:
      case 7: return CacheWrite{buffer(program), any(), new_name("tile")};
      case 8: return ReductionFactor{any(), new_name("part")};
      case 9: return pack(program);
      case 10: return Inline{temporary(program)};
      case 11: return tensorise(program);
      default: return Split{any(), random_.between(1, 4), static_cast<Tail>(random_.below(5))};
    }
  }

 private:
  void collect(const loop::Body& body) {
    for (const loop::Statement& statement : body) {
      if (statement.loop() != nullptr) names_.push_back(*loop::parse_loop_name(statement.loop()->axis.name));
      collect(body_of(statement));
    }
  }
  std::string new_name(const char* stem) { return stem + std::to_string(copies_++); }
  std::string buffer(const loop::Program& program) {
    return program.buffers[random_.below(program.buffers.size())].name;
  }
  std::string temporary(const loop::Program& program) {
    std::vector<std::string> temporaries = {"none"};
    for (const Buffer& each : program.buffers)
      if (each.role == BufferRole::kTemporary) temporaries.push_back(each.name);
    return random_.pick(temporaries);
  }
  /// Of a loop that holds a tile, if there is one.
  schedule::Tensorise tensorise(const loop::Program& program) {
    using namespace schedule;
    for (const LoopName& name : names_) {
      for (const RegisterTile tile : {RegisterTile::kOuterProduct, RegisterTile::kProducts}) {
        const Tensorise found{name, tile};
        if (std::holds_alternative<loop::Program>(schedule::apply(program, found))) return found;
      }
    }
    return {random_.pick(names_), RegisterTile::kProducts};
  }
  schedule::Pack pack(const loop::Program& program) {
    using Kind = schedule::LayoutPart::Kind;
    schedule::Pack pack{buffer(program), new_name("packed"), {}, random_.one_in(2)};
    const std::size_t rank = program.buffers[place_of(program, pack.buffer)].sizes.size();
    for (std::size_t d = 0; d < rank; ++d) {
      if (random_.one_in(2)) {
        pack.parts.push_back({d});
        continue;
      }
      const std::int64_t factor = random_.between(1, 3);
      pack.parts.push_back({d, Kind::kBlock, factor});
      pack.parts.push_back({d, Kind::kInBlock, factor});
    }
    for (std::size_t p = pack.parts.size(); p > 1; --p) std::swap(pack.parts[p - 1], pack.parts[random_.below(p)]);
    return pack;
  }
  static std::size_t place_of(const loop::Program& program, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(program.buffers, name, &Buffer::name) - program.buffers.begin());
  }

  Random random_;
  std::vector<schedule::LoopName> names_;
  int copies_ = 0;
  bool is_first_ = true;  ///< What sums and the like are computed from can be inlined best before all else.
};

}  // namespace test_support
