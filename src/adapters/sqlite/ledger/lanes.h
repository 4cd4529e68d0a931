// Reads waiting deliveries: pages of one lane, and the backlog of all lanes. Uses only the partial
// indexes of waiting deliveries, so the cost depends on the rows read, not on how many wait. Store
// thread only, except for the count.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// Must be destroyed before the session.
class Lanes {
 public:
  [[nodiscard]] static Result<Lanes> open(Writer::Session& session);

  [[nodiscard]] Result<LanePage> load(const LoadLane& query);

  /// True if the query needs the order index and the lane's deliveries are not in it yet.
  [[nodiscard]] Result<bool> needs_order_index(const LoadLane& query);
  /// Adds the lane's current and future deliveries to the order index. Call within a transaction.
  [[nodiscard]] Result<void> build_order_index(WebhookId id);

  /// Ordered by lane number.
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
  [[nodiscard]] Result<std::vector<Head>> load_heads(std::int64_t lane);
  [[nodiscard]] Result<std::optional<WallTime>> earliest_due(std::int64_t lane);

  Writer::Session* session_;
  Statement due_page_;
  Statement next_head_;
  Statement type_page_;
  Statement next_lane_;
  Statement first_due_;
  Statement build_order_index_;
};

/// See Ledger::count_waiting. Any thread.
[[nodiscard]] Result<TenantCounts> count_waiting(Database& database);

/// The SQL of these reads, so that a test can check the query plans.
[[nodiscard]] std::vector<std::string_view> lane_queries();

}  // namespace postrider::sqlite
