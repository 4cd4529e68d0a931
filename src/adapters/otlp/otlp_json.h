// The JSON encoding of OTLP, the protocol of OpenTelemetry. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/trace/span.h"

namespace postrider::otlp {

/// Who exports.
struct Service {
  std::string name;
  std::string version;
};

/// The body of an ExportTraceServiceRequest. Bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string write_request(const Service& service, std::span<const Span> spans);

/// How many spans the response says were rejected. 0 if it cannot be read.
[[nodiscard]] std::uint64_t read_rejected(std::string_view response);

}  // namespace postrider::otlp
