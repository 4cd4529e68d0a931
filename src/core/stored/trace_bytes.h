// The stored form of traces: the bytes of columns. Empty bytes are stored as NULL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/trace.h"

namespace postrider::stored {

/// The trace id, the parent and the flags. Empty if there is no trace.
[[nodiscard]] std::string pack_trace(const std::optional<TraceContext>& trace);
/// The id and whether it is sampled. Empty if there is no trace.
[[nodiscard]] std::string pack_mark(const std::optional<TraceMark>& mark);

/// nullopt if `packed` has another length: no trace is better than an event that cannot be read.
[[nodiscard]] std::optional<TraceContext> unpack_trace(std::string_view packed,
                                                       std::string_view state);
[[nodiscard]] std::optional<TraceMark> unpack_mark(std::string_view packed);

/// The value of `tracestate`. NULL if there is none.
[[nodiscard]] inline std::optional<std::string_view> state_of(
    const std::optional<TraceContext>& trace) {
  return trace && !trace->state.empty() ? std::optional<std::string_view>{trace->state}
                                        : std::nullopt;
}

}  // namespace postrider::stored
