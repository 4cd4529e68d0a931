// Counts the open connections of each client over all listeners. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace postrider::api {

class AddressTally {
 public:
  /// Counts one connection of `group` (see client_group()). Returns false, and counts nothing, if
  /// `group` already has `count_max`.
  [[nodiscard]] bool try_add(const std::string& group, std::uint32_t count_max) {
    const std::lock_guard lock{mutex_};
    std::uint32_t& count = counts_[group];
    if (count >= count_max) {
      return false;  // `count_max` is at least 1, so this entry existed before.
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
  std::mutex mutex_;  // Guards counts_. Taken when a connection opens and when it closes.
  std::unordered_map<std::string, std::uint32_t> counts_;
};

}  // namespace postrider::api
