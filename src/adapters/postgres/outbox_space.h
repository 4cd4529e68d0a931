// When an outbox changes its bucket, and which buckets may be emptied. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.h"

namespace postrider::postgres {

constexpr int bucket_count = 3;

struct BucketState {
  int current = 0;                                // New rows go to this one.
  Millis age{0};                                  // Since when they do.
  std::array<std::int64_t, bucket_count> rows{};  // About. Zero: the bucket is empty.
};

struct SpacePlan {
  std::optional<int> next_bucket = std::nullopt;
  /// If all their rows are read.
  std::vector<int> to_empty;

  bool operator==(const SpacePlan&) const = default;
};

/// The next bucket is used if it is empty and the current one is large or old. So a bucket contains
/// about bucket_rows rows or those of a bucket_age, plus what arrives while the other buckets are
/// not read to the end.
constexpr std::int64_t bucket_rows = 100'000;
constexpr Millis bucket_age = std::chrono::minutes{10};

[[nodiscard]] SpacePlan plan_space(const BucketState& state);

}  // namespace postrider::postgres
