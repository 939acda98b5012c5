// What a rule of a TASO file comes to.
#pragma once

#include <rewright/rule/rule.h>

#include <cstddef>
#include <string>
#include <vector>

namespace rewright {

/// What an entry says of convolutions of so many groups, where the file leaves them open.
struct TasoInstance {
  Rule rule;
  std::string groups;  ///< "1, 1 => 2": of the source's and of the target's convolutions; "" where none are open.
};

/// A rule of a file, at one choice of ranks. It is a candidate: nothing of it is proved.
struct TasoRule {
  std::size_t index = 0;                ///< In the file, from 0.
  std::vector<TasoInstance> instances;  ///< Fewest groups first; none where it cannot be put in our operators.
  std::string reason;                   ///< Why not.
};

}  // namespace rewright
