// The idempotency keys of a batch's publishes. Store thread only.
//
// The keys in use are read without a lock. Another node may take a key meanwhile: then the insert
// fails with a duplicate key, and the transaction is run again.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/time.h"
#include "ports/claims.h"

#include "adapters/postgres/store/database/joined_statement.h"

namespace postrider::postgres {

/// `publishes` must outlive this object.
class ClaimKeys {
 public:
  explicit ClaimKeys(std::span<const Publish> publishes);

  void queue_read(Session& session);
  void take(const std::vector<Rows>& answers);

  /// The claim on the key, from the store or from an earlier publish of the batch.
  [[nodiscard]] std::optional<StoredClaim> find(std::string_view tenant_id,
                                                std::string_view key) const;
  /// Records that the publish claims its key. Does nothing if it has no key.
  void hold(const Publish& publish);

  /// Queues the removal of the expired claims that are replaced. Goes before `add_to`.
  void queue_removal(Session& session) const;
  /// Returns the number of new claims.
  std::size_t add_to(JoinedStatement& joined) const;

 private:
  using Key = std::pair<std::string_view, std::string_view>;  // Tenant and key.
  struct Use {
    std::optional<StoredClaim> stored;
    const Publish* holder = nullptr;  // Of this batch.
  };

  std::map<Key, Use> uses_;  // In the order in which all transactions write them.
  std::optional<std::size_t> answer_;
};

/// Queues the removal of at most `limit` claims that have expired at `now`.
void queue_claim_cleanup(Session& session, WallTime now, std::size_t limit);

}  // namespace postrider::postgres
