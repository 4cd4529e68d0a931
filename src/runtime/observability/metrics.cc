#include "runtime/observability/metrics.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include "runtime/observability/metric_families.h"

namespace postrider {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

double seconds(Micros duration) { return static_cast<double>(duration.count()) / 1e6; }

prometheus::ClientMetric to_metric(const MetricSample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) {
    metric.label.push_back({name, value});
  }
  (sample.is_total ? metric.counter.value : metric.gauge.value) = sample.value;
  return metric;
}

void append_samples(const std::vector<MetricSample>& samples,
                    std::vector<prometheus::MetricFamily>& families) {
  for (const MetricSample& sample : samples) {
    if (families.empty() || families.back().name != sample.name) {
      prometheus::MetricFamily family;
      family.name = sample.name;
      family.help = sample.help;
      family.type =
          sample.is_total ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
      families.push_back(std::move(family));
    }
    families.back().metric.push_back(to_metric(sample));
  }
}

class PrometheusAttemptMeter final : public AttemptMeter {
 public:
  explicit PrometheusAttemptMeter(MetricFamilies& families) : families_(families) {}

  void record(const AttemptFacts& facts) override {
    key_.assign(facts.tenant_id).append(1, '\0').append(facts.event_type).append(1, '\0');
    key_ += static_cast<char>(facts.state);
    key_ += static_cast<char>(facts.failure ? static_cast<int>(*facts.failure) : -1);
    counter(facts).Increment();
    families_.attempts.fetch_add(1, std::memory_order_relaxed);
    families_.successes.fetch_add(facts.failure ? 0 : 1, std::memory_order_relaxed);
    families_.duration.Observe(seconds(facts.duration));
    attempt_number(facts.state).Observe(facts.number);
    if (facts.state == DeliveryState::dead_letter) {
      families_.dlq_entries.Increment();
    }
  }

