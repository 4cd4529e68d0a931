// A bounded cache of DNS answers. Pure: the time is an argument.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/time.h"
#include "core/model/attempt.h"
#include "core/net/address.h"

namespace postrider::asio_http {

struct DnsAnswer {
  std::vector<IpAddress> addresses;  // Unfiltered: the address policy is applied on use.
  std::string error;                 // Why there are none: `the name does not exist`.
  std::chrono::seconds time_to_live{0};
  Shortage own_shortage = Shortage::none;  // Otherwise `error` says why nobody was asked.
};
using DnsAnswerPtr = std::shared_ptr<const DnsAnswer>;

class DnsCache {
 public:
  explicit DnsCache(std::size_t entries_max) : entries_max_(entries_max) {}

  /// Returns nullptr if there is no entry or it has expired.
  [[nodiscard]] DnsAnswerPtr find(const std::string& name, MonoTime now) const;
  void put(const std::string& name, DnsAnswerPtr answer, MonoTime now, MonoTime until);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    DnsAnswerPtr answer;
    MonoTime until;
  };
  void make_room(MonoTime now);

  std::size_t entries_max_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace postrider::asio_http
