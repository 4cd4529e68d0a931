// Long work on many deliveries: retrying or discarding dead letters in bulk, replaying a stretch of
// time to a webhook. Who carries it out is runtime/admin/operation_runner.h.
//
// The specification is tests/contract/operations_contract.cc. Calls block. OperationWriter belongs
// to the store thread, OperationReader to a reader thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/event.h"
#include "ports/history.h"

namespace postrider {

enum class OperationKind : std::uint8_t { retry_batch, replay, discard };
enum class OperationStatus : std::uint8_t { scheduled, running, completed, cancelled, failed };

constexpr EnumNames<OperationKind, OperationKind::discard> operation_kinds{
    {"retry_batch", "replay", "discard"}};
constexpr EnumNames<OperationStatus, OperationStatus::failed> operation_statuses{
    {"scheduled", "running", "completed", "cancelled", "failed"}};

[[nodiscard]] constexpr bool is_unfinished(OperationStatus status) {
  return status == OperationStatus::scheduled || status == OperationStatus::running;
}

struct OperationSpec {
  /// retry_batch, discard: which dead letters. replay: one webhook, the states of deliveries that
  /// are to be revived, and which events (`from` and `to` are the events' created_at).
  DeliveryFilter filter;
  std::optional<Priority> priority = std::nullopt;  // nullopt: as it was.
  std::optional<std::uint32_t> requests_per_second = std::nullopt;
  std::optional<WallTime> start_at = std::nullopt;
  std::optional<std::chrono::seconds> repeat_every = std::nullopt;

  bool operator==(const OperationSpec&) const = default;
};

/// It acts on what is there when it starts: dead letters that died, and events that were published,
/// before `started_at`. A run goes through them once, in one direction; `place` says how far it
/// got. Going over the same stretch again after a crash changes nothing.
struct Operation {
  OperationId id;
  OperationKind kind = OperationKind::retry_batch;
  std::optional<TenantId> tenant_id = std::nullopt;  // nullopt: of all tenants.
  OperationStatus status = OperationStatus::scheduled;
  OperationSpec spec;
  std::optional<std::uint64_t> total = std::nullopt;  // Of this run; nullopt until counted.
  std::uint64_t done = 0;                             // Brought back, sent for, discarded.
  std::uint64_t skipped = 0;                          // There was nothing to do about it.
  std::uint64_t failed = 0;                           // Its webhook is gone.
  std::int64_t place = 0;                             // A sequence; 0: at the beginning.
  std::uint32_t runs = 0;                             // Finished ones, of one that repeats.
  WallTime due;                                       // When it is to start, or start again.
  WallTime created_at;
  std::optional<WallTime> started_at = std::nullopt;  // This run, or the last one.
  std::optional<WallTime> finished_at = std::nullopt;
  std::string error;  // A sentence, when it failed.

  bool operator==(const Operation&) const = default;
};

class OperationWriter {
 public:
  virtual ~OperationWriter() = default;

  /// Adds or replaces. Durable when it returns.
  [[nodiscard]] virtual Result<void> put(const Operation& operation) = 0;
  /// Fails with not_found.
  [[nodiscard]] virtual Result<Operation> find(OperationId id) = 0;
  /// Scheduled and running ones, in id order.
  [[nodiscard]] virtual Result<std::vector<Operation>> load_unfinished() = 0;
  /// Removes at most `limit` that finished at `before` or earlier, the oldest first. How many they
  /// were.
  [[nodiscard]] virtual Result<std::uint32_t> remove_finished(WallTime before,
                                                              std::uint32_t limit) = 0;

 protected:
  OperationWriter() = default;
  OperationWriter(const OperationWriter&) = default;
  OperationWriter& operator=(const OperationWriter&) = default;
};

struct OperationFilter {
  std::optional<TenantId> tenant_id = std::nullopt;  // Only this tenant's own.
  std::vector<OperationKind> kinds = {};
  std::vector<OperationStatus> statuses = {};
};

struct OperationPage {
  std::uint32_t limit = 50;
  std::uint32_t offset = 0;
  std::optional<OperationId> before = std::nullopt;
};

class OperationReader {
 public:
  virtual ~OperationReader() = default;

  /// Newest first, one more than the page's limit when there are more.
  [[nodiscard]] virtual Result<std::vector<Operation>> list(const OperationFilter& filter,
                                                            const OperationPage& page) = 0;
  /// Fails with not_found.
  [[nodiscard]] virtual Result<Operation> find(OperationId id) = 0;

 protected:
  OperationReader() = default;
  OperationReader(const OperationReader&) = default;
  OperationReader& operator=(const OperationReader&) = default;
};

}  // namespace postrider
