// How many connections each client has open, all listeners together. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace postrider::api {

class AddressTally {
 public:
  /// False when `group` has `count_max` already; then nothing was counted.
  [[nodiscard]] bool try_add(const std::string& group, std::uint32_t count_max) {
    const std::lock_guard lock{mutex_};
    std::uint32_t& count = counts_[group];
    if (count >= count_max) {
      return false;  // At least one is open, so the entry is not a new one.
    }
    ++count;
    return true;
  }

  void remove(const std::string& group) {
    const std::lock_guard lock{mutex_};
    const auto found = counts_.find(group);
    if (found != counts_.end() && --found->second == 0) {
      counts_.erase(found);
    }
  }

 private:
  std::mutex mutex_;  // Taken once when a connection opens and once when it closes.
  std::unordered_map<std::string, std::uint32_t> counts_;
};

}  // namespace postrider::api
