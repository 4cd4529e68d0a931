// Restores the circuits of all webhooks at startup.
#pragma once

#include <map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/webhook.h"
#include "core/policy/breaker.h"
#include "ports/store.h"

namespace postrider {

struct LoadedCircuit {
  CircuitRecord record;
  std::vector<PastCall> calls;  // Those that the circuit counts.
};

/// Only webhooks whose circuit ever changed or counts a call. Reads at most the calls in each
/// circuit's window, and a limited number of all together, so that startup stays fast.
[[nodiscard]] Result<std::map<WebhookId, LoadedCircuit>> load_circuits(
    Store& store, const std::vector<Webhook>& webhooks, WallTime now);

}  // namespace postrider
