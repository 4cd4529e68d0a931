#include <mutex>
#include <vector>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

class MemoryEventTypes final : public EventTypes {
 public:
  explicit MemoryEventTypes(MemoryStore& store) : store_(store) {}

  Result<std::vector<EventType>> load() override {
    const std::lock_guard guard{store_.mutex};
    std::vector<EventType> types;
    types.reserve(store_.event_types.size());
    for (const auto& [name, type] : store_.event_types) {
      types.push_back(type);
    }
    return types;
  }

  Result<void> put(const EventType& type) override {
    const std::lock_guard guard{store_.mutex};
    store_.event_types[type.name] = type;
    return {};
  }

  Result<void> remove(const std::string& name) override {
    const std::lock_guard guard{store_.mutex};
    if (store_.event_types.erase(name) == 0) {
      return fail(Errc::not_found, "There is no such event type.");
    }
    return {};
  }

 private:
  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<EventTypes> make_memory_event_types(MemoryStore& store) {
  return std::make_unique<MemoryEventTypes>(store);
}

}  // namespace postrider
