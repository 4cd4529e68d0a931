#include "runtime/observability/tracer.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "core/trace/sampling.h"

namespace postrider {

void Tracer::sample(Event& event) const {
  const TraceId id = own_trace_id(event.id);
  if (!event.trace && is_in_sample(id, sample_ratio_)) {
    event.trace = TraceContext{.trace_id = id, .parent = {}, .flags = trace_flag_sampled};
  }
}

void Tracer::committed(const Batch& batch, const BatchReceipt& receipt, const CommitTime& commit) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < batch.publishes.size(); ++i) {
    const Publish& publish = batch.publishes[i];
    const PublishReceipt& answer = receipt.publishes[i];
    const bool is_known =
        std::holds_alternative<Accepted>(answer) || std::holds_alternative<Duplicate>(answer);
    if (is_traced(publish) && is_known) {
      std::ranges::move(publish_spans(publish, answer, commit), std::back_inserter(spans));
    }
  }
  if (!spans.empty()) {
    queue_.add(std::move(spans));
  }
}

void Tracer::settled(const Settlement& settlement, const TracedReceiver& receiver) {
  // Many receivers may fail at once, and a span costs more than an attempt's log line.
  if (queue_.has_room()) {
    queue_.add(settlement_spans(settlement, receiver));
  } else {
    queue_.drop(1);
  }
}

}  // namespace postrider
