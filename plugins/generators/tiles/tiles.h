// Generators for sums of products.
#pragma once

#include <rewright/tune/generator.h>

#include <memory>

[[nodiscard]] std::unique_ptr<rewright::Generator> register_tiles();
[[nodiscard]] std::unique_ptr<rewright::Generator> projective_tiles();
[[nodiscard]] std::unique_ptr<rewright::Generator> placed_tiles();
