#include <algorithm>
#include <mutex>

#include "adapters/memory/memory_rows.h"
#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

class MemoryAuditWriter final : public AuditWriter {
 public:
  explicit MemoryAuditWriter(MemoryStore& store) : store_(store) {}

  Result<void> append(const AuditEntry& entry) override {
    const std::lock_guard guard{store_.mutex};
    append_audit(store_, entry);
    return {};
  }

 private:
  MemoryStore& store_;
};

template <class Value>
bool admits(const std::optional<Value>& wanted, const Value& value) {
  return !wanted || *wanted == value;
}

bool matches(const AuditFilter& filter, const AuditEntry& entry) {
  return admits(filter.actor, entry.actor) && admits(filter.action, entry.action) &&
         admits(filter.subject, entry.subject) && admits(filter.tenant_id, entry.tenant_id) &&
         (!filter.from || *filter.from <= entry.at) && (!filter.to || entry.at < *filter.to);
}

class MemoryAuditReader final : public AuditReader {
 public:
  explicit MemoryAuditReader(MemoryStore& store) : store_(store) {}

  Result<Listed<AuditRecord>> list(const AuditFilter& filter, const Page& page) override {
    const std::lock_guard guard{store_.mutex};
    Listed<AuditRecord> listed;
    std::uint32_t to_skip = page.offset;
    for (auto record = store_.audit.rbegin(); record != store_.audit.rend(); ++record) {
      if ((page.before && record->sequence >= *page.before) || !matches(filter, record->entry)) {
        continue;
      }
      if (to_skip > 0) {
        --to_skip;
        continue;
      }
      if (listed.items.size() == page.limit) {
        listed.next =
            listed.items.empty() ? std::nullopt : std::optional{listed.items.back().sequence};
        break;
      }
      listed.items.push_back(*record);
    }
    return listed;
  }

  Result<ChainWalk> verify(std::int64_t after, std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    ChainWalk walk{.last = after};
    auto next = std::ranges::lower_bound(store_.audit, after, {}, &AuditRecord::sequence);
    if (after > 0) {
      if (next == store_.audit.end() || next->sequence != after) {
        return fail(Errc::not_found, "There is no such entry.");
      }
      walk.head = next->hash;
      ++next;
    }
    for (; next != store_.audit.end(); ++next) {
      if (walk.checked == limit) {
        walk.more = true;
        break;
      }
      if (!verify_next(walk, *next, store_.digest)) {
        break;
      }
    }
    return walk;
  }

 private:
  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<AuditWriter> make_memory_audit_writer(MemoryStore& store) {
  return std::make_unique<MemoryAuditWriter>(store);
}

std::unique_ptr<AuditReader> make_memory_audit_reader(MemoryStore& store) {
  return std::make_unique<MemoryAuditReader>(store);
}

}  // namespace postrider
