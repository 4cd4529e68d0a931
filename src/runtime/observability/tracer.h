// Chooses which events are traced and exports their spans. Exists only if tracing is on.
#pragma once

#include <memory>

#include "core/model/event.h"
#include "engine/batch.h"
#include "engine/tracing/event_spans.h"
#include "ports/span_exporter.h"

#include "runtime/observability/span_queue.h"

namespace postrider {

struct TracingOptions {
  double sample_ratio = 0.01;  // Of the events whose publisher did not decide it.
  SpanQueueOptions queue = {};
};

/// Any thread, except start and stop.
class Tracer {
 public:
  Tracer(const TracingOptions& options, std::unique_ptr<SpanExporter> exporter)
      : sample_ratio_(options.sample_ratio), queue_(options.queue, std::move(exporter)) {}

  void start() { queue_.start(); }
  /// See SpanQueue::stop.
  void stop() { queue_.stop(); }

  /// Begins a trace with the event, if it is in the sample and has no trace yet. A trace that its
  /// publisher did not sample stays so.
  void sample(Event& event) const;

  void committed(const Batch& batch, const BatchReceipt& receipt, const CommitTime& commit);

  /// `settlement` must be traced: see is_traced.
  void settled(const Settlement& settlement, const TracedReceiver& receiver);

  [[nodiscard]] SpanCounts counts() const { return queue_.counts(); }

 private:
  double sample_ratio_;
  SpanQueue queue_;
};

}  // namespace postrider
