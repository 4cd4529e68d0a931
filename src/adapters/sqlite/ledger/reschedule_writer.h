// Moves the due times of waiting deliveries forward after a change of the webhook's retry policy.
// Reads in the order of the due index: a moved delivery ends up before the current position, so
// each one is visited once. Store thread only.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// Must be destroyed before the session.
class RescheduleWriter {
 public:
  [[nodiscard]] static Result<RescheduleWriter> open(Writer::Session& session);

  /// Call within a transaction.
  [[nodiscard]] Result<BroughtForward> step(const BringForward& order);

 private:
  explicit RescheduleWriter(Writer::Session& session) : session_(&session) {}

  [[nodiscard]] Result<std::vector<Delivery>> page(std::int64_t lane, const BringForward& order);

  Writer::Session* session_;
  Statement page_;
  Statement move_;
  Statement unmark_;
};

/// The SQL of this read, so that a test can check the query plan.
[[nodiscard]] std::vector<std::string_view> rescheduling_queries();

}  // namespace postrider::sqlite
