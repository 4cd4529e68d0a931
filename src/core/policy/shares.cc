#include "core/policy/shares.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.h"

namespace postrider {
namespace {

constexpr std::uint64_t owner_parts = 4;
constexpr std::uint64_t reserve_parts = 8;

std::uint64_t minus(std::uint64_t whole, std::uint64_t part) {
  return whole - std::min(whole, part);
}

bool fits(std::uint64_t held, std::uint64_t amount, std::uint64_t limit) {
  return amount <= minus(limit, held);
}

}  // namespace

std::string describe(const ShareOwner& owner) {
  switch (owner.kind) {
    case ShareKind::key:
      return fmt::format("API key `{}`", owner.name);
    case ShareKind::tenant:
      return fmt::format("tenant `{}`", owner.name);
    case ShareKind::address:
      return fmt::format("address {}", owner.name);
    case ShareKind::server_operator:
      break;
  }
  return "the operator";
}

ShareRules share_rules(std::uint64_t total, std::uint64_t unit) {
  return {.total = total,
          .owner_max = std::max(total / owner_parts, unit),
          .owner_min = unit,
          .reserve = std::min(std::max(total / reserve_parts, unit), minus(total, unit))};
}

ShareVerdict judge_share(const ShareRules& rules, const ShareOwner& owner, const ShareUse& use,
                         std::uint64_t amount) {
  if (owner.kind == ShareKind::server_operator) {
    return fits(use.total, amount, rules.total) ? ShareVerdict::granted : ShareVerdict::server_full;
  }
  if (!fits(use.owner, amount, rules.owner_max)) {
    return ShareVerdict::owner_full;
  }
  const std::uint64_t common = minus(rules.total, rules.reserve);
  if (!fits(use.others, amount, common) || !fits(use.total, amount, rules.total)) {
    return ShareVerdict::server_full;
  }
  const std::uint64_t left = common - use.others - amount;
  if (use.owner + amount <= std::max(left, rules.owner_min)) {
    return ShareVerdict::granted;
  }
  return use.owner > 0 ? ShareVerdict::owner_full : ShareVerdict::server_full;
}

ShareVerdict Shares::take(const ShareOwner& owner, std::uint64_t amount) {
  const ShareUse use{.owner = held_by(owner), .others = others_, .total = held()};
  const ShareVerdict verdict = judge_share(rules_, owner, use, amount);
  if (verdict == ShareVerdict::granted) {
    add(owner, amount);
  }
  return verdict;
}

void Shares::add(const ShareOwner& owner, std::uint64_t amount) {
  if (owner.kind == ShareKind::server_operator) {
    operator_ += amount;
    return;
  }
  held_[owner] += amount;
  others_ += amount;
}

void Shares::give_back(const ShareOwner& owner, std::uint64_t amount) {
  POSTRIDER_ASSERT(amount <= held_by(owner));
  if (owner.kind == ShareKind::server_operator) {
    operator_ -= amount;
    return;
  }
  const auto found = held_.find(owner);
  if (found == held_.end()) {
    return;  // Held nothing, and gives nothing back.
  }
  found->second -= amount;
  others_ -= amount;
  if (found->second == 0) {
    held_.erase(found);
  }
}

std::uint64_t Shares::held_by(const ShareOwner& owner) const {
  if (owner.kind == ShareKind::server_operator) {
    return operator_;
  }
  const auto found = held_.find(owner);
  return found == held_.end() ? 0 : found->second;
}

}  // namespace postrider
