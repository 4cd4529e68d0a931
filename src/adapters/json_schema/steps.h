// How the work of a validation is counted. A step is about 10 ns of a release build.
#pragma once

#include <cstdint>

#include "ports/schema_check.h"

namespace postrider::json_schema {

constexpr std::uint64_t bytes_per_step = 8;  // Of text that is scanned, copied or compared.

/// Thrown by spend; caught by the SchemaCheck that started the work.
struct OutOfSteps {};

inline void spend(StepBudget& budget, std::uint64_t steps) {
  if (!budget.spend(steps)) {
    throw OutOfSteps{};
  }
}

}  // namespace postrider::json_schema
