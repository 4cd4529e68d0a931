#include "runtime/observability/metrics.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include "runtime/observability/circuit_states.h"
#include "runtime/observability/metric_families.h"
#include "runtime/observability/tenant_numbers.h"

namespace postrider {
namespace {

using prometheus::Counter;
using prometheus::Histogram;

/// The status label of an attempt.
std::string_view status_of(const std::optional<FailureCategory>& failure) {
  if (!failure) {
    return "success";
  }
  return *failure == FailureCategory::timeout ? "timeout" : "failure";
}

/// The number of automatic retries among `budget_used` attempts.
std::uint32_t retries(std::uint32_t budget_used) { return std::max(budget_used, 1u) - 1; }

/// Adds what `refresh_gauges` shows.
void add(const ShardView& view, ShardView& sum) {
  for (std::size_t priority = 0; priority < priority_count; ++priority) {
    sum.waiting[priority] += view.waiting[priority];
    sum.in_flight_by_priority[priority] += view.in_flight_by_priority[priority];
  }
  for (std::size_t state = 0; state < sum.circuits.size(); ++state) {
    sum.circuits[state] += view.circuits[state];
  }
  sum.in_flight += view.in_flight;
  sum.rate_limited_total += view.rate_limited_total;
}

std::string label_of(Priority priority) { return std::string{to_string(priority)}; }

double seconds(Micros duration) { return static_cast<double>(duration.count()) / 1e6; }

prometheus::ClientMetric to_metric(const MetricSample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) {
    metric.label.push_back({name, value});
  }
  if (!sample.histogram) {
    (sample.is_total ? metric.counter.value : metric.gauge.value) = sample.value;
    return metric;
  }
  metric.histogram.sample_count = sample.histogram->count;
  metric.histogram.sample_sum = sample.histogram->sum;
  for (const HistogramSample::Bucket& bucket : sample.histogram->buckets) {
    metric.histogram.bucket.push_back({bucket.count, bucket.bound});
  }
  return metric;
}

prometheus::MetricType type_of(const MetricSample& sample) {
  if (sample.histogram) {
    return prometheus::MetricType::Histogram;
  }
  return sample.is_total ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
}

void append_samples(const std::vector<MetricSample>& samples,
                    std::vector<prometheus::MetricFamily>& families) {
  for (const MetricSample& sample : samples) {
    if (families.empty() || families.back().name != sample.name) {
      prometheus::MetricFamily family;
      family.name = sample.name;
      family.help = sample.help;
      family.type = type_of(sample);
      families.push_back(std::move(family));
    }
    families.back().metric.push_back(to_metric(sample));
  }
}

MetricSample delivered_sample(const LatencyHistogram& histogram) {
  return {
      .name = "postrider_publish_to_delivered_seconds",
      .help =
          "Time from the publish of an event to its successful delivery, without replays, tests "
          "and deliveries that a user sent again",
      .labels = {},
      .histogram = histogram.sample()};
}

/// A rule sees the first increase of a counter only if the counter was shown before.
void show_from_start(MetricFamilies& families) {
  constexpr std::array states{CircuitState::closed, CircuitState::open, CircuitState::half_open};
  for (const CircuitState from : states) {
    for (const CircuitState to : states) {
      if (from != to) {
        families.circuit_transitions.Add({{"from_state", std::string{to_string(from)}},
                                          {"to_state", std::string{to_string(to)}}});
      }
    }
  }
  for (const char* reason : {"queue_full", "fanout_backlog", "store", "draining"}) {
    families.refused.Add({{"reason", reason}});
  }
  for (const char* kind : {"event", "delivery", "attempt", "dead_letter", "operation", "webhook"}) {
    families.removed.Add({{"kind", kind}});
  }
  for (std::size_t kind = 0; kind < alert_kind_count; ++kind) {
    const std::string name{to_string(static_cast<AlertKind>(kind))};
    families.alerts.Add({{"kind", name}});
    families.alerts_active.Add({{"kind", name}});
  }
}

class PrometheusAttemptMeter final : public AttemptMeter {
 public:
  explicit PrometheusAttemptMeter(MetricFamilies& families) : families_(families) {}

