#include "runtime/delivery/load_circuits.h"

#include <utility>

#include <spdlog/spdlog.h>

namespace postrider {
namespace {

// About one second. Ten thousand webhooks with windows of ten calls need a fifth of it.
constexpr std::size_t calls_read_max = 500'000;

}  // namespace

Result<std::map<WebhookId, LoadedCircuit>> load_circuits(Store& store,
                                                         std::span<const WebhookRef> webhooks,
                                                         WallTime now) {
  POSTRIDER_TRY(const auto records, store.catalog->load_circuits());
  std::map<WebhookId, LoadedCircuit> circuits;
  std::size_t calls_read = 0;
  std::size_t left_out = 0;
  for (const WebhookRef& webhook : webhooks) {
    const auto known = records.find(webhook->id);
    const CircuitRecord record = known == records.end() ? CircuitRecord{} : known->second;
    if (known != records.end()) {
      circuits[webhook->id].record = record;
    }
    if (calls_read >= calls_read_max) {
      ++left_out;
      continue;
    }
    POSTRIDER_TRY(
        std::vector<PastCall> calls,
        store.ledger->recent_calls(webhook->id, calls_to_restore(record, webhook->breaker, now)));
    calls_read += calls.size();
    if (!calls.empty()) {
      circuits[webhook->id].calls = std::move(calls);
    }
  }
  if (left_out > 0) {
    spdlog::warn("circuits.windows_empty webhooks={} reason=\"too many recent attempts to read\"",
                 left_out);
  }
  return circuits;
}

Result<std::map<WebhookId, LoadedCircuit>> read_circuits(History& history,
                                                         const std::vector<WebhookId>& ids) {
  POSTRIDER_TRY(const auto records, history.circuits_of(ids));
  std::map<WebhookId, LoadedCircuit> circuits;
  for (const auto& [id, record] : records) {
    circuits[id].record = record;
  }
  return circuits;
}

Result<LoadedCircuit> read_circuit(History& history, const Webhook& webhook, WallTime now) {
  POSTRIDER_TRY(auto circuits, read_circuits(history, {webhook.id}));
  LoadedCircuit& circuit = circuits[webhook.id];
  POSTRIDER_TRY(
      circuit.calls,
      history.recent_calls(webhook.id, calls_to_restore(circuit.record, webhook.breaker, now)));
  return std::move(circuit);
}

}  // namespace postrider
