// The limits beyond a single lane: an attempt needs a slot and a rate token of its tenant and of
// the total, and a slot of its receiver's host.
//
// A shard takes a slot for each attempt and gives it back when the attempt ends. Several shards may
// share one set of limits; each then has its own Allowance, used by its thread only. The limits
// hold exactly (P7). Below them, scarce slots are shared out (P5, slot_shares.h); with several
// threads these shares may be exceeded by a slot per thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/time.h"
#include "core/model/event.h"
#include "core/policy/token_bucket.h"
#include "engine/shard/fair_share.h"

namespace postrider {

using HostIndex = std::uint32_t;
constexpr HostIndex no_host = UINT32_MAX;  // Requests to the host are not limited.

struct AllowanceLimits {
  std::uint32_t in_flight_max = 4096;
  std::uint32_t tenant_in_flight_max = 2048;
  std::uint32_t first_attempt_reserve = 1024;  // Slots that retries never take.
  std::optional<std::uint32_t> host_in_flight_max;
  std::optional<RateLimit> tenant_rate;
  std::optional<RateLimit> total_rate;
};

struct ShardOptions;
[[nodiscard]] AllowanceLimits limits_of(const ShardOptions& options);

/// The slots that retries may use. At least one, however large the reserve is.
[[nodiscard]] constexpr std::uint32_t retries_max(const AllowanceLimits& limits) {
  return limits.in_flight_max - std::min(limits.first_attempt_reserve, limits.in_flight_max - 1);
}

/// Who an attempt's slot belongs to, besides the total.
struct SlotUse {
  TenantIndex tenant = 0;
  HostIndex host = no_host;
  bool unproven = false;  // It is taken by a webhook that is not proven.
};

/// What an attempt's right to a slot depends on.
struct SlotClaim {
  /// all: a retry, which may not use the reserve of the first attempts.
  Candidates candidates = Candidates::first_attempts;
  SlotRank rank = SlotRank::proven;
  /// The attempt is a trial: the only one of a webhook that is not proven, and a first attempt.
  bool trial = false;
};

/// How long to wait before asking again for a slot that may become free without SlotReserved.
constexpr Micros share_retry_pause = std::chrono::milliseconds{20};

enum class Limit : std::uint8_t {
  none,
  total_slots,
  tenant_slots,
  host_slots,
  total_rate,
  tenant_rate
};

/// The result of Allowance::take. If there is no slot, the shard tries again after its own
/// give_back, after SlotReserved, or at `again_at` if that is set. If there is no token, it tries
/// again at `again_at`.
struct Permit {
  Limit refused_by = Limit::none;
  MonoTime again_at{};  // MonoTime{}: not set.

  bool operator==(const Permit&) const = default;
};

class Allowance {
 public:
  virtual ~Allowance() = default;

  /// The shard has lanes of the tenant and refers to it by `index`.
  virtual void join(TenantIndex index, const TenantId& id, MonoTime now) = 0;
  /// The shard has no lanes of the tenant any more and none of its attempts in flight. The index
  /// may be reused.
  virtual void leave(TenantIndex index) = 0;

  /// The shard has webhooks or attempts of the host and refers to it by `index`. Only if
  /// host_in_flight_max is set.
  virtual void join_host(HostIndex index, const std::string& name) = 0;
  /// The shard has none any more. The index may be reused.
  virtual void leave_host(HostIndex index) = 0;

  /// The total number of slots. This and `candidates` are hints: another thread may change them at
  /// any time.
  [[nodiscard]] virtual std::uint32_t in_flight_max() const = 0;
  /// The widest rank that `take` may accept.
  [[nodiscard]] virtual SlotRank candidates() const = 0;
  /// The widest rank that `take` may accept for a trial; nullopt if it accepts none. A hint.
  [[nodiscard]] virtual std::optional<SlotRank> trial_candidates() const = 0;
  /// Takes a slot of the tenant, the host and the total, and a token of the tenant and the total,
  /// or nothing. A refusal by a slot limit also holds for every attempt with less right to a slot:
  /// of the tenant (tenant_slots), of all tenants (total_slots). If a trial is refused, this holds
  /// only for trials (tenant_slots), or for all attempts (total_slots).
  [[nodiscard]] virtual Permit take(const SlotUse& use, const SlotClaim& claim, MonoTime now) = 0;
  /// Call when an attempt has ended.
  virtual void give_back(const SlotUse& use) = 0;
  /// Assigns `count` attempts in flight, `unproven` of them, to another tenant, even beyond its
  /// limit.
  virtual void move(TenantIndex from, TenantIndex to, std::uint32_t count,
                    std::uint32_t unproven) = 0;

  /// The shard has nothing to start: a slot of the total that is reserved for it is released …
  virtual void release_reserved() = 0;
  /// … or a slot of this tenant …
  virtual void release_reserved(TenantIndex index) = 0;
  /// … or a slot of this host.
  virtual void release_reserved_host(HostIndex index) = 0;

  // ------------------------------------------------------------ for LaneView

  /// `take` would refuse a slot of the tenant or of the total.
  [[nodiscard]] virtual bool slots_taken(const SlotUse& use, const SlotClaim& claim) const = 0;
  /// When both buckets have a token; nullopt if they have one now.
  [[nodiscard]] virtual std::optional<MonoTime> token_at(TenantIndex index, MonoTime now) const = 0;

 protected:
  Allowance() = default;
  Allowance(const Allowance&) = default;
  Allowance& operator=(const Allowance&) = default;
};

/// For a shard that does not share its limits. Single-threaded.
[[nodiscard]] std::unique_ptr<Allowance> make_local_allowance(const AllowanceLimits& limits);

}  // namespace postrider
