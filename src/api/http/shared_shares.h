// Shares that several io threads use. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "core/policy/shares.h"

namespace postrider::api {

class SharedShares {
 public:
  explicit SharedShares(ShareRules rules) : shares_(rules) {}

  [[nodiscard]] ShareVerdict take(const ShareOwner& owner, std::uint64_t amount = 1) {
    const std::lock_guard lock{mutex_};
    return shares_.take(owner, amount);
  }
  void give_back(const ShareOwner& owner, std::uint64_t amount = 1) {
    const std::lock_guard lock{mutex_};
    shares_.give_back(owner, amount);
  }
  void change(ShareRules rules) {
    const std::lock_guard lock{mutex_};
    shares_.change(rules);
  }

 private:
  std::mutex mutex_;  // Guards shares_.
  Shares shares_;
};

/// One place of an owner, given back on destruction.
class SharePlace {
 public:
  /// `shares` must have granted one place to `owner`.
  SharePlace(std::shared_ptr<SharedShares> shares, ShareOwner owner)
      : shares_(std::move(shares)), owner_(std::move(owner)) {}
  ~SharePlace() {
    if (shares_) {
      shares_->give_back(owner_);
    }
  }
  SharePlace(SharePlace&&) noexcept = default;
  SharePlace(const SharePlace&) = delete;
  SharePlace& operator=(const SharePlace&) = delete;
  SharePlace& operator=(SharePlace&&) = delete;

 private:
  std::shared_ptr<SharedShares> shares_;  // Null after a move.
  ShareOwner owner_;
};

}  // namespace postrider::api
