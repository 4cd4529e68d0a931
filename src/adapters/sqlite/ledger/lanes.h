// What waits: the pages of a lane and the backlog of all of them. Reads through the partial indexes
// only, so that a million waiting deliveries cost no more than the few that are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// Prepared on one session of the writer, and gone before that session is.
class Lanes {
 public:
  [[nodiscard]] static Result<Lanes> open(Writer::Session& session);

  [[nodiscard]] Result<LanePage> load(const LoadLane& query);

  /// An order is asked of this lane for the first time: its deliveries are not in the index yet.
  [[nodiscard]] Result<bool> needs_order(const LoadLane& query);
  /// Puts them there, now and in future. Within a transaction.
  [[nodiscard]] Result<void> put_in_order(WebhookId id);

  /// In order of the lanes' numbers.
  [[nodiscard]] Result<std::vector<LaneBacklog>> backlog();

 private:
  /// The first waiting delivery of one event type.
  struct Head {
    std::int64_t type = 0;
    std::int64_t sequence = 0;
    WallTime due;
  };

  explicit Lanes(Writer::Session& session) : session_(&session) {}

  [[nodiscard]] Result<LanePage> by_due_time(std::int64_t lane, const LoadLane& query);
  [[nodiscard]] Result<LanePage> by_sequence(std::int64_t lane, std::uint32_t limit);
  [[nodiscard]] Result<LanePage> by_type(std::int64_t lane, std::uint32_t limit);
  [[nodiscard]] Result<std::vector<Head>> heads(std::int64_t lane);
  [[nodiscard]] Result<std::optional<WallTime>> earliest_due(std::int64_t lane);

  Writer::Session* session_;
  Statement due_page_;
  Statement next_head_;
  Statement type_page_;
  Statement next_lane_;
  Statement first_due_;
  Statement put_in_order_;
};

/// The SQL behind it, so that a test can look at how it is answered.
[[nodiscard]] std::vector<std::string_view> lane_queries();

}  // namespace postrider::sqlite
