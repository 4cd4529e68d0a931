// Identifiers: a prefix that names the kind, then a UUIDv7 as 26 characters of lower-case Crockford
// base32. Ids of one kind sort by creation time. Each kind is a distinct C++ type.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.h"

namespace postrider {

using Uuid = std::array<std::uint8_t, 16>;

/// Returns 26 characters. `parse_base32` accepts exactly what `to_base32` returns.
[[nodiscard]] std::string to_base32(const Uuid& uuid);
[[nodiscard]] std::optional<Uuid> parse_base32(std::string_view text);

template <class Kind>
struct Id {
  Uuid bytes{};

  [[nodiscard]] std::string to_string() const {
    return std::string{Kind::prefix} + to_base32(bytes);
  }

  [[nodiscard]] static std::optional<Id> parse(std::string_view text) {
    if (!text.starts_with(Kind::prefix)) {
      return std::nullopt;
    }
    const std::optional<Uuid> uuid = parse_base32(text.substr(Kind::prefix.size()));
    return uuid ? std::optional{Id{*uuid}} : std::nullopt;
  }

  auto operator<=>(const Id&) const = default;
};

struct EventKind {
  static constexpr std::string_view prefix = "evt_";
};
struct WebhookKind {
  static constexpr std::string_view prefix = "whk_";
};
struct DeliveryKind {
  static constexpr std::string_view prefix = "dlv_";
};
struct AttemptKind {
  static constexpr std::string_view prefix = "att_";
};
struct KeyKind {
  static constexpr std::string_view prefix = "key_";
};
struct OperationIdKind {
  static constexpr std::string_view prefix = "opr_";
};
struct AlertIdKind {
  static constexpr std::string_view prefix = "alt_";
};
struct ChannelIdKind {
  static constexpr std::string_view prefix = "ntc_";
};
struct NotificationIdKind {
  static constexpr std::string_view prefix = "ntf_";
};
struct MessageIdKind {
  static constexpr std::string_view prefix = "ntm_";
};

using EventId = Id<EventKind>;
using WebhookId = Id<WebhookKind>;
using DeliveryId = Id<DeliveryKind>;
using AttemptId = Id<AttemptKind>;
using KeyId = Id<KeyKind>;
using OperationId = Id<OperationIdKind>;
using AlertId = Id<AlertIdKind>;
using ChannelId = Id<ChannelIdKind>;
using NotificationId = Id<NotificationIdKind>;
using MessageId = Id<MessageIdKind>;

/// Generates strictly increasing UUIDv7 values, even within one millisecond and when the wall clock
/// steps back. Deterministic for a given seed. Not thread-safe: one owner, one thread.
class UuidGenerator {
 public:
  explicit UuidGenerator(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] Uuid next(WallTime now);

  template <class SomeId>
  [[nodiscard]] SomeId make(WallTime now) {
    return SomeId{next(now)};
  }

 private:
  std::uint64_t state_;
  std::int64_t last_ms_ = 0;
  std::uint16_t counter_ = 0;  // The 12 bits after the time. Orders ids of one millisecond.
};

/// Chooses the shard of a webhook. Must not change between versions.
[[nodiscard]] constexpr std::uint64_t stable_hash(const Uuid& uuid) {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a.
  for (const std::uint8_t byte : uuid) {
    hash = (hash ^ byte) * 1099511628211ull;
  }
  return hash;
}

}  // namespace postrider

template <class Kind>
struct std::hash<postrider::Id<Kind>> {
  std::size_t operator()(const postrider::Id<Kind>& id) const noexcept {
    std::uint64_t low = 0;  // The random half of a UUIDv7 is already a good hash.
    std::memcpy(&low, id.bytes.data() + 8, sizeof low);
    return static_cast<std::size_t>(low);
  }
};
