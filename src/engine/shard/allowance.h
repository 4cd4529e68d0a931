// What an attempt needs beside the consent of its own lane: a slot and a token of its tenant, and
// one of all tenants together.
//
// A shard asks for each attempt and gives the slot back when it has ended. Several shards may share
// one set of limits; each then has an Allowance of its own that speaks for it, used on its thread
// alone. The limits hold exactly, whoever asks, and all of them can be used by one lane (P7).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/time.h"
#include "core/model/event.h"
#include "core/policy/token_bucket.h"
#include "engine/shard/fair_share.h"

namespace postrider {

struct AllowanceLimits {
  std::uint32_t in_flight_max = 4096;
  std::uint32_t tenant_in_flight_max = 2048;
  std::uint32_t first_attempt_reserve = 1024;  // Slots that retries never take.
  std::optional<RateLimit> tenant_rate;
  std::optional<RateLimit> total_rate;
};

struct ShardOptions;
[[nodiscard]] AllowanceLimits limits_of(const ShardOptions& options);

/// A reserve of everything would never let a retry start.
[[nodiscard]] constexpr std::uint32_t retries_max(const AllowanceLimits& limits) {
  return limits.in_flight_max - std::min(limits.first_attempt_reserve, limits.in_flight_max - 1);
}

enum class Limit : std::uint8_t { none, total_slots, tenant_slots, total_rate, tenant_rate };

/// The answer to a shard that asks. Refused for want of a slot, it is told when one is there: by
/// its own giving back, or by SlotKept. Refused for want of a token, it asks again at `again_at`.
struct Permit {
  Limit refused_by = Limit::none;
  MonoTime again_at{};

  bool operator==(const Permit&) const = default;
};

class Allowance {
 public:
  virtual ~Allowance() = default;

  /// The shard has lanes of the tenant, and will call it by this number.
  virtual void join(TenantIndex index, const TenantId& id, MonoTime now) = 0;
  /// It has none any more, and nothing of it in flight. The number is free.
  virtual void leave(TenantIndex index) = 0;

  /// Who is worth asking for. May be outdated when it is used.
  [[nodiscard]] virtual Candidates candidates() const = 0;
  /// Takes a slot and a token of the tenant and of all, or nothing. `candidates` says what the
  /// attempt is: with `all` a retry, which leaves the reserve alone.
  [[nodiscard]] virtual Permit take(TenantIndex index, Candidates candidates, MonoTime now) = 0;
  /// So many attempts have ended.
  virtual void give_back(TenantIndex index, std::uint32_t count) = 0;
  /// So many attempts in flight count for another tenant from now on, even beyond its limit.
  virtual void move(TenantIndex from, TenantIndex to, std::uint32_t count) = 0;

  /// The shard has nothing to start: it needs no slot of all tenants …
  virtual void forgo() = 0;
  /// … or of this one. What was kept for it goes to others.
  virtual void forgo(TenantIndex index) = 0;

  // ------------------------------------------------------------ for people

  [[nodiscard]] virtual bool slots_taken(TenantIndex index) const = 0;
  /// When both buckets have a token; nullopt: now.
  [[nodiscard]] virtual std::optional<MonoTime> token_at(TenantIndex index, MonoTime now) const = 0;

 protected:
  Allowance() = default;
  Allowance(const Allowance&) = default;
  Allowance& operator=(const Allowance&) = default;
};

/// For a shard that shares its limits with nobody. A plain value inside: no thread but one.
[[nodiscard]] std::unique_ptr<Allowance> make_own_allowance(const AllowanceLimits& limits);

}  // namespace postrider
