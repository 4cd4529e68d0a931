// Retention, the encryption key file, and the thresholds of alerts.
#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr std::int64_t days_max = 36'500;
constexpr std::int64_t day_ms = 86'400'000;
constexpr Range count_range{0, 1'000'000'000};
constexpr Bounds percentage_bounds{0, 100};

/// A setting in whole days for a field in milliseconds.
template <class Field>
Setting days(const Label& label, Field field) {
  Setting setting = integer(label, field, {0, days_max});
  setting.assign = [field](Config& config, const Value& value) {
    const std::int64_t given = std::get<std::int64_t>(value);
    if (given < 0 || given > days_max) {
      return false;
    }
    field(config) = Millis{given * day_ms};
    return true;
  };
  setting.read = [field](const Config& config) -> Value { return field(config).count() / day_ms; };
  return setting;
}

void add_dead_letter_alerts(std::vector<Setting>& all) {
  all.push_back(integer({"alerts.dead_letters_per_hour",
                         "Alert if a webhook has more new dead letters than this in an hour."},
                        POSTRIDER_FIELD(alerts.dead_letters_per_hour), count_range));
  all.push_back(integer({"alerts.total_dead_letters_per_hour",
                         "Alert if all webhooks together have more new dead letters than this in "
                         "an hour; 0: no alert."},
                        POSTRIDER_FIELD(alerts.total_dead_letters_per_hour), count_range));
  all.push_back(number({"alerts.dead_letter_percentage",
                        "Alert if a larger percentage than this of the deliveries that end in an "
                        "hour become dead letters; 0: no alert."},
                       POSTRIDER_FIELD(alerts.dead_letter_percentage), percentage_bounds));
  all.push_back(integer({"alerts.deliveries_min",
                         "With fewer ended deliveries than this in an hour, "
                         "alerts.dead_letter_percentage raises no alert."},
                        POSTRIDER_FIELD(alerts.deliveries_min), {1, 1'000'000'000}));
  all.push_back(
      integer({"alerts.dead_letters_window_ms",
               "The period in which new dead letters and permanent failures are counted; the "
               "other settings call it an hour."},
              POSTRIDER_FIELD(alerts.dead_letters_window), {1'000, 86'400'000}));
  all.push_back(boolean({"alerts.permanent_failures",
                         "Alert if a delivery becomes a dead letter. One alert per webhook and "
                         "hour counts them."},
                        POSTRIDER_FIELD(alerts.permanent_failures)));
  all.push_back(
      integer({"alerts.dead_letters_waiting", "Alert if a tenant has more dead letters than this."},
              POSTRIDER_FIELD(alerts.dead_letters_waiting), count_range));
}

void add_alerts(std::vector<Setting>& all) {
  add_dead_letter_alerts(all);
  all.push_back(integer({"alerts.window_ms",
                         "The period over which alerts.failure_percentage, "
                         "alerts.total_failure_percentage, alerts.success_percentage and "
                         "alerts.p99_ms are measured. With fewer than ten attempts there is no "
                         "alert."},
                        POSTRIDER_FIELD(alerts.window), {1'000, 86'400'000}));
  all.push_back(number({"alerts.failure_percentage",
                        "Alert if a larger percentage than this of the attempts to a webhook fails "
                        "for alerts.failure_ms."},
                       POSTRIDER_FIELD(alerts.failure_percentage), percentage_bounds));
  all.push_back(number({"alerts.total_failure_percentage",
                        "Alert if a larger percentage than this of all attempts fails for "
                        "alerts.failure_ms; 0: no alert."},
                       POSTRIDER_FIELD(alerts.total_failure_percentage), percentage_bounds));
  all.push_back(
      integer({"alerts.failure_ms",
               "How long the failure percentage must stay above alerts.failure_percentage or "
               "alerts.total_failure_percentage."},
              POSTRIDER_FIELD(alerts.failure), {0, 86'400'000}));
  all.push_back(number({"alerts.success_percentage",
                        "Alert if a smaller percentage than this of all attempts succeeds."},
                       POSTRIDER_FIELD(alerts.success_percentage), percentage_bounds));
  all.push_back(integer({"alerts.p99_ms",
                         "Alert if the slowest 1 % of all attempts take longer than this; 0: no "
                         "alert."},
                        POSTRIDER_FIELD(alerts.p99), {0, 900'000}));
  all.push_back(integer(
      {"alerts.circuit_open_ms",
       "Alert if a circuit is open for longer than this. A half-open circuit counts as open."},
      POSTRIDER_FIELD(alerts.circuit_open), {0, 31'536'000'000}));
  all.push_back(integer(
      {"alerts.queue_depth", "Alert if more deliveries than this are waiting, including retries."},
      POSTRIDER_FIELD(alerts.queue_depth), count_range));
  all.push_back(
      number({"alerts.pool_percentage",
              "Alert if a larger percentage than this of engine.in_flight_max is in use."},
             POSTRIDER_FIELD(alerts.pool_percentage), percentage_bounds));
}

}  // namespace

std::vector<Setting> retention_settings() {
  std::vector<Setting> all;
  all.push_back(
      days({"retention.events_days",
            "How many days events, finished deliveries and attempts are kept; 0: forever."},
           POSTRIDER_FIELD(retention.events)));
  all.push_back(
      days({"retention.dead_letters_days", "How many days dead letters are kept; 0: forever."},
           POSTRIDER_FIELD(retention.dead_letters)));
  all.push_back(days({"retention.removed_webhooks_days",
                      "How many days the deliveries and attempts of a deleted webhook are kept, if "
                      "they do not expire earlier; 0: no limit of their own. Its secrets are "
                      "deleted at once."},
                     POSTRIDER_FIELD(retention.removed_webhooks)));
  all.push_back(
      days({"retention.operations_days", "How many days finished operations are kept; 0: forever."},
           POSTRIDER_FIELD(retention.operations)));
  all.push_back(text(
      {"retention.archive_directory",
       "The directory in which expired data is archived before it is deleted; empty: no archive. A "
       "relative path in a profile or file is below `data`; one in a variable or flag is relative "
       "to the working directory."},
      POSTRIDER_FIELD(retention.archive_directory)));
  all.push_back(boolean({"retention.shrinking_store",
                         "Whether a store created now returns free space to the file system. A "
                         "store that does not reuses the space and is slightly faster."},
                        POSTRIDER_FIELD(retention.shrinking_store)));
  all.push_back(text({"secrets.key_file",
                      "The file with the key that encrypts stored secrets. POSTRIDER_SECRETS_KEY "
                      "sets the key itself."},
                     POSTRIDER_FIELD(secrets.key_file)));
  add_alerts(all);
  for (Setting& setting : all) {
    // The store is created once. A rotation of the key reads the key file again.
    setting.reloads =
        setting.key != "retention.shrinking_store" && setting.key != "secrets.key_file";
  }
  return all;
}

}  // namespace postrider::config
