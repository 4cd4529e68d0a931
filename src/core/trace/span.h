// A span: what one step of an event's way took, for a collector of traces. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/time.h"
#include "core/model/trace.h"

namespace postrider {

/// The numbers of OTLP.
enum class SpanKind : std::uint8_t { internal = 1, server = 2, client = 3, consumer = 5 };

struct SpanAttribute {
  std::string_view name;  // Lives as long as the process.
  std::variant<std::string, std::int64_t, bool> value;

  bool operator==(const SpanAttribute&) const = default;
};

struct Span {
  TraceId trace_id;
  SpanId id;
  std::optional<SpanId> parent = std::nullopt;
  std::string state = {};      // `tracestate`.
  std::string_view name = {};  // Lives as long as the process.
  SpanKind kind = SpanKind::internal;
  Micros start{0};  // Since 1970.
  Micros duration{0};
  std::vector<SpanAttribute> attributes = {};
  std::optional<std::string> error = std::nullopt;  // Set: the step failed.

  bool operator==(const Span&) const = default;
};

}  // namespace postrider
