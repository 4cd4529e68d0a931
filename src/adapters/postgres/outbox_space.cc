#include "adapters/postgres/outbox_space.h"

#include "core/base/assert.h"

namespace postrider::postgres {

SpacePlan plan_space(const BucketState& state) {
  POSTRIDER_ASSERT(state.current >= 0 && state.current < bucket_count);
  const auto rows_of = [&](int bucket) { return state.rows[static_cast<std::size_t>(bucket)]; };
  SpacePlan plan;
  int current = state.current;
  const int next = (current + 1) % bucket_count;
  const bool is_old = rows_of(current) > 0 && state.age >= bucket_age;
  if (rows_of(next) == 0 && (is_old || rows_of(current) >= bucket_rows)) {
    plan.next_bucket = next;
    current = next;
  }
  for (int bucket = 0; bucket < bucket_count; ++bucket) {
    if (bucket != current && rows_of(bucket) > 0) {
      plan.to_empty.push_back(bucket);
    }
  }
  return plan;
}

}  // namespace postrider::postgres
