// A ledger whose calls fail when told to, for everything that must survive a failing store.
//
// Like the real ones it stays broken after a failed commit until `recover` succeeds. A failed
// commit may or may not have happened, which is the caller's problem to live with (P1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ports/ledger.h"

namespace postrider::test {

enum class StoreFault : std::uint8_t {
  lost,       ///< The call fails and did nothing.
  ambiguous,  ///< The call fails although it was done. For reads the same as lost.
};

/// Decides about the n-th call, counted from 0 over all of them. nullopt: it works.
using StoreFaultPlan = std::function<std::optional<StoreFault>(std::uint64_t call)>;

[[nodiscard]] inline StoreFaultPlan fail_nth(std::uint64_t nth, StoreFault fault) {
  return [nth, fault](std::uint64_t call) {
    return call == nth ? std::optional{fault} : std::nullopt;
  };
}

class FaultyLedger final : public Ledger {
 public:
  FaultyLedger(Ledger& real, StoreFaultPlan plan) : real_(real), plan_(std::move(plan)) {}

  Result<BatchReceipt> commit(const Batch& batch) override {
    if (broken_) {
      return refuse();
    }
    const std::optional<StoreFault> fault = draw();
    if (!fault) {
      return real_.commit(batch);
    }
    broken_ = true;
    if (*fault == StoreFault::ambiguous) {
      [[maybe_unused]] const Result<BatchReceipt> unseen = real_.commit(batch);
    }
    return refuse();
  }

  Result<void> recover() override {
    if (draw()) {
      return refuse();
    }
    POSTRIDER_CHECK(real_.recover());
    broken_ = false;
    return {};
  }

  Result<LanePage> load_lane(const LoadLane& query) override {
    if (broken_ || draw()) {
      return refuse();
    }
    return real_.load_lane(query);
  }

  Result<std::vector<LaneBacklog>> backlog() override {
    if (broken_ || draw()) {
      return refuse();
    }
    return real_.backlog();
  }

  Result<BroughtForward> bring_forward(const BringForward& order) override {
    if (broken_) {
      return refuse();
    }
    const std::optional<StoreFault> fault = draw();
    if (!fault) {
      return real_.bring_forward(order);
    }
    broken_ = true;
    if (*fault == StoreFault::ambiguous) {
      [[maybe_unused]] const Result<BroughtForward> unseen = real_.bring_forward(order);
    }
    return refuse();
  }

  Result<std::uint64_t> count_waiting() override {
    if (broken_ || draw()) {
      return refuse();
    }
    return real_.count_waiting();
  }

  Result<std::vector<Event>> load_events(const std::vector<EventId>& ids) override {
    if (broken_ || draw()) {
      return refuse();
    }
    return real_.load_events(ids);
  }

  [[nodiscard]] std::uint64_t faults_fired() const { return faults_fired_; }

 private:
  static tl::unexpected<Error> refuse() {
    return fail(Errc::unavailable, "The store is made to fail.");
  }

  std::optional<StoreFault> draw() {
    const std::optional<StoreFault> fault = plan_(calls_++);
    faults_fired_ += fault ? 1 : 0;
    return fault;
  }

  Ledger& real_;
  StoreFaultPlan plan_;
  bool broken_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t faults_fired_ = 0;
};

/// Runs `scenario(plan)` again and again, letting a different call fail each time, until it makes
/// no further calls; it answers whether the fault fired. Error paths nobody thought of get tested
/// without being written. Returns how many calls failed, one after the other.
template <class Scenario>
std::uint64_t for_every_store_fault(StoreFault fault, Scenario scenario) {
  constexpr std::uint64_t calls_max = 10'000;  // No scenario is meant to be that long.
  std::uint64_t nth = 0;
  while (nth < calls_max && scenario(fail_nth(nth, fault))) {
    ++nth;
  }
  return nth;
}

}  // namespace postrider::test