 private:
  Counter& counter(const AttemptFacts& facts) {
    const auto found = counters_.find(key_);
    if (found != counters_.end()) {
      return *found->second;
    }
    if (counters_.size() >= 10'000) {
      counters_.clear();  // A cache only: the registry owns the counters.
    }
    Counter& made = families_.deliveries.Add(
        {{"status", std::string{to_string(facts.state)}},
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
  std::array<Histogram*, 5> attempt_numbers_{};
};

class PrometheusMetrics final : public Metrics {
 public:
  std::unique_ptr<AttemptMeter> make_attempt_meter() override {
    return std::make_unique<PrometheusAttemptMeter>(families_);
  }

  void committed(const CommitFacts& facts) override {
    families_.published.Increment(static_cast<double>(facts.publishes));
    families_.commit.Observe(seconds(facts.duration));
    families_.commit_batch.Observe(static_cast<double>(facts.publishes + facts.settlements));
  }

  void store_failed() override { families_.store_failures.Increment(); }

  void publish_refused(std::string_view reason) override {
    families_.refused.Add({{"reason", std::string{reason}}}).Increment();
  }

  void circuit_changed(WebhookId webhook_id, CircuitState from, CircuitState to) override {
    families_.circuit_transitions
        .Add({{"from_state", std::string{to_string(from)}},
              {"to_state", std::string{to_string(to)}}})
        .Increment();
    const std::lock_guard lock{mutex_};
    const auto found = circuits_.find(webhook_id);
    if (found == circuits_.end() && circuits_.size() >= label_values_max) {
      return;  // postrider_circuits still counts it.
    }
    auto& gauges = found != circuits_.end() ? found->second : add_circuit(webhook_id);
    for (std::size_t state = 0; state < gauges.size(); ++state) {
      gauges[state]->Set(state == static_cast<std::size_t>(to) ? 1 : 0);
    }
  }

  void webhook_removed(WebhookId webhook_id) override {
    const std::lock_guard lock{mutex_};
    const auto found = circuits_.find(webhook_id);
    if (found == circuits_.end()) {
      return;
    }
    for (Gauge* gauge : found->second) {
      families_.circuit_state.Remove(gauge);
    }
    circuits_.erase(found);
  }

  void alert_raised(AlertKind kind) override {
    families_.alerts.Add({{"kind", std::string{to_string(kind)}}}).Increment();
  }

  void alerts_changed(AlertKind kind, std::int64_t change) override {
    families_.alerts_active.Add({{"kind", std::string{to_string(kind)}}})
        .Increment(static_cast<double>(change));
  }

  void waiting_counted(std::uint64_t count) override {
    families_.waiting.Set(static_cast<double>(count));
  }

  void waiting_changed(std::int64_t change) override {
    families_.waiting.Increment(static_cast<double>(change));
  }

  ServerFacts facts(std::int64_t dead_letters_max) override {
    ServerFacts facts{.attempts = families_.attempts.load(std::memory_order_relaxed),
                      .successes = families_.successes.load(std::memory_order_relaxed),
                      .waiting = static_cast<std::int64_t>(families_.waiting.Value()),
                      .in_flight = 0,
                      .in_flight_max = 0,
                      .dead_letters = {}};
    const std::lock_guard lock{mutex_};
    for (const auto& [worker, seen] : shards_) {
      facts.in_flight += seen.view.in_flight;
      facts.in_flight_max = seen.in_flight_max;  // The same for all workers.
    }
    for (const auto& [tenant_id, count] : dead_letters_) {
      if (count > dead_letters_max) {
        facts.dead_letters.emplace(tenant_id, count);
      }
    }
    return facts;
  }

  void dead_letters_changed(std::string_view tenant_id, std::int64_t change) override {
    count_dead_letters(tenant_id, change);
    families_.dlq_size.Add({{"tenant_id", families_.tenants.label(tenant_id)}})
        .Increment(static_cast<double>(change));
  }

  void shard_seen(std::size_t worker, const ShardView& view, std::uint32_t in_flight_max) override {
    const std::lock_guard lock{mutex_};
    shards_[worker] = {view, in_flight_max};
  }

  void retention_removed(std::string_view kind, std::uint64_t count) override {
    families_.removed.Add({{"kind", std::string{kind}}}).Increment(static_cast<double>(count));
  }

  void delivery_given_up() override { families_.dlq_entries.Increment(); }

  void archive_failed() override { families_.archive_failures.Increment(); }

  void add_samples(CollectSamples collect) override {
    const std::lock_guard lock{mutex_};
    sample_sources_.push_back(std::move(collect));
  }

  std::string text() override {
    refresh_gauges();
    std::vector<prometheus::MetricFamily> families = families_.registry.Collect();
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

  std::vector<CollectSamples> sample_sources() {
    const std::lock_guard lock{mutex_};
    return sample_sources_;
  }

  void count_dead_letters(std::string_view tenant_id, std::int64_t change) {
    const std::lock_guard lock{mutex_};
    const auto found = dead_letters_.try_emplace(TenantId{tenant_id}, 0).first;
    found->second += change;
    if (found->second == 0) {
      dead_letters_.erase(found);
    }
  }

  std::array<Gauge*, 3>& add_circuit(WebhookId webhook_id) {
    std::array<Gauge*, 3> gauges{};
    for (std::size_t state = 0; state < gauges.size(); ++state) {
      gauges[state] = &families_.circuit_state.Add(
          {{"webhook_id", webhook_id.to_string()},
           {"state", std::string{to_string(static_cast<CircuitState>(state))}}});
    }
    return circuits_.emplace(webhook_id, gauges).first->second;
  }

  void refresh_gauges() {
    const std::lock_guard lock{mutex_};
    std::array<double, priority_count> waiting{};
    std::array<double, 3> circuits{};
    double rate_limited = 0;
    double in_flight = 0;
    double in_flight_max = 1;
    for (const auto& [worker, seen] : shards_) {
      for (std::size_t priority = 0; priority < waiting.size(); ++priority) {
        waiting[priority] += seen.view.waiting[priority];
      }
      for (std::size_t state = 0; state < circuits.size(); ++state) {
        circuits[state] += seen.view.circuits[state];
      }
      rate_limited += static_cast<double>(seen.view.rate_limited_total);
      const std::string pool = fmt::format("{}", worker);
      families_.in_flight.Add({{"pool_id", pool}}).Set(seen.view.in_flight);
      families_.unsettled.Add({{"pool_id", pool}}).Set(seen.view.unsettled);
      in_flight += seen.view.in_flight;
      in_flight_max = seen.in_flight_max;
    }
    // All workers share the slots, so they are one pool.
    families_.utilization.Add({{"pool_id", "all"}}).Set(in_flight / in_flight_max);
    families_.rate_limited.Set(rate_limited);
    for (std::size_t priority = 0; priority < waiting.size(); ++priority) {
      families_.queue_depth
          .Add({{"priority", std::string{to_string(static_cast<Priority>(priority))}}})
          .Set(waiting[priority]);
    }
    for (std::size_t state = 0; state < circuits.size(); ++state) {
      families_.circuits.Add({{"state", std::string{to_string(static_cast<CircuitState>(state))}}})
          .Set(circuits[state]);
    }
  }

  MetricFamilies families_;
  std::mutex mutex_;                                         // Guards the four below.
  std::unordered_map<TenantId, std::int64_t> dead_letters_;  // All tenants, without zeros.
  std::vector<CollectSamples> sample_sources_;
  std::map<std::size_t, SeenShard> shards_;
  std::map<WebhookId, std::array<Gauge*, 3>> circuits_;
};

}  // namespace

std::unique_ptr<Metrics> make_metrics() { return std::make_unique<PrometheusMetrics>(); }

}  // namespace postrider