  void record(const AttemptFacts& facts) override {
    key_.assign(facts.tenant_id).append(1, '\0').append(facts.event_type).append(1, '\0');
    key_ += static_cast<char>(facts.failure ? static_cast<int>(*facts.failure) : -1);
    counter(facts).Increment();
    families_.attempts.fetch_add(1, std::memory_order_relaxed);
    families_.successes.fetch_add(facts.failure ? 0 : 1, std::memory_order_relaxed);
    families_.duration.Observe(seconds(facts.duration));
    if (facts.delivered_after) {
      families_.delivered_after.record(*facts.delivered_after);
    }
    count_ended(facts.state);
    watch_duration(facts.duration);
    attempt_number(facts.state).Observe(facts.number);
    families_.state_counters[static_cast<std::size_t>(facts.state)]->Increment();
    if (facts.state == DeliveryState::dead_letter || facts.state == DeliveryState::succeeded) {
      families_.retry_attempts.Observe(retries(facts.budget_used));
    }
    if (facts.state == DeliveryState::dead_letter) {
      families_.dlq_entries.Increment();
    }
  }

 private:
  void count_ended(DeliveryState state) {
    const bool dead = state == DeliveryState::dead_letter;
    if (dead || state == DeliveryState::succeeded) {
      families_.ended.fetch_add(1, std::memory_order_relaxed);
      families_.dead_letters.fetch_add(dead ? 1 : 0, std::memory_order_relaxed);
    }
  }

  void watch_duration(Micros duration) {
    const Micros::rep slow_over = families_.slow_over.load(std::memory_order_relaxed);
    if (slow_over > 0 && duration.count() > slow_over) {
      const std::lock_guard lock{families_.slow_mutex};
      families_.slow.add(duration);
    }
  }

  Counter& counter(const AttemptFacts& facts) {
    const auto found = counters_.find(key_);
    if (found != counters_.end()) {
      return *found->second;
    }
    if (counters_.size() >= 10'000) {
      counters_.clear();  // A cache only: the registry owns the counters.
    }
    Counter& made = families_.deliveries.Add(
        {{"status", std::string{status_of(facts.failure)}},
         {"event_type", families_.event_types.label(facts.event_type)},
         {"failure_category", facts.failure ? std::string{to_string(*facts.failure)} : "none"},
         {"tenant_id", families_.tenants.label(facts.tenant_id)}});
    counters_.emplace(key_, &made);
    return made;
  }

  Histogram& attempt_number(DeliveryState state) {
    Histogram*& histogram = attempt_numbers_[static_cast<std::size_t>(state)];
    if (histogram == nullptr) {
      histogram = &families_.attempt_number.Add({{"outcome", std::string{to_string(state)}}},
                                                attempt_buckets);
    }
    return *histogram;
  }

  MetricFamilies& families_;
  std::string key_;  // A member, so that a known label set needs no allocation.
  std::unordered_map<std::string, Counter*> counters_;
  std::array<Histogram*, delivery_state_count> attempt_numbers_{};
};

class PrometheusMetrics final : public Metrics {
 public:
  explicit PrometheusMetrics(std::string pool_id) : pool_id_(std::move(pool_id)) {
    show_from_start(families_);
  }

  std::unique_ptr<AttemptMeter> make_attempt_meter() override {
    return std::make_unique<PrometheusAttemptMeter>(families_);
  }

  void committed(const CommitFacts& facts) override {
    families_.published.Increment(static_cast<double>(facts.publishes));
    families_.commit.Observe(seconds(facts.duration));
    families_.commit_batch.Observe(static_cast<double>(facts.publishes + facts.settlements));
  }

  void store_failed() override { families_.store_failures.Increment(); }

  void attempt_postponed() override {
    families_.postponed.Increment();
    families_.postponed_count.fetch_add(1, std::memory_order_relaxed);
  }

  void publish_refused(std::string_view reason) override {
    families_.refused.Add({{"reason", std::string{reason}}}).Increment();
  }

  void circuit_changed(WebhookId webhook_id, CircuitState from, CircuitState to) override {
    families_.circuit_transitions
        .Add({{"from_state", std::string{to_string(from)}},
              {"to_state", std::string{to_string(to)}}})
        .Increment();
    circuits_.set(webhook_id, to);
  }

  void circuit_restored(WebhookId webhook_id, CircuitState state) override {
    circuits_.set(webhook_id, state);
  }

  void webhook_removed(WebhookId webhook_id) override {
    circuits_.forget(webhook_id);
    rate_limits_.forget(webhook_id);
  }

