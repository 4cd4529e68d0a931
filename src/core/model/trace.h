// The trace that an event belongs to: W3C Trace Context, as plain values.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace postrider {

struct TraceId {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const TraceId&) const = default;
};

struct SpanId {
  std::array<std::uint8_t, 8> bytes{};

  auto operator<=>(const SpanId&) const = default;
};

/// Lower-case hexadecimal digits.
[[nodiscard]] std::string to_string(const TraceId& id);
[[nodiscard]] std::string to_string(const SpanId& id);

constexpr std::uint8_t trace_flag_sampled = 0x01;
constexpr std::uint8_t trace_flag_random = 0x02;  // The lower 56 bits of the trace id are random.

/// Kept with an event that was published with a valid `traceparent`, or that this server chose to
/// sample.
struct TraceContext {
  TraceId trace_id;
  SpanId parent;  // The publisher's span. All zero: the trace begins with this event.
  std::uint8_t flags = 0;
  std::string state = {};  // The value of `tracestate`. May be empty.

  bool operator==(const TraceContext&) const = default;
};

[[nodiscard]] constexpr bool is_sampled(const TraceContext& trace) {
  return (trace.flags & trace_flag_sampled) != 0;
}

/// What a delivery keeps of the trace of its event.
struct TraceMark {
  TraceId id;
  bool sampled = false;

  bool operator==(const TraceMark&) const = default;
};

[[nodiscard]] inline std::optional<TraceMark> mark_of(const std::optional<TraceContext>& trace) {
  return trace ? std::optional{TraceMark{trace->trace_id, is_sampled(*trace)}} : std::nullopt;
}

}  // namespace postrider
