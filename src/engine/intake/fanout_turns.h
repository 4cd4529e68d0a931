// Whose events are fanned out next, and how much may wait for it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/base/time.h"
#include "core/model/event.h"

namespace postrider {

/// Deliveries that may wait to be made from notes. A publish that needs a note is refused once this
/// many wait (P6); one that is accepted may exceed it.
struct FanoutBacklogLimits {
  std::uint64_t tenant_max = 2'000'000;
  std::uint64_t total_max = 20'000'000;
};

enum class FanoutAdmission : std::uint8_t { accepted, tenant_full, server_full };

/// Deliveries made by one step. Others wait for its transaction, so it is smaller while the store
/// is slow.
constexpr std::uint32_t fanout_step_first = 250;
constexpr std::uint32_t fanout_step_min = 100;
constexpr std::uint32_t fanout_step_max = 500;
[[nodiscard]] std::uint32_t next_fanout_step(std::uint32_t size, Micros took);

/// Tenants take turns, so that a huge fan-out does not delay a small one of another tenant (P5).
class FanoutTurns {
 public:
  /// These deliveries are to be made from notes.
  void add(const TenantId& tenant_id, std::uint64_t deliveries);
  /// Replaces everything by what the store says.
  void reset(std::map<TenantId, std::uint64_t> open);

  /// The tenant whose turn it is; nullopt if nothing waits.
  [[nodiscard]] std::optional<TenantId> next() const;
  /// Ends the tenant's turn. `finished`: it has no note left.
  void end_turn(const TenantId& tenant_id, std::uint64_t deliveries, bool finished);

  [[nodiscard]] std::uint64_t remaining() const { return remaining_; }
  [[nodiscard]] FanoutAdmission admit(const TenantId& tenant_id,
                                      const FanoutBacklogLimits& limits) const;

 private:
  std::map<TenantId, std::uint64_t> open_;
  std::uint64_t remaining_ = 0;  // The sum of `open_`.
  std::optional<TenantId> last_;
};

}  // namespace postrider
