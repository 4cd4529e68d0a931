#include "engine/shard/origins.h"

#include "core/base/assert.h"
#include "engine/shard/stored_url.h"

namespace postrider {
namespace {

std::string origin_of(const std::string& url) {
  const Result<TargetUrl> target = parse_stored_url(url);
  return target ? (target->tls ? "https://" : "http://") + target->authority() : url;
}

}  // namespace

OriginIndex Origins::join(const std::string& url) {
  std::string name = origin_of(url);
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    ++origins_[found->second].users;
    return found->second;
  }
  auto index = static_cast<OriginIndex>(origins_.size());
  if (free_.empty()) {
    origins_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  by_name_.emplace(name, index);
  origins_[index] = Origin{.name = std::move(name), .users = 1};
  return index;
}

void Origins::leave(OriginIndex index) {
  Origin& origin = origins_[index];
  POSTRIDER_ASSERT(origin.users > 0);
  if (--origin.users == 0) {
    by_name_.erase(origin.name);
    free_.push_back(index);
  }
}

void Origins::attempt_started(OriginIndex index, bool unproven) {
  ++origins_[index].users;
  origins_[index].trials += unproven ? 1 : 0;
}

void Origins::attempt_ended(OriginIndex index, bool unproven, bool soon) {
  origins_[index].hangs = !soon;
  attempt_abandoned(index, unproven);
}

void Origins::attempt_abandoned(OriginIndex index, bool unproven) {
  POSTRIDER_ASSERT(!unproven || origins_[index].trials > 0);
  origins_[index].trials -= unproven ? 1 : 0;
  leave(index);
}

}  // namespace postrider
