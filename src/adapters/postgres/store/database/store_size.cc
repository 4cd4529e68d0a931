#include "adapters/postgres/store/database/store_size.h"

#include <string>
#include <utility>

namespace postrider::postgres {
namespace {

// A partition counts for its table.
constexpr std::string_view sizes_sql = R"sql(
  SELECT CASE WHEN name IN ('event', 'delivery', 'attempt', 'waiting') THEN name ELSE 'other' END,
         CAST(sum(bytes) AS bigint)
    FROM (SELECT coalesce(p.relname, c.relname) AS name, pg_total_relation_size(c.oid) AS bytes
            FROM pg_class c
            LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
            LEFT JOIN pg_class p ON p.oid = i.inhparent
           WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r') tables
   GROUP BY 1 ORDER BY 1
)sql";

}  // namespace

Result<std::vector<MetricSample>> read_store_size(Session& session) {
  POSTRIDER_TRY(const Rows rows, session.run(sizes_sql));
  std::vector<MetricSample> samples;
  for (int row = 0; row < rows.count(); ++row) {
    samples.push_back({.name = "postrider_store_bytes",
                       .help =
                           "Size of the store by table, with indexes: attempt, delivery, event, "
                           "waiting, other",
                       .labels = {{"file", rows.text(row, 0)}},
                       .value = static_cast<double>(rows.integer(row, 1))});
  }
  return samples;
}

StoreSizeMonitor::StoreSizeMonitor(PostgresOptions options, Millis period)
    : options_(std::move(options)), period_(period), thread_([this] { run(); }) {}

StoreSizeMonitor::~StoreSizeMonitor() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  interruption_.set();
  wake_.notify_all();
  thread_.join();
}

std::vector<MetricSample> StoreSizeMonitor::samples() const {
  const std::lock_guard lock{mutex_};
  return samples_;
}

void StoreSizeMonitor::run() {
  for (;;) {
    std::vector<MetricSample> latest = read();
    std::unique_lock lock{mutex_};
    samples_ = std::move(latest);
    if (wake_.wait_for(lock, period_, [this] { return stopping_; })) {
      return;
    }
  }
}

std::vector<MetricSample> StoreSizeMonitor::read() {
  // Opened for each read and then closed: a permanent connection would be idle.
  Result<Session> session = Session::open(options_.connect, interruption_);
  if (!session) {
    return {};
  }
  return read_store_size(*session).value_or(std::vector<MetricSample>{});
}

}  // namespace postrider::postgres
