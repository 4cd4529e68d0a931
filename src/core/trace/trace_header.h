// The headers `traceparent` and `tracestate` of W3C Trace Context: which ones are valid, and how
// they are written. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/trace.h"

namespace postrider {

/// A longer `tracestate` is cut: first entries of more than 128 characters are left out, then the
/// last ones.
constexpr std::size_t tracestate_bytes_max = 512;
constexpr std::size_t tracestate_entries_max = 32;

/// Returns nullopt if `traceparent` is not valid: it is then ignored, and `tracestate` with it. A
/// `tracestate` that is not valid is ignored alone. Several `tracestate` headers are joined with
/// commas. Of the flags, those that are not defined are dropped.
[[nodiscard]] std::optional<TraceContext> parse_trace(std::string_view traceparent,
                                                      std::string_view tracestate);

/// The `traceparent` that names `span` as the parent. Version 00.
[[nodiscard]] std::string write_traceparent(const TraceContext& trace, const SpanId& span);

}  // namespace postrider
