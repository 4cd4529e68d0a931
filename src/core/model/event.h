// An event, published once. Its data is stored and sent byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "core/model/trace.h"

namespace postrider {

/// The owner of the data: `tnt_…` or any string chosen by the caller. Empty: the default tenant.
using TenantId = std::string;

enum class Priority : std::uint8_t { high, normal, low };
constexpr std::size_t priority_count = 3;

[[nodiscard]] std::string_view to_string(Priority priority);
[[nodiscard]] std::optional<Priority> parse_priority(std::string_view text);

/// The owner of the webhooks that the server's notification channels have. Nobody can register it,
/// publish to it or have a key for it.
constexpr std::string_view reserved_tenant = "postrider";

/// True for the types of events that only the server publishes, to the webhooks of notification
/// channels. No subscription matches them.
[[nodiscard]] constexpr bool is_reserved_type(std::string_view type) {
  return type.starts_with("postrider.");
}

/// The `source` of test events. A test event goes to one webhook only and is never replayed.
constexpr std::string_view test_source = "postrider.test";

struct Event {
  EventId id;
  TenantId tenant_id;
  std::string type;
  std::string data;  // JSON text, verbatim.
  std::string idempotency_key;
  std::optional<std::string> resource_id;
  std::optional<std::string> source;
  std::optional<std::string> source_id =
      std::nullopt;  // Its id where it was taken from, if it was.
  std::optional<std::string> ordering_key;
  std::string metadata = "{}";  // A JSON object, verbatim.
  Priority priority = Priority::normal;
  WallTime timestamp;   // When it happened. Set by the publisher; default: `created_at`.
  WallTime created_at;  // When the server accepted it.
  /// The position in publish order, assigned by the store. Unique, with gaps. 0: not stored.
  std::int64_t sequence = 0;
  std::optional<TraceContext> trace = std::nullopt;

  bool operator==(const Event&) const = default;
};

/// The trace of an event that has no trace context: the bytes of its id.
[[nodiscard]] inline TraceId own_trace_id(EventId id) { return TraceId{id.bytes}; }

/// Every event has a trace id.
[[nodiscard]] inline TraceId trace_id_of(const Event& event) {
  return event.trace ? event.trace->trace_id : own_trace_id(event.id);
}

[[nodiscard]] inline bool is_test(const Event& event) { return event.source == test_source; }

}  // namespace postrider
