// Stores long-running operations on many deliveries. runtime/admin/operation_runner.h performs
// them.
//
// The specification is tests/contract/operations_contract.cc. Calls block. OperationWriter is used
// by the store thread only, each OperationReader by one reader thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/event.h"
#include "core/model/operation.h"

namespace postrider {

class OperationWriter {
 public:
  virtual ~OperationWriter() = default;

  /// Adds or replaces. Durable when it returns.
  [[nodiscard]] virtual Result<void> put(const Operation& operation) = 0;
  /// Fails with not_found.
  [[nodiscard]] virtual Result<Operation> find(OperationId id) = 0;
  /// Operations that have work left (`has_work`), in id order.
  [[nodiscard]] virtual Result<std::vector<Operation>> load_unfinished() = 0;
  /// Removes at most `limit` operations that finished at `before` or earlier, oldest first. Returns
  /// the number removed.
  [[nodiscard]] virtual Result<std::uint32_t> remove_finished(WallTime before,
                                                              std::uint32_t limit) = 0;

 protected:
  OperationWriter() = default;
  OperationWriter(const OperationWriter&) = default;
  OperationWriter& operator=(const OperationWriter&) = default;
};

struct OperationFilter {
  std::optional<TenantId> tenant_id = std::nullopt;  // Only operations of this tenant.
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

  /// Newest first. Returns one more than the page's limit if there are more.
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
