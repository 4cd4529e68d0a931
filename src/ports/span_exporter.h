// Hands spans to a collector of traces.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tl/expected.hpp>

#include "core/base/time.h"
#include "core/trace/span.h"

namespace postrider {

struct ExportReceipt {
  std::uint64_t rejected = 0;  // Spans that the collector did not accept. Do not send them again.
};

struct ExportFailure {
  std::string reason;     // A sentence.
  bool retry = true;      // False: the collector will never accept this batch.
  Millis retry_after{0};  // The collector asks for this pause at least.
};

/// Used by one thread, except for `interrupt`.
class SpanExporter {
 public:
  virtual ~SpanExporter() = default;

  /// Sends all spans in one request. Blocks for at most `timeout`.
  [[nodiscard]] virtual tl::expected<ExportReceipt, ExportFailure> send(std::span<const Span> spans,
                                                                        Millis timeout) = 0;

  /// Makes the current `send`, and all later ones, fail soon. Any thread.
  virtual void interrupt() = 0;

 protected:
  SpanExporter() = default;
  SpanExporter(const SpanExporter&) = default;
  SpanExporter& operator=(const SpanExporter&) = default;
};

}  // namespace postrider
