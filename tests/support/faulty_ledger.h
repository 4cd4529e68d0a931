// A ledger that fails on demand, for tests of code that must survive a failing store.
//
// Like a real ledger it stays broken after a failed commit until `recover` succeeds. A failed
// commit may or may not have been stored (P1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ports/ledger.h"

namespace postrider::test {

enum class StoreFault : std::uint8_t {
  lost,       ///< The call fails and changes nothing.
  ambiguous,  ///< The call fails, but its changes are stored. For reads the same as lost.
};

/// The fault of the n-th call, counted from 0 over all functions. nullopt: the call succeeds.
using StoreFaultPlan = std::function<std::optional<StoreFault>(std::uint64_t call)>;

[[nodiscard]] inline StoreFaultPlan fail_nth(std::uint64_t nth, StoreFault fault) {
  return [nth, fault](std::uint64_t call) {
    return call == nth ? std::optional{fault} : std::nullopt;
  };
}

class FaultyLedger final : public Ledger {
 public:
  /// The first `outdated` batches get the receipt Outdated for each publish, which is not a fault.
  FaultyLedger(Ledger& real, StoreFaultPlan plan, std::uint32_t outdated = 0)
      : real_(real), plan_(std::move(plan)), outdated_(outdated) {}

  Result<BatchReceipt> commit(const Batch& batch) override {
    if (broken_) {
      return injected_failure();
    }
    const std::optional<StoreFault> fault = next_fault();
    if (!fault) {
      return commit_or_refuse(batch);
    }
    broken_ = true;
    if (*fault == StoreFault::ambiguous) {
      [[maybe_unused]] const Result<BatchReceipt> ignored = real_.commit(batch);
    }
    return injected_failure();
  }

  Result<void> recover() override {
    if (next_fault()) {
      return injected_failure();
    }
    POSTRIDER_CHECK(real_.recover());
    broken_ = false;
    return {};
  }

  Result<LanePage> load_lane(const LoadLane& query) override {
    if (broken_ || next_fault()) {
      return injected_failure();
    }
    return real_.load_lane(query);
  }

  Result<std::vector<LaneBacklog>> backlog() override {
    if (broken_ || next_fault()) {
      return injected_failure();
    }
    return real_.backlog();
  }

  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    if (broken_ || next_fault()) {
      return injected_failure();
    }
    return real_.recent_calls(id, which);
  }

  Result<FannedOut> fan_out(const FanOutStep& step) override {
    if (broken_) {
      return injected_failure();
    }
    const std::optional<StoreFault> fault = next_fault();
    if (!fault) {
      return real_.fan_out(step);
    }
    broken_ = true;
    if (*fault == StoreFault::ambiguous) {
      [[maybe_unused]] const Result<FannedOut> ignored = real_.fan_out(step);
    }
    return injected_failure();
  }

  Result<std::map<TenantId, std::uint64_t>> open_fanouts() override {
    if (broken_) {
      return injected_failure();
    }
    return real_.open_fanouts();
  }

  Result<BroughtForward> bring_forward(const BringForward& order) override {
    if (broken_) {
      return injected_failure();
    }
    if (of_others.contains(order.webhook_id)) {
      return fail(Errc::conflict, "Another node works this webhook.");
    }
    const std::optional<StoreFault> fault = next_fault();
    if (!fault) {
      return real_.bring_forward(order);
    }
    broken_ = true;
    if (*fault == StoreFault::ambiguous) {
      [[maybe_unused]] const Result<BroughtForward> ignored = real_.bring_forward(order);
    }
    return injected_failure();
  }

  Result<TenantCounts> count_waiting() override {
    if (broken_ || next_fault()) {
      return injected_failure();
    }
    return real_.count_waiting();
  }

  Result<std::vector<Event>> load_events(const std::vector<EventId>& ids) override {
    if (broken_ || next_fault()) {
      return injected_failure();
    }
    return real_.load_events(ids);
  }

  [[nodiscard]] std::uint64_t faults_fired() const { return faults_fired_; }

  std::set<WebhookId> of_others;  // Webhooks that another server works. Set before any thread runs.

 private:
  static tl::unexpected<Error> injected_failure() {
    return fail(Errc::unavailable, "Injected store failure.");
  }

  Result<BatchReceipt> commit_or_refuse(const Batch& batch) {
    if (outdated_ == 0 || batch.publishes.empty()) {
      return real_.commit(batch);
    }
    --outdated_;
    Batch rest = batch;
    rest.publishes.clear();
    POSTRIDER_TRY(BatchReceipt receipt, real_.commit(rest));
    receipt.publishes.assign(batch.publishes.size(), Outdated{});
    return receipt;
  }

  std::optional<StoreFault> next_fault() {
    const std::optional<StoreFault> fault = plan_(calls_++);
    faults_fired_ += fault ? 1 : 0;
    return fault;
  }

  Ledger& real_;
  StoreFaultPlan plan_;
  std::uint32_t outdated_;
  bool broken_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t faults_fired_ = 0;
};

/// Runs `scenario(plan)` once for each of its ledger calls, with that call failing. `scenario`
/// returns whether the fault fired. Returns the number of calls that failed.
template <class Scenario>
std::uint64_t for_every_store_fault(StoreFault fault, Scenario scenario) {
  constexpr std::uint64_t calls_max = 10'000;  // More than any scenario has.
  std::uint64_t nth = 0;
  while (nth < calls_max && scenario(fail_nth(nth, fault))) {
    ++nth;
  }
  return nth;
}

}  // namespace postrider::test
