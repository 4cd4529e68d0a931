#include "runtime/metrics.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "runtime/label_cap.h"

namespace postrider {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

// Above this many tenants, event types or webhooks, a label per value costs more than it tells.
constexpr std::size_t label_values_max = 100;

const Histogram::BucketBoundaries duration_buckets{.001, .0025, .005, .01, .025, .05, .1, .25,
                                                   .5,   1,     2.5,  5,   10,   30,  90};
const Histogram::BucketBoundaries commit_buckets{.0001, .00025, .0005, .001, .0025, .005, .01,
                                                 .025,  .05,    .1,    .25,  1,     5};
const Histogram::BucketBoundaries batch_buckets{1,   2,   5,   10,   20,   50,
                                                100, 200, 500, 1000, 2000, 5000};
const Histogram::BucketBoundaries attempt_buckets{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20};

double seconds(Micros duration) { return static_cast<double>(duration.count()) / 1e6; }

struct Families {
  prometheus::Registry registry;
  Family<Counter>& deliveries = BuildCounter()
                                    .Name("webhook_deliveries_total")
                                    .Help("Attempts by what the delivery became")
                                    .Register(registry);
  Histogram& duration = BuildHistogram()
                            .Name("webhook_delivery_duration_seconds")
                            .Help("How long attempts took")
                            .Register(registry)
                            .Add({}, duration_buckets);
  Family<Histogram>& attempt_number = BuildHistogram()
                                          .Name("webhook_retry_attempt_number")
                                          .Help("Which attempt it was, by outcome")
                                          .Register(registry);
  Family<Gauge>& queue_depth =
      BuildGauge()
          .Name("webhook_queue_depth")
          .Help(
              "Deliveries waiting in memory, at most 128 of each webhook; what waits "
              "beyond them, or since before a restart, is in the store alone")
          .Register(registry);
  Family<Gauge>& circuit_state = BuildGauge()
                                     .Name("webhook_circuit_breaker_state")
                                     .Help("1 for the state the circuit is in")
                                     .Register(registry);
  Family<Counter>& circuit_transitions = BuildCounter()
                                             .Name("webhook_circuit_breaker_transitions_total")
                                             .Help("Circuit transitions")
                                             .Register(registry);
  Family<Gauge>& circuits = BuildGauge()
                                .Name("postrider_circuits")
                                .Help("Webhooks by the state of their circuit")
                                .Register(registry);
  Family<Gauge>& dlq_size =
      BuildGauge().Name("webhook_dlq_size").Help("Dead letters kept").Register(registry);
  Counter& dlq_entries = BuildCounter()
                             .Name("webhook_dlq_entries_total")
                             .Help("Deliveries that became dead letters")
                             .Register(registry)
                             .Add({});
  Gauge& rate_limited = BuildGauge()
                            .Name("webhook_rate_limited_requests_total")
                            .Help("Times a rate limit made a webhook wait")
                            .Register(registry)
                            .Add({});
  Family<Gauge>& utilization = BuildGauge()
                                   .Name("webhook_worker_pool_utilization")
                                   .Help("Attempts in flight over the most there may be")
                                   .Register(registry);
  Family<Gauge>& in_flight = BuildGauge()
                                 .Name("postrider_attempts_in_flight")
                                 .Help("Attempts under way")
                                 .Register(registry);
  Family<Gauge>& unsettled = BuildGauge()
                                 .Name("postrider_settlements_waiting")
                                 .Help("Finished attempts not yet on disk")
                                 .Register(registry);
  Counter& published = BuildCounter()
                           .Name("postrider_events_published_total")
                           .Help("Publishes that are on disk, duplicates included")
                           .Register(registry)
                           .Add({});
  Family<Counter>& refused = BuildCounter()
                                 .Name("postrider_publish_refused_total")
                                 .Help("Publishes answered 503 before anything was accepted")
                                 .Register(registry);
  Histogram& commit = BuildHistogram()
                          .Name("postrider_store_commit_seconds")
                          .Help("How long transactions took, fsync included")
                          .Register(registry)
                          .Add({}, commit_buckets);
  Histogram& commit_batch = BuildHistogram()
                                .Name("postrider_store_commit_batch_size")
                                .Help("Publishes and settlements per transaction")
                                .Register(registry)
                                .Add({}, batch_buckets);
  Counter& store_failures = BuildCounter()
                                .Name("postrider_store_failures_total")
                                .Help("Transactions that failed")
                                .Register(registry)
                                .Add({});
  Family<Counter>& removed = BuildCounter()
                                 .Name("webhook_retention_removed_total")
                                 .Help("What was old enough to be removed")
                                 .Register(registry);
  Counter& archive_failures = BuildCounter()
                                  .Name("webhook_archive_failures_total")
                                  .Help("Times the archive could not be written")
                                  .Register(registry)
                                  .Add({});
  Family<Counter>& alerts =
      BuildCounter().Name("postrider_alerts_total").Help("Alerts raised").Register(registry);

