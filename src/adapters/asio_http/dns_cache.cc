#include "adapters/asio_http/dns_cache.h"

#include <utility>

namespace postrider::asio_http {

DnsAnswerPtr DnsCache::find(const std::string& name, MonoTime now) const {
  const auto found = entries_.find(name);
  return found != entries_.end() && now < found->second.until ? found->second.answer : nullptr;
}

void DnsCache::put(const std::string& name, DnsAnswerPtr answer, MonoTime now, MonoTime until) {
  if (until <= now || entries_max_ == 0) {
    entries_.erase(name);
    return;
  }
  if (!entries_.contains(name)) {
    make_room(now);
  }
  entries_.insert_or_assign(name, Entry{std::move(answer), until});
}

void DnsCache::make_room(MonoTime now) {
  if (entries_.size() < entries_max_) {
    return;
  }
  std::erase_if(entries_, [now](const auto& entry) { return entry.second.until <= now; });
  if (entries_.size() >= entries_max_) {
    entries_.erase(entries_.begin());  // Any entry will do: losing it costs one lookup.
  }
}

}  // namespace postrider::asio_http
