#include "runtime/observability/span_queue.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <spdlog/spdlog.h>

#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

constexpr std::array<std::string_view, span_drop_count> drop_names = {"queue_full", "unavailable",
                                                                      "refused", "stopped"};

}  // namespace

std::vector<MetricSample> to_samples(const SpanCounts& counts) {
  std::vector<MetricSample> samples = {{.name = "postrider_trace_spans_exported_total",
                                        .help = "Spans that the collector of traces accepted.",
                                        .is_total = true,
                                        .labels = {},
                                        .value = static_cast<double>(counts.exported)}};
  for (std::size_t why = 0; why < span_drop_count; ++why) {
    samples.push_back({.name = "postrider_trace_spans_dropped_total",
                       .help = "Spans that were not exported, by reason.",
                       .is_total = true,
                       .labels = {{"reason", std::string{drop_names[why]}}},
                       .value = static_cast<double>(counts.dropped[why])});
  }
  samples.push_back({.name = "postrider_trace_spans_waiting",
                     .help = "Spans that wait to be exported.",
                     .is_total = false,
                     .labels = {},
                     .value = static_cast<double>(counts.waiting)});
  return samples;
}

SpanQueue::SpanQueue(SpanQueueOptions options, std::unique_ptr<SpanExporter> exporter)
    : options_(options), exporter_(std::move(exporter)) {}

SpanQueue::~SpanQueue() { stop(); }

void SpanQueue::start() {
  thread_ = std::thread{[this] { run(); }};
}

void SpanQueue::stop() {
  if (!thread_.joinable()) {
    return;
  }
  bool ended = false;
  {
    std::unique_lock lock{mutex_};
    is_stopping_ = true;
    changed_.notify_all();
    ended = changed_.wait_for(lock, options_.stop_timeout, [this] { return has_ended_; });
  }
  if (!ended) {
    exporter_->interrupt();
  }
  thread_.join();
}

void SpanQueue::add(std::vector<Span> spans) {
  const std::lock_guard lock{mutex_};
  if (has_ended_) {
    count_dropped(SpanDrop::stopped, spans.size());
    return;
  }
  if (queue_.size() + spans.size() > options_.spans_max) {
    count_dropped(SpanDrop::queue_full, spans.size());
    return;
  }
  const bool was_full = queue_.size() >= options_.batch_max;
  std::ranges::move(spans, std::back_inserter(queue_));
  size_ = queue_.size();
  if (!was_full && queue_.size() >= options_.batch_max) {
    changed_.notify_all();
  }
}

SpanCounts SpanQueue::counts() const {
  SpanCounts counts{.exported = exported_, .waiting = size_};
  std::ranges::copy(dropped_, counts.dropped.begin());
  return counts;
}

void SpanQueue::run() {
  for (bool stopping = false; !stopping;) {
    const Millis delay = step();
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, delay, [this] {
      return is_stopping_ || (!is_failing_ && queue_.size() >= options_.batch_max);
    });
    stopping = is_stopping_;
  }
  send_the_rest();
}

Millis SpanQueue::step() {
  if (!has_batch()) {
    return options_.period;
  }
  const tl::expected<ExportReceipt, ExportFailure> sent = exporter_->send(batch_, options_.timeout);
  if (!sent) {
    return on_failed(sent.error());
  }
  on_accepted(*sent);
  return options_.period;
}

void SpanQueue::send_the_rest() {
  while (has_batch()) {
    const tl::expected<ExportReceipt, ExportFailure> sent =
        exporter_->send(batch_, options_.stop_timeout);
    if (!sent) {
      break;
    }
    on_accepted(*sent);
  }
  drop_batch(SpanDrop::stopped);
  const std::lock_guard lock{mutex_};
  count_dropped(SpanDrop::stopped, queue_.size());
  queue_.clear();
  size_ = 0;
  has_ended_ = true;
  changed_.notify_all();
}

bool SpanQueue::has_batch() {
  if (!batch_.empty()) {
    return true;
  }
  const std::lock_guard lock{mutex_};
  const auto end =
      queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), options_.batch_max));
  std::move(queue_.begin(), end, std::back_inserter(batch_));
  queue_.erase(queue_.begin(), end);
  size_ = queue_.size();
  return !batch_.empty();
}

void SpanQueue::on_accepted(const ExportReceipt& receipt) {
  const std::uint64_t rejected = std::min<std::uint64_t>(receipt.rejected, batch_.size());
  exported_ += batch_.size() - rejected;
  count_dropped(SpanDrop::refused, rejected);
  batch_.clear();
  tries_ = 0;
  retry_delay_ = Millis{0};
  if (std::exchange(is_failing_, false)) {
    spdlog::info("tracing.export_recovered");
  }
}

Millis SpanQueue::on_failed(const ExportFailure& failure) {
  if (!std::exchange(is_failing_, true)) {
    spdlog::warn("tracing.export_failed reason=\"{}\"", log_safe(failure.reason));
  }
  if (!failure.retry) {
    drop_batch(SpanDrop::refused);
    return options_.period;
  }
  if (++tries_ >= options_.tries_max) {
    drop_batch(SpanDrop::unavailable);
  }
  retry_delay_ = std::clamp(2 * retry_delay_, options_.retry_delay_min, options_.retry_delay_max);
  return std::max(retry_delay_, std::min(failure.retry_after, options_.retry_delay_max));
}

void SpanQueue::drop_batch(SpanDrop why) {
  count_dropped(why, batch_.size());
  batch_.clear();
  tries_ = 0;
}

}  // namespace postrider
