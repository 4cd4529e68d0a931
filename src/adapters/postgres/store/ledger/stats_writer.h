// Writes the statistics of a node. Store thread only.
//
// Every open store has rows of its own in webhook_stats and tenant_stats, so that nodes do not wait
// for each other. Their contents are known, so they are written without being read.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/base/ids.h"

#include "adapters/postgres/store/database/joined_statement.h"
#include "adapters/postgres/store/ledger/stats_changes.h"

namespace postrider::postgres {

class StatsWriter {
 public:
  /// `base` is random and used by no other writer.
  explicit StatsWriter(const Uuid& base) : base_(base) {}

  /// Adds what writes `changes`.
  void add_to(JoinedStatement& joined, const StatsChanges& changes);
  /// Call after the commit of what was added.
  void remember();
  /// Call after a failed transaction: it is unknown which rows are stored. New rows are written
  /// from then on.
  void start_new_rows();

 private:
  void add_webhooks(JoinedStatement& joined, const WebhookStats& changes);
  void add_tenants(JoinedStatement& joined, const TenantStats& changes);
  [[nodiscard]] Uuid writer() const;
  [[nodiscard]] std::string_view pack(const DeliveryTally& tally);

  Uuid base_;
  std::uint32_t generation_ = 0;  // Of the rows: part of their writer.
  std::int64_t newest_span_ = std::numeric_limits<std::int64_t>::min();
  WebhookStats webhooks_;  // The rows as stored.
  TenantStats tenants_;
  WebhookStats new_webhooks_;  // The rows as they will be stored.
  TenantStats new_tenants_;
  std::string packed_;  // A member to reuse its memory.
};

}  // namespace postrider::postgres
