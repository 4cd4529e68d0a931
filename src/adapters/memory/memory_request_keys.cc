#include <mutex>

#include "adapters/memory/memory_store.h"

namespace postrider {
namespace {

class MemoryRequestKeyWriter final : public RequestKeyWriter {
 public:
  explicit MemoryRequestKeyWriter(MemoryStore& store) : store_(store) {}

  Result<void> take(const RequestKey& key, const std::string& subject, WallTime now) override {
    const std::lock_guard guard{store_.mutex};
    const auto found = store_.request_keys.find({key.caller, key.key});
    if (found != store_.request_keys.end() && found->second.expires_at > now) {
      return fail(Errc::conflict, "The idempotency key has been used.");
    }
    store_.request_keys[{key.caller, key.key}] = {{key.digest, subject}, key.expires_at};
    return {};
  }

  Result<void> forget(const RequestKey& key) override {
    const std::lock_guard guard{store_.mutex};
    store_.request_keys.erase({key.caller, key.key});
    return {};
  }

  Result<std::uint32_t> remove_expired(WallTime now, std::uint32_t limit) override {
    const std::lock_guard guard{store_.mutex};
    std::uint32_t count = 0;
    std::erase_if(store_.request_keys, [&](const auto& row) {
      const bool expired = count < limit && row.second.expires_at <= now;
      count += expired ? 1 : 0;
      return expired;
    });
    return count;
  }

 private:
  MemoryStore& store_;
};

class MemoryRequestKeyReader final : public RequestKeyReader {
 public:
  explicit MemoryRequestKeyReader(MemoryStore& store) : store_(store) {}

  Result<std::optional<KeyUse>> find(const std::string& caller, const std::string& key,
                                     WallTime now) override {
    const std::lock_guard guard{store_.mutex};
    const auto found = store_.request_keys.find({caller, key});
    if (found == store_.request_keys.end() || found->second.expires_at <= now) {
      return std::optional<KeyUse>{};
    }
    return std::optional{found->second.use};
  }

 private:
  MemoryStore& store_;
};

}  // namespace

std::unique_ptr<RequestKeyWriter> make_memory_request_key_writer(MemoryStore& store) {
  return std::make_unique<MemoryRequestKeyWriter>(store);
}

std::unique_ptr<RequestKeyReader> make_memory_request_key_reader(MemoryStore& store) {
  return std::make_unique<MemoryRequestKeyReader>(store);
}

}  // namespace postrider