  LabelCap event_types{label_values_max};
  LabelCap tenants{label_values_max};
};

prometheus::ClientMetric to_metric(const Reading& reading) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : reading.labels) {
    metric.label.push_back({name, value});
  }
  (reading.is_total ? metric.counter.value : metric.gauge.value) = reading.value;
  return metric;
}

void append_readings(const std::vector<Reading>& readings,
                     std::vector<prometheus::MetricFamily>& families) {
  for (const Reading& reading : readings) {
    if (families.empty() || families.back().name != reading.name) {
      prometheus::MetricFamily family;
      family.name = reading.name;
      family.help = reading.help;
      family.type =
          reading.is_total ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
      families.push_back(std::move(family));
    }
    families.back().metric.push_back(to_metric(reading));
  }
}

class PrometheusAttemptMeter final : public AttemptMeter {
 public:
  explicit PrometheusAttemptMeter(Families& families) : families_(families) {}

  void record(const AttemptFacts& facts) override {
    key_.assign(facts.tenant_id).append(1, '\0').append(facts.event_type).append(1, '\0');
    key_ += static_cast<char>(facts.state);
    key_ += static_cast<char>(facts.failure ? static_cast<int>(*facts.failure) : -1);
    counter(facts).Increment();
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
      counters_.clear();  // The registry keeps the counts; this only remembers where they are.
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

  Families& families_;
  std::string key_;  // Reused, so that a known label set costs no allocation.
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

  void alert_told(AlertKind kind) override {
    families_.alerts.Add({{"kind", std::string{to_string(kind)}}}).Increment();
  }

  void dead_letters_changed(std::string_view tenant_id, std::int64_t change) override {
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

  void add_readings(TakeReadings take) override {
    const std::lock_guard lock{mutex_};
    readings_.push_back(std::move(take));
  }

  std::string text() override {
    refresh_gauges();
    std::vector<prometheus::MetricFamily> families = families_.registry.Collect();
    for (const TakeReadings& take : readings()) {
      append_readings(take(), families);
    }
    return prometheus::TextSerializer{}.Serialize(families);
  }

 private:
  struct SeenShard {
    ShardView view;
    std::uint32_t in_flight_max = 1;
  };

  std::vector<TakeReadings> readings() {
    const std::lock_guard lock{mutex_};
    return readings_;
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
    // All workers share the slots, so that they are one pool.
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

  Families families_;
  std::mutex mutex_;  // Guards the three below.
  std::vector<TakeReadings> readings_;
  std::map<std::size_t, SeenShard> shards_;
  std::map<WebhookId, std::array<Gauge*, 3>> circuits_;
};

}  // namespace

std::unique_ptr<Metrics> make_metrics() { return std::make_unique<PrometheusMetrics>(); }

}  // namespace postrider
