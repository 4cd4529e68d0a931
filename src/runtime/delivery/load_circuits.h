// Restores the circuits of webhooks: those that this server begins to work, and views of others.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/policy/breaker.h"
#include "engine/intake/directory.h"
#include "ports/store.h"

namespace postrider {

struct LoadedCircuit {
  CircuitRecord record;
  std::vector<PastCall> calls;  // Those that the circuit counts.
};

/// Only webhooks whose circuit ever changed or counts a call. Reads at most the calls in each
/// circuit's window, and a limited number of all together, so that startup stays fast.
[[nodiscard]] Result<std::map<WebhookId, LoadedCircuit>> load_circuits(
    Store& store, std::span<const WebhookRef> webhooks, WallTime now);

/// For views: the stored circuits alone. Any reader thread.
[[nodiscard]] Result<std::map<WebhookId, LoadedCircuit>> read_circuits(
    History& history, const std::vector<WebhookId>& ids);
/// The same of one webhook, with the calls that its circuit counts.
[[nodiscard]] Result<LoadedCircuit> read_circuit(History& history, const Webhook& webhook,
                                                 WallTime now);

}  // namespace postrider