  void alert_raised(AlertKind kind) override {
    families_.alerts.Add({{"kind", std::string{to_string(kind)}}}).Increment();
  }

  void alerts_changed(AlertKind kind, std::int64_t change) override {
    families_.alerts_active.Add({{"kind", std::string{to_string(kind)}}})
        .Increment(static_cast<double>(change));
  }

  void waiting_counted(const TenantCounts& waiting) override {
    const std::lock_guard lock{mutex_};
    waiting_ = waiting.by_priority();
    waiting_known_ = true;
    numbers_.set_waiting(waiting);
  }

  void waiting_changed(const TenantCounts& change) override {
    const std::lock_guard lock{mutex_};
    waiting_ += change.by_priority();
    numbers_.add_waiting(change);
  }

  void watch_slow_attempts(Millis longer_than) override {
    families_.slow_over.store(Micros{longer_than}.count(), std::memory_order_relaxed);
    (void)take_slow();  // They were measured against another limit.
  }

  void waiting_cancelled(const TenantCounts& cancelled) override {
    deliveries_entered(DeliveryState::cancelled, cancelled.total());
    const std::lock_guard lock{mutex_};
    waiting_ -= cancelled.by_priority();
    numbers_.remove_waiting(cancelled);
  }

  RateLimitMeter& rate_limits() override { return rate_limits_; }

  ServerFacts facts(std::int64_t dead_letters_max) override {
    DurationHistogram slow = take_slow();  // Before the attempts, which include them.
    ServerFacts facts{.attempts = families_.attempts.load(std::memory_order_relaxed),
                      .successes = families_.successes.load(std::memory_order_relaxed),
                      .ended = families_.ended.load(std::memory_order_relaxed),
                      .new_dead_letters = families_.dead_letters.load(std::memory_order_relaxed),
                      .postponed = families_.postponed_count.load(std::memory_order_relaxed),
                      .slow = std::move(slow),
                      .waiting = 0,
                      .waiting_known = false,
                      .in_flight = 0,
                      .in_flight_max = 0,
                      .dead_letters = {},
                      .dead_letters_known = false};
    const std::lock_guard lock{mutex_};
    facts.waiting = waiting_.total();
    facts.waiting_known = waiting_known_;
    for (const auto& [worker, seen] : shards_) {
      facts.in_flight += seen.view.in_flight;
      facts.in_flight_max = seen.in_flight_max;  // The same for all workers.
    }
    facts.dead_letters_known = dead_letters_known_;
    facts.dead_letters = numbers_.dead_letters_over(dead_letters_max);
    return facts;
  }

  CurrentLoad current_load(const std::optional<TenantId>& tenant_id) override {
    const std::lock_guard lock{mutex_};
    return tenant_id ? numbers_.of(*tenant_id) : numbers_.total();
  }

  void dead_letters_changed(std::string_view tenant_id, std::int64_t change) override {
    const std::lock_guard lock{mutex_};
    const std::int64_t made = numbers_.add_dead_letters(TenantId{tenant_id}, change);
    dlq_size(tenant_id).Increment(static_cast<double>(made));
  }

  void dead_letters_counted(const std::map<TenantId, std::uint64_t>& counts) override {
    const std::lock_guard lock{mutex_};
    numbers_.set_dead_letters(counts);
    dead_letters_known_ = true;
    // Several tenants can share a gauge, and a scrape must not see a part of the sum.
    std::map<prometheus::Gauge*, double> sizes;
    for (prometheus::Gauge* const gauge : dlq_sizes_) {
      sizes.emplace(gauge, 0);
    }
    for (const auto& [tenant_id, count] : counts) {
      sizes[&dlq_size(tenant_id)] += static_cast<double>(count);
    }
    for (const auto& [gauge, size] : sizes) {
      gauge->Set(size);
    }
  }

  void tenant_loads_changed(const TenantLoadChanges& changes) override {
    const std::lock_guard lock{mutex_};
    numbers_.add_loads(changes);
  }

  void shard_seen(std::size_t worker, const ShardView& view, std::uint32_t in_flight_max) override {
    const std::lock_guard lock{mutex_};
    shards_[worker] = {view, in_flight_max};
  }

  void retention_removed(std::string_view kind, std::uint64_t count) override {
    families_.removed.Add({{"kind", std::string{kind}}}).Increment(static_cast<double>(count));
  }

