// Measures how many deliveries per second a store can publish and settle, by batch size, and the
// time of reads with a large backlog.
//
//     store_bench [directory] [deliveries per run]
//     store_bench --store postgres://user@host/database [deliveries per run]
//
// The database must be empty. Each delivery is one event of 1 KiB, published in one transaction and
// settled with a successful attempt in a later one, as the runtime's group commit does it. The
// processor time is that of this process.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "adapters/postgres/store/postgres_store.h"
#include "adapters/sqlite/database/sqlite_store.h"

namespace postrider {
namespace {

constexpr std::size_t webhook_count = 50;
constexpr std::size_t payload_bytes = 1024;

/// The store that is measured.
struct Subject {
  std::function<Result<Store>()> open;
  std::function<Result<Reader>()> open_reader;
};

struct Run {
  std::size_t batch_size = 1;
  std::size_t delivery_count = 0;
};

class Workload {
 public:
  explicit Workload(WallTime now) : now_(now), payload_(payload_bytes - 2, 'x') {
    payload_ = '"' + payload_ + '"';
    for (std::size_t i = 0; i < webhook_count; ++i) {
      webhooks_.push_back(ids_.make<WebhookId>(now_));
    }
  }

  Publish publish() {
    now_ += Millis{1};
    Event event{.id = ids_.make<EventId>(now_),
                .tenant_id = "tenant",
                .type = "order.created",
                .data = payload_,
                .idempotency_key = to_base32(ids_.next(now_)),
                .timestamp = now_,
                .created_at = now_};
    Delivery delivery{.id = ids_.make<DeliveryId>(now_),
                      .event_id = event.id,
                      .webhook_id = webhooks_[made_++ % webhook_count],
                      .event_type = event.type,
                      .due = now_};
    return {.event = std::move(event), .deliveries = {std::move(delivery)}};
  }

  Settlement settle(Delivery delivery) {
    delivery.state = DeliveryState::succeeded;
    delivery.attempt_count = 1;
    delivery.budget_used = 1;
    Attempt attempt{.id = ids_.make<AttemptId>(now_), .scheduled_at = delivery.due};
    attempt.outcome = {.http_status = 200,
                       .response_sample = "ok",
                       .response_headers = {{"content-type", "text/plain"},
                                            {"content-length", "2"},
                                            {"server", "receiver"}},
                       .remote_ip = "192.0.2.1",
                       .timings = {.first_byte = Micros{900}},
                       .executed_at = now_,
                       .duration = Micros{1000}};
    return {.delivery = std::move(delivery), .attempt = std::move(attempt)};
  }

  [[nodiscard]] WebhookId webhook() const { return webhooks_.front(); }

