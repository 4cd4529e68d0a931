// Divides a shared place, such as the places for live streams or the memory for request bodies, so
// that nobody can use it up. Pure.
//
// An owner, such as a tenant, may hold at most a fixed part, and never more than what is still
// free. So any number of greedy owners leave room for one more: a single one takes at most a
// quarter, ten of them a little less than ten elevenths. A reserve is kept for the operator.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace postrider {

/// Whose share something counts towards.
enum class ShareKind : std::uint8_t {
  server_operator,  // Keys with scope admin, and the server itself.
  key,              // A key that is neither the operator's nor a tenant's.
  tenant,
  address,  // A client that has shown no valid key.
};

struct ShareOwner {
  ShareKind kind = ShareKind::server_operator;
  std::string name = {};  // Of the key, tenant or address. Empty for the operator.

  bool operator==(const ShareOwner&) const = default;
};

/// For sentences: "tenant `acme`".
[[nodiscard]] std::string describe(const ShareOwner& owner);

struct ShareRules {
  std::uint64_t total = 0;
  std::uint64_t owner_max = 0;  // Of one owner. The operator has no such limit.
  std::uint64_t owner_min = 1;  // An owner may hold this much even if less than that is free.
  std::uint64_t reserve = 0;    // For the operator only.

  bool operator==(const ShareRules&) const = default;
};

/// A quarter for each owner and an eighth for the operator, but at least `unit`.
[[nodiscard]] ShareRules share_rules(std::uint64_t total, std::uint64_t unit = 1);

enum class ShareVerdict : std::uint8_t {
  granted,
  owner_full,   // The owner holds its part.
  server_full,  // Others hold the rest.
};

/// What the owners hold.
struct ShareUse {
  std::uint64_t owner = 0;
  std::uint64_t others = 0;  // Of all owners except the operator, including `owner`.
  std::uint64_t total = 0;   // Including the operator.
};

/// Whether the owner may take `amount` more.
[[nodiscard]] ShareVerdict judge_share(const ShareRules& rules, const ShareOwner& owner,
                                       const ShareUse& use, std::uint64_t amount);

/// Counts what each owner holds.
class Shares {
 public:
  explicit Shares(ShareRules rules) : rules_(rules) {}

  /// What is held stays held.
  void change(ShareRules rules) { rules_ = rules; }
  [[nodiscard]] const ShareRules& rules() const { return rules_; }

  /// Takes nothing unless granted.
  [[nodiscard]] ShareVerdict take(const ShareOwner& owner, std::uint64_t amount = 1);
  /// Takes even above the limits, for what exists already.
  void add(const ShareOwner& owner, std::uint64_t amount = 1);
  /// At most what the owner holds.
  void give_back(const ShareOwner& owner, std::uint64_t amount = 1);

  [[nodiscard]] std::uint64_t held_by(const ShareOwner& owner) const;
  [[nodiscard]] std::uint64_t held() const { return others_ + operator_; }

 private:
  struct Hash {
    std::size_t operator()(const ShareOwner& owner) const {
      return std::hash<std::string>{}(owner.name) * 4 + static_cast<std::size_t>(owner.kind);
    }
  };

  ShareRules rules_;
  std::unordered_map<ShareOwner, std::uint64_t, Hash> held_;  // Without the operator.
  std::uint64_t others_ = 0;                                  // The sum of held_.
  std::uint64_t operator_ = 0;
};

}  // namespace postrider
