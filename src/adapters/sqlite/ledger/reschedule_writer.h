// Brings waiting deliveries forward when their webhook's retry policy changed. Reads through the
// index of what waits, in its order: a delivery that moves comes to lie behind the walk, so that
// each is looked at once.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// Prepared on one session of the writer, and gone before that session is.
class RescheduleWriter {
 public:
  [[nodiscard]] static Result<RescheduleWriter> open(Writer::Session& session);

  /// Within a transaction.
  [[nodiscard]] Result<BroughtForward> step(const BringForward& order);

 private:
  explicit RescheduleWriter(Writer::Session& session) : session_(&session) {}

  [[nodiscard]] Result<std::vector<Delivery>> page(std::int64_t lane, const BringForward& order);

  Writer::Session* session_;
  Statement page_;
  Statement move_;
  Statement unmark_;
};

/// The SQL behind it, so that a test can look at how it is answered.
[[nodiscard]] std::vector<std::string_view> rescheduling_queries();

}  // namespace postrider::sqlite
