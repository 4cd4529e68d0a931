// The limits on attempts in flight and on rates, shared by all workers: they hold over all io
// threads together (P7), and so do the shares of scarce slots (P5).
//
// docs/decisions/0018-limits-over-all-threads.md explains why they are shared and not divided.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/shard/allowance.h"
#include "engine/shard/messages.h"

#include "runtime/limits/shared_token_bucket.h"
#include "runtime/limits/slot_pool.h"

namespace postrider {

class SharedAllowance {
 public:
  /// Must feed `reserved` to the worker's shard later, which asks again then. Called on any thread,
  /// under a lock: it must not call back.
  using Wake = std::function<void(std::size_t worker, SlotReserved reserved)>;

  SharedAllowance(const AllowanceLimits& limits, std::size_t worker_count, Wake wake);
  ~SharedAllowance();
  SharedAllowance(const SharedAllowance&) = delete;
  SharedAllowance& operator=(const SharedAllowance&) = delete;

  /// The allowance of one worker. That worker's thread only.
  [[nodiscard]] Allowance& of(std::size_t worker);

  /// Changes the limits. Attempts in flight go on, also above a smaller limit; no more start until
  /// there are fewer. If a limit grows, the workers that wait for it are woken. Buckets keep their
  /// tokens as TokenBucket::change does. The same limits must be set as before. Any thread.
  void change(const AllowanceLimits& limits, MonoTime now);

 private:
  class Part;
  struct Tenant;

  /// The limits on slots, without rates. While they are changed some may still be the old ones;
  /// they are never compared with each other beyond saturating arithmetic.
  [[nodiscard]] AllowanceLimits slot_limits() const;
  void set_slot_limits(const AllowanceLimits& limits);
  void change_rates(const AllowanceLimits& limits, MonoTime now);
  void wake_waiting();

  void begin(Tenant& tenant, std::uint32_t count, std::uint32_t unproven);
  void end(Tenant& tenant, std::uint32_t count, std::uint32_t unproven);

  struct Tenant {
    explicit Tenant(std::function<void(std::size_t)> wake) : slots(std::move(wake)) {}

    SlotPool slots;
    std::atomic<std::uint32_t> in_flight{0};  // slots.taken() without reserved slots.
    std::atomic<std::uint32_t> unproven{0};   // Of those in flight; see SlotCounts.
    std::optional<SharedTokenBucket> tokens;  // Guarded by tokens_mutex_.
    std::uint32_t workers = 0;  // With lanes of this tenant. Guarded by tenants_mutex_.
  };

  struct Host {
    explicit Host(std::function<void(std::size_t)> wake) : slots(std::move(wake)) {}

    SlotPool slots;
    std::uint32_t workers = 0;  // That use the host. Guarded by hosts_mutex_.
  };

  struct SlotLimits {
    std::atomic<std::uint32_t> total{1};
    std::atomic<std::uint32_t> tenant{1};
    std::atomic<std::uint32_t> first_attempt_reserve{0};
    std::atomic<std::uint32_t> host{1};
  };

  std::mutex change_mutex_;  // Locked before all others.
  SlotLimits slot_limits_;
  // Counted after the limits are set and before the waiting workers are woken. A worker that was
  // refused asks again if it sees a new number: it joined the queue too late to be woken.
  std::atomic<std::uint64_t> changes_{0};
  const bool has_host_limit_;
  const bool has_rates_;
  std::optional<RateLimit> tenant_rate_;  // Guarded by tokens_mutex_, as the next.
  std::optional<RateLimit> total_rate_;
  Wake wake_;
  SlotPool slots_;
  std::atomic<std::uint32_t> unproven_{0};
  std::atomic<std::uint32_t> active_tenants_{0};  // Those with attempts in flight.
  std::mutex tenants_mutex_;                      // Locked before tokens_mutex_.
  std::unordered_map<TenantId, std::unique_ptr<Tenant>> tenants_;
  std::mutex hosts_mutex_;
  std::unordered_map<std::string, std::unique_ptr<Host>> hosts_;
  std::mutex tokens_mutex_;
  std::optional<SharedTokenBucket> tokens_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace postrider
