// What is kept and for how long, with which key, and when someone is told.
#include "config/settings.h"

namespace postrider::config {
namespace {

constexpr std::int64_t days_max = 36'500;
constexpr std::int64_t day_ms = 86'400'000;
constexpr Range count_range{0, 1'000'000'000};
constexpr Bounds percentage_bounds{0, 100};

/// Whole days; what is kept inside is finer.
template <class Field>
Setting days(Label label, Field field) {
  Setting setting = integer(std::move(label), field, {0, days_max});
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

void add_alerts(std::vector<Setting>& all) {
  all.push_back(integer({"alerts.dead_letters_per_hour",
                         "More new dead letters of one webhook in an hour than this."},
                        POSTRIDER_FIELD(alerts.dead_letters_per_hour), count_range));
  all.push_back(
      integer({"alerts.dead_letters_waiting", "More dead letters of one tenant than this."},
              POSTRIDER_FIELD(alerts.dead_letters_waiting), count_range));
  all.push_back(integer({"alerts.window_ms",
                         "How far back the two shares below look. Fewer than ten attempts say "
                         "nothing."},
                        POSTRIDER_FIELD(alerts.window), {1'000, 86'400'000}));
  all.push_back(number({"alerts.failure_percentage",
                        "A larger share of failed attempts of one webhook than this, for "
                        "alerts.failure_ms."},
                       POSTRIDER_FIELD(alerts.failure_percentage), percentage_bounds));
  all.push_back(integer({"alerts.failure_ms", "How long it must stay so large."},
                        POSTRIDER_FIELD(alerts.failure), {0, 86'400'000}));
  all.push_back(number({"alerts.success_percentage",
                        "A smaller share of successful attempts than this, all webhooks together."},
                       POSTRIDER_FIELD(alerts.success_percentage), percentage_bounds));
  all.push_back(integer({"alerts.circuit_open_ms",
                         "A circuit open for longer than this; probes in between do not count as "
                         "closed."},
                        POSTRIDER_FIELD(alerts.circuit_open), {0, 31'536'000'000}));
  all.push_back(integer({"alerts.queue_depth",
                         "More waiting deliveries than this, all webhooks together, retries "
                         "included."},
                        POSTRIDER_FIELD(alerts.queue_depth), count_range));
  all.push_back(
      number({"alerts.pool_percentage", "A larger share of engine.in_flight_max in use than this."},
             POSTRIDER_FIELD(alerts.pool_percentage), percentage_bounds));
}

}  // namespace

std::vector<Setting> keeping_settings() {
  std::vector<Setting> all;
  all.push_back(days({"retention.events_days",
                      "Days for which events, finished deliveries and attempts are kept; 0: for "
                      "ever."},
                     POSTRIDER_FIELD(retention.events)));
  all.push_back(days({"retention.dead_letters_days",
                      "Days for which dead letters are kept; 0: "
                      "for ever."},
                     POSTRIDER_FIELD(retention.dead_letters)));
  all.push_back(days(
      {"retention.operations_days", "Days for which finished operations are kept; 0: for ever."},
      POSTRIDER_FIELD(retention.operations)));
  all.push_back(text({"retention.archive_directory",
                      "Where what is too old is written before it is deleted; empty: nowhere."},
                     POSTRIDER_FIELD(retention.archive_directory)));
  all.push_back(
      boolean({"retention.shrinking_store",
               "A store that is made now gives space back to the disk; otherwise it keeps "
               "and reuses it, and is a little faster."},
              POSTRIDER_FIELD(retention.shrinking_store)));
  all.push_back(text({"secrets.key_file",
                      "File with the key that encrypts stored secrets; POSTRIDER_SECRETS_KEY gives "
                      "the key itself."},
                     POSTRIDER_FIELD(secrets.key_file)));
  add_alerts(all);
  for (Setting& setting : all) {
    // A store is made once, and the key file is read again when somebody rotates the key.
    setting.reloads =
        setting.key != "retention.shrinking_store" && setting.key != "secrets.key_file";
  }
  return all;
}

}  // namespace postrider::config
