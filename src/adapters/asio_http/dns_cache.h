// Answers of the name servers, for as long as they said, within limits. Pure: time is an argument.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/time.h"
#include "core/net/address.h"

namespace postrider::asio_http {

struct DnsAnswer {
  std::vector<IpAddress> addresses;  // As received: the policy is applied when they are used.
  std::string error;                 // Why there are none, as a clause: `the name does not exist`.
  std::chrono::seconds time_to_live{0};
};
using DnsAnswerPtr = std::shared_ptr<const DnsAnswer>;

class DnsCache {
 public:
  explicit DnsCache(std::size_t entries_max) : entries_max_(entries_max) {}

  /// nullptr: not known, or not any more.
  [[nodiscard]] DnsAnswerPtr find(const std::string& name, MonoTime now) const;
  void keep(const std::string& name, DnsAnswerPtr answer, MonoTime now, MonoTime until);

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