  void delivery_given_up(std::uint32_t budget_used) override {
    families_.dlq_entries.Increment();
    families_.ended.fetch_add(1, std::memory_order_relaxed);
    families_.dead_letters.fetch_add(1, std::memory_order_relaxed);
    families_.retry_attempts.Observe(retries(budget_used));
    deliveries_entered(DeliveryState::dead_letter, 1);
  }

  void deliveries_entered(DeliveryState state, std::int64_t count) override {
    families_.state_counters[static_cast<std::size_t>(state)]->Increment(
        static_cast<double>(count));
  }

  void archive_failed() override { families_.archive_failures.Increment(); }

  void add_samples(CollectSamples collect) override {
    const std::lock_guard lock{mutex_};
    sample_sources_.push_back(std::move(collect));
  }

  std::string text() override {
    const std::uint32_t closed = refresh_gauges();
    std::vector<prometheus::MetricFamily> families = families_.registry.Collect();
    append_samples(circuits_.samples(closed), families);
    append_samples({delivered_sample(families_.delivered_after)}, families);
    for (const CollectSamples& collect : sample_sources()) {
      append_samples(collect(), families);
    }
    return prometheus::TextSerializer{}.Serialize(families);
  }

 private:
  struct SeenShard {
    ShardView view;
    std::uint32_t in_flight_max = 1;
  };

  DurationHistogram take_slow() {
    const std::lock_guard lock{families_.slow_mutex};
    return std::exchange(families_.slow, {});
  }

  std::vector<CollectSamples> sample_sources() {
    const std::lock_guard lock{mutex_};
    return sample_sources_;
  }

  /// Call with the lock.
  prometheus::Gauge& dlq_size(std::string_view tenant_id) {
    prometheus::Gauge& gauge =
        families_.dlq_size.Add({{"tenant_id", families_.tenants.label(tenant_id)}});
    dlq_sizes_.insert(&gauge);
    return gauge;
  }

  /// Returns the number of closed circuits.
  std::uint32_t refresh_gauges() {
    const std::lock_guard lock{mutex_};
    ShardView all;
    double in_flight_max = 1;
    for (const auto& [worker, seen] : shards_) {
      add(seen.view, all);
      const std::string pool = fmt::format("{}", worker);
      families_.in_flight.Add({{"pool_id", pool}}).Set(seen.view.in_flight);
      families_.unsettled.Add({{"pool_id", pool}}).Set(seen.view.unsettled);
      in_flight_max = seen.in_flight_max;
    }
    // All workers share the slots, so they are one pool.
    families_.utilization.Add({{"pool_id", pool_id_}}).Set(all.in_flight / in_flight_max);
    families_.rate_limited.Increment(static_cast<double>(all.rate_limited_total) -
                                     families_.rate_limited.Value());
    families_.waiting.Set(static_cast<double>(waiting_.total()));
    for (const Priority priority : {Priority::high, Priority::normal, Priority::low}) {
      const auto index = static_cast<std::size_t>(priority);
      // The store counts an attempt as waiting until it is settled.
      const std::int64_t queued = waiting_[priority] - all.in_flight_by_priority[index];
      families_.queue_depth.Add({{"priority", label_of(priority)}})
          .Set(static_cast<double>(std::max<std::int64_t>(queued, 0)));
      families_.in_memory.Add({{"priority", label_of(priority)}}).Set(all.waiting[index]);
    }
    for (std::size_t state = 0; state < all.circuits.size(); ++state) {
      families_.circuits.Add({{"state", std::string{to_string(static_cast<CircuitState>(state))}}})
          .Set(all.circuits[state]);
    }
    return all.circuits[static_cast<std::size_t>(CircuitState::closed)];
  }

  const std::string pool_id_;
  MetricFamilies families_;
  CircuitStates circuits_;
  RateLimitMeter rate_limits_;
  std::mutex mutex_;  // Guards the seven below.
  PriorityCounts waiting_;
  bool waiting_known_ = false;  // Counted since the start.
  TenantNumbers numbers_;
  bool dead_letters_known_ = false;         // Counted since the start.
  std::set<prometheus::Gauge*> dlq_sizes_;  // All that exist.
  std::vector<CollectSamples> sample_sources_;
  std::map<std::size_t, SeenShard> shards_;
};

}  // namespace

std::unique_ptr<Metrics> make_metrics(std::string pool_id) {
  return std::make_unique<PrometheusMetrics>(std::move(pool_id));
}

}  // namespace postrider