 private:
  UuidGenerator ids_{1};
  WallTime now_;
  std::string payload_;
  std::vector<WebhookId> webhooks_;
  std::size_t made_ = 0;
};

using Stopwatch = std::chrono::steady_clock;

/// Each batch publishes new deliveries and settles those of the previous batch.
bool measure(Ledger& ledger, Workload& workload, const Run& run) {
  std::vector<Delivery> published;
  Stopwatch::duration spent{};
  std::clock_t processor = 0;
  std::size_t commits = 0;
  for (std::size_t done = 0; done < run.delivery_count + run.batch_size; done += run.batch_size) {
    Batch batch;
    for (Delivery& delivery : published) {
      batch.settlements.push_back(workload.settle(std::move(delivery)));
    }
    published.clear();
    for (std::size_t i = 0; i < run.batch_size && done < run.delivery_count; ++i) {
      batch.publishes.push_back(workload.publish());
    }
    const Stopwatch::time_point start = Stopwatch::now();
    const std::clock_t processor_start = std::clock();
    const Result<BatchReceipt> receipt = ledger.commit(batch);
    processor += std::clock() - processor_start;
    spent += Stopwatch::now() - start;
    ++commits;
    if (!receipt) {
      fmt::print(stderr, "{}\n", receipt.error().message);
      return false;
    }
    for (const PublishReceipt& answer : receipt->publishes) {
      published.push_back(std::get<Accepted>(answer).deliveries.front());
    }
  }
  const double seconds = std::chrono::duration<double>(spent).count();
  const auto count = static_cast<double>(run.delivery_count);
  fmt::print(
      "batch {:>5}: {:>8.0f} deliveries/s, {:>7.2f} ms per commit, {:>6.1f} us of processor each\n",
      run.batch_size, count / seconds, 1e3 * seconds / static_cast<double>(commits),
      1e6 * static_cast<double>(processor) / CLOCKS_PER_SEC / count);
  return true;
}

template <class Call>
void time_call(const char* name, Call call) {
  const Stopwatch::time_point start = Stopwatch::now();
  const bool worked = call();
  const std::chrono::duration<double, std::milli> spent = Stopwatch::now() - start;
  fmt::print("{:<28} {:>8.2f} ms{}\n", name, spent.count(), worked ? "" : " FAILED");
}

/// Measures reads with `count` deliveries waiting for one webhook.
bool measure_reads(const Subject& subject, Workload& workload, std::size_t count) {
  WebhookId webhook_id;
  {
    Result<Store> store = subject.open();
    for (std::size_t done = 0; store && done < count; done += 1'000) {
      Batch batch;
      for (std::size_t i = 0; i < 1'000; ++i) {
        batch.publishes.push_back(workload.publish());
        batch.publishes.back().deliveries.front().webhook_id = workload.webhook();
      }
      if (!store->ledger->commit(batch)) {
        return false;
      }
    }
    webhook_id = workload.webhook();
  }
  fmt::print("with {} deliveries waiting for one webhook:\n", count);
  Result<Store> store = fail(Errc::unavailable, "Not open yet.");
  time_call("open", [&] { return (store = subject.open()).has_value(); });
  Result<Reader> reader = subject.open_reader();
  if (!store || !reader) {
    return false;
  }
  const auto load = [&](Ordering ordering) {
    return store->ledger
        ->load_lane({.webhook_id = webhook_id,
                     .ordering = ordering,
                     .due_before = wall_time_max,
                     .limit = 128})
        .has_value();
  };
  time_call("backlog", [&] { return store->ledger->backlog().has_value(); });
  time_call("load lane, no order", [&] { return load(Ordering::none); });
  time_call("first load with order", [&] { return load(Ordering::strict); });
  time_call("load lane, strict", [&] { return load(Ordering::strict); });
  time_call("load lane, per type", [&] { return load(Ordering::per_event_type); });
  time_call("list of the webhook", [&] {
    return reader->history->list_deliveries({.webhook_ids = {webhook_id}}, {}).has_value();
  });
  time_call("list of everything",
            [&] { return reader->history->list_deliveries({}, {}).has_value(); });
  time_call("list, nothing matches", [&] {
    return reader->history
        ->list_deliveries({.webhook_ids = {webhook_id}, .states = {DeliveryState::cancelled}}, {})
        .has_value();
  });
  time_call("health", [&] { return reader->history->webhook_health(webhook_id).has_value(); });
  return true;
}

Subject sqlite_subject(const std::filesystem::path& directory) {
  std::filesystem::remove_all(directory);
  const SqliteOptions options{.directory = directory};
  return {.open = [options] { return open_sqlite_store(options); },
          .open_reader = [options] { return open_sqlite_reader(options); }};
}

Subject postgres_subject(const std::string& address, WallTime now) {
  const PostgresOptions options{.connect = {.address = Secret{address}}, .now = now};
  return {.open = [options] { return open_postgres_store(options); },
          .open_reader = [options] { return open_postgres_reader(options); }};
}

int run(const Subject& subject, Workload workload, std::size_t delivery_count) {
  Result<Store> store = subject.open();
  if (!store) {
    fmt::print(stderr, "{}\n", store.error().message);
    return 1;
  }
  for (const std::size_t batch_size :
       {std::size_t{1000}, std::size_t{500}, std::size_t{200}, std::size_t{20}, std::size_t{1}}) {
    // Small batches are slow; a twentieth of the deliveries is enough.
    const std::size_t count = batch_size >= 200 ? delivery_count : delivery_count / 20;
    if (!measure(*store->ledger, workload, {.batch_size = batch_size, .delivery_count = count})) {
      return 1;
    }
  }
  *store = {};
  return measure_reads(subject, workload, delivery_count) ? 0 : 1;
}

}  // namespace
}  // namespace postrider

int main(int argc, char** argv) {
  constexpr postrider::WallTime now = postrider::wall_from_unix_ms(1'700'000'000'000);
  const bool on_postgres = argc > 2 && std::string_view{argv[1]} == "--store";
  char** const arguments = on_postgres ? argv + 1 : argv;
  const int count = on_postgres ? argc - 1 : argc;
  const std::size_t deliveries = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 200'000;
  const postrider::Subject subject =
      on_postgres ? postrider::postgres_subject(arguments[1], now)
                  : postrider::sqlite_subject(count > 1 ? arguments[1] : "store-bench-data");
  return postrider::run(subject, postrider::Workload{now}, deliveries);
}
