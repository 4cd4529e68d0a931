#include <algorithm>
#include <mutex>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

Result<Operation> find_operation(MemoryStore& store, OperationId id) {
  const std::lock_guard guard{store.mutex};
  const auto found = store.operations.find(id);
  if (found == store.operations.end()) {
    return fail(Errc::not_found, "There is no such operation.");
  }
  return found->second;
}

template <class Value>
bool admits(const std::vector<Value>& wanted, Value value) {
  return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

bool matches(const OperationFilter& filter, const Operation& operation) {
  return (!filter.tenant_id || operation.tenant_id == filter.tenant_id) &&
         admits(filter.kinds, operation.kind) && admits(filter.statuses, operation.status);
}

class MemoryOperationWriter final : public OperationWriter {
 public:
  explicit MemoryOperationWriter(MemoryStore& store) : store_(store) {}

  Result<void> put(const Operation& operation) override {
    const std::lock_guard guard{store_.mutex};
    store_.operations[operation.id] = operation;
    return {};
  }

  Result<Operation> find(OperationId id) override { return find_operation(store_, id); }

  Result<std::vector<Operation>> load_unfinished() override {
    const std::lock_guard guard{store_.mutex};
    std::vector<Operation> unfinished;
    for (const auto& [id, operation] : store_.operations) {
      if (has_work(operation)) {
        unfinished.push_back(operation);
      }
    }
    return unfinished;
  }

  Result<std::uint32_t> remove_finished(WallTime before, std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    std::vector<std::pair<WallTime, OperationId>> old;
    for (const auto& [id, operation] : store_.operations) {
      if (!is_unfinished(operation.status) && operation.finished_at &&
          *operation.finished_at <= before) {
        old.emplace_back(*operation.finished_at, id);
      }
    }
    std::ranges::sort(old);
    old.resize(std::min<std::size_t>(old.size(), limit));
    for (const auto& [finished_at, id] : old) {
      store_.operations.erase(id);
    }
    return static_cast<std::uint32_t>(old.size());
  }

 private:
  MemoryStore& store_;
};

class MemoryOperationReader final : public OperationReader {
 public:
  explicit MemoryOperationReader(MemoryStore& store) : store_(store) {}

  Result<std::vector<Operation>> list(const OperationFilter& filter,
                                      const OperationPage& page) override {
    const std::lock_guard guard{store_.mutex};
    std::vector<Operation> listed;
    std::uint32_t skipped = 0;
    auto row = page.before ? store_.operations.lower_bound(*page.before) : store_.operations.end();
    while (row != store_.operations.begin() && listed.size() <= page.limit) {
      --row;
      if (matches(filter, row->second) && skipped++ >= page.offset) {
        listed.push_back(row->second);
      }
    }
    return listed;
  }

  Result<Operation> find(OperationId id) override { return find_operation(store_, id); }

 private:
  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<OperationWriter> make_memory_operation_writer(MemoryStore& store) {
  return std::make_unique<MemoryOperationWriter>(store);
}

std::unique_ptr<OperationReader> make_memory_operation_reader(MemoryStore& store) {
  return std::make_unique<MemoryOperationReader>(store);
}

}  // namespace postrider
