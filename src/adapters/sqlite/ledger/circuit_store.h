// Writes the circuits of a batch, and reads the attempts that a circuit counts after a restart.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "ports/ledger.h"

#include "adapters/sqlite/database/writer.h"

namespace postrider::sqlite {

/// Must be destroyed before the session. Store thread only.
class CircuitStore {
 public:
  [[nodiscard]] static Result<CircuitStore> open(Writer::Session& session);

  /// Ignores unknown webhooks. Call within a transaction.
  [[nodiscard]] Result<void> save(const SaveCircuit& circuit);

  /// See Ledger::recent_calls. Follows the chain of the lane's attempts; does not fill the cache of
  /// lanes, because it is called for every webhook.
  [[nodiscard]] Result<std::vector<PastCall>> recent_calls(WebhookId id,
                                                           const CallsToRestore& which);

 private:
  explicit CircuitStore(Writer::Session& session) : session_(&session) {}

  Writer::Session* session_;
  Statement save_;
  Statement save_period_;
  Statement recent_calls_;
};

/// The same, of any connection.
[[nodiscard]] Result<std::vector<PastCall>> read_recent_calls(Database& database, WebhookId id,
                                                              const CallsToRestore& which);

}  // namespace postrider::sqlite
