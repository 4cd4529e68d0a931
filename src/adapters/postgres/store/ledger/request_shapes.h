// The stored shapes of requests. An attempt refers to the shape of its request by a number.
//
// A shape is stored with the first attempt that has it. It is retired when another shape replaces
// it or its webhook is removed; then only deliveries below a known sequence (`named_below`) can
// refer to it. When all of those have been removed, the shape can be removed too. Another node may
// retire a shape at any time, so every batch reads what it uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "engine/shard/messages.h"
#include "ports/vault.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

/// Store thread only.
class RequestShapes {
 public:
  /// `vault` may be null.
  explicit RequestShapes(std::shared_ptr<const Vault> vault);
  ~RequestShapes();
  RequestShapes(RequestShapes&&) noexcept;
  RequestShapes& operator=(RequestShapes&&) noexcept;

  /// Begins a transaction. Queues the read of the shapes that the settlements may have.
  void queue_reads(Session& session, const std::vector<Settlement>& settlements);
  /// Reads more if a shape that was used before has been retired.
  [[nodiscard]] Result<void> take(Session& session, const std::vector<Rows>& answers,
                                  const std::vector<Settlement>& settlements);

  /// The number of the settlement's shape; zero if it has none. Chooses the number of a new shape.
  [[nodiscard]] std::uint32_t number_of(const Settlement& settlement);
  /// Queues the statements that store new shapes and retire old ones.
  void queue_writes(Session& session);
  /// Call after the commit.
  void remember();
  /// Call after a failed transaction: it is unknown which shapes are stored.
  void forget() { known_.clear(); }

 private:
  struct StoredShape;
  struct OfWebhook;
  /// The shape that a webhook had last. Only a hint: it may have been retired.
  struct Known {
    RequestShapeRef shape;
    std::uint32_t number = 0;
  };

  void read(const Rows& rows);
  [[nodiscard]] std::vector<WebhookId> outdated(const std::vector<Settlement>& settlements) const;

  std::shared_ptr<const Vault> vault_;
  std::unordered_map<WebhookId, Known> known_;
  std::optional<std::size_t> answer_;
  std::map<WebhookId, OfWebhook> webhooks_;  // Of the transaction.
};

/// Retires the shapes of a removed webhook.
void queue_retirement(Session& session, WebhookId webhook_id);

}  // namespace postrider::postgres
