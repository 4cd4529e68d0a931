#include "config/source_settings.h"

#include <algorithm>

#include "core/base/enum_names.h"
#include "core/filter/event_pattern.h"

#include "config/settings.h"
#include "config/source_address.h"

#define POSTRIDER_SOURCE(path) POSTRIDER_FIELD(sources.back().path)

namespace postrider::config {
namespace {

constexpr EnumNames<SourceKind, SourceKind::amqp> kind_names{{"outbox", "redis", "amqp"}};
constexpr EnumNames<OutboxMode, OutboxMode::status> mode_names{{"cursor", "status"}};

bool is_alphanumeric(char each) {
  return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
         (each >= '0' && each <= '9');
}

bool is_source_name(const std::string& text) {
  return !text.empty() && text.size() <= 64 && is_alphanumeric(text.front()) &&
         std::ranges::all_of(text, [](char each) {
           return is_alphanumeric(each) || std::string_view{"_.-"}.find(each) != std::string::npos;
         });
}

bool is_identifier(std::string_view text) {
  const bool starts_well =
      !text.empty() && (text.front() < '0' || text.front() > '9') && text.size() <= 63;
  return starts_well &&
         std::ranges::all_of(text, [](char each) { return is_alphanumeric(each) || each == '_'; });
}

bool is_table_name(const std::string& text) {
  const std::size_t dot = text.find('.');
  return dot == std::string::npos ? is_identifier(text)
                                  : is_identifier(std::string_view{text}.substr(0, dot)) &&
                                        is_identifier(std::string_view{text}.substr(dot + 1));
}

/// Of a stream, group, consumer or queue; empty: not set.
TextRule name_rule() {
  return {.rule = "must be at most 200 characters without control characters",
          .fits = [](const std::string& text) {
            return text.size() <= 200 && std::ranges::all_of(text, [](char each) {
                     return static_cast<unsigned char>(each) >= 0x20 && each != 0x7f;
                   });
          }};
}

TextRule path_rule() {
  return {.rule = "must be the path of a file",
          .fits = [](const std::string& text) { return text.size() <= 4096; }};
}

TextRule key_prefix_rule() {
  return {
      .rule = "must be at most 64 visible ASCII characters", .fits = [](const std::string& text) {
        return text.size() <= 64 &&
               std::ranges::all_of(text, [](char each) { return 0x21 <= each && each <= 0x7e; });
      }};
}

Setting address_setting() {
  return {.key = "address",
          .kind = Kind::text,
          .help = "The URL of the server, with user and password. The password is never shown.",
          .rule = "must be a URL",
          .assign =
              [](Config& config, const Value& value) {
                config.sources.back().address = Secret{std::get<std::string>(value)};
                return true;
              },
          .read = [](const Config& config) -> Value {
            return shown_address(config.sources.back().address.reveal());
          }};
}

/// A setting in whole seconds for a field in milliseconds.
template <class Field>
Setting seconds(Label label, Field field, std::int64_t seconds_max) {
  Setting setting = integer(std::move(label), field, {0, seconds_max});
  setting.assign = [field, assign = setting.assign](Config& config, const Value& value) {
    const bool fits = assign(config, value);
    if (fits) {
      field(config) = Millis{std::get<std::int64_t>(value) * 1'000};
    }
    return fits;
  };
  setting.read = [field](const Config& config) -> Value { return field(config).count() / 1'000; };
  return setting;
}

void add_common(std::vector<SourceSetting>& all) {
  const auto add = [&all](Setting setting) { all.push_back({std::move(setting), {}}); };
  add(text({"name", "Names the source in the API, metrics and logs. Unique."},
           POSTRIDER_SOURCE(name),
           {.rule = "must be 1 to 64 letters, digits and any of `_.-`, and begin with a letter or "
                    "digit",
            .fits = is_source_name}));
  add(choice({"kind",
              "outbox: a table in PostgreSQL. redis: a Redis stream. amqp: a RabbitMQ "
              "queue."},
             POSTRIDER_SOURCE(kind), Words{"outbox, redis, amqp", parse_source_kind}));
  add(address_setting());
  add(text({"address_env",
            "The environment variable that contains the address, instead of "
            "`address`."},
           POSTRIDER_SOURCE(address_env)));
  add(text({"ca_file",
            "A PEM file with the certificate authorities to trust; empty: those of the "
            "system."},
           POSTRIDER_SOURCE(ca_file), path_rule()));
  add(text({"tenant", "The tenant of messages that name none; empty: the default tenant."},
           POSTRIDER_SOURCE(mapping.tenant_id)));
  add(text(
      {"default_type", "The event type of messages without a type; empty: they are rejected."},
      POSTRIDER_SOURCE(mapping.default_type),
      {.rule = "must be an event type, such as order.created",
       .fits = [](const std::string& given) { return given.empty() || is_event_type(given); }}));
  add(text({"key_prefix",
            "Prepended to the idempotency key of every message. Required if two "
            "sources of one tenant can have the same keys."},
           POSTRIDER_SOURCE(mapping.key_prefix), key_prefix_rule()));
  add(integer({"batch_max", "The most messages that are received and stored at once."},
              POSTRIDER_SOURCE(batch_max), {1, 1'000}));
}

void add_outbox(std::vector<SourceSetting>& all) {
  const auto add = [&all](Setting setting) {
    all.push_back({std::move(setting), {SourceKind::outbox}});
  };
  add(choice({"mode",
              "cursor: rows are read in commit order and never changed. status: the state "
              "of the deliveries is written back to the rows. Default: outbox.mode."},
             POSTRIDER_SOURCE(mode), Words{"cursor, status", parse_outbox_mode}));
  add(text({"table", "The table, with or without a schema."}, POSTRIDER_SOURCE(table),
           {.rule = "must be `table` or `schema.table`, of letters, digits and `_`",
            .fits = is_table_name}));
  add(seconds({"keep_delivered_seconds",
               "In status mode, how long delivered rows are kept; 0: "
               "forever."},
              POSTRIDER_SOURCE(keep_delivered), 3'153'600'000));
}

void add_redis(std::vector<SourceSetting>& all) {
  const auto add = [&all](Setting setting) {
    all.push_back({std::move(setting), {SourceKind::redis}});
  };
  add(text({"stream", "The key of the stream. Default: redis.stream."}, POSTRIDER_SOURCE(stream),
           name_rule()));
  add(text({"group", "The consumer group; it is created if it is missing. Default: redis.group."},
           POSTRIDER_SOURCE(group), name_rule()));
  add(text({"consumer",
            "The name of this node in the group, unique among the nodes; empty: made of "
            "the host name and the data directory."},
           POSTRIDER_SOURCE(consumer), name_rule()));
  add(text({"json_field",
            "The field whose value is a JSON object with all members of the message; "
            "empty: each member is a field of its own."},
           POSTRIDER_SOURCE(json_field), name_rule()));
  add(integer({"claim_after_ms",
               "Entries that another consumer has received and not acknowledged "
               "for so long are taken over."},
              POSTRIDER_SOURCE(claim_after), {1'000, 86'400'000}));
  add(boolean({"trim", "Remove entries from the stream once they are acknowledged."},
              POSTRIDER_SOURCE(trims)));
}

void add_amqp(std::vector<SourceSetting>& all) {
  const auto add = [&all](Setting setting) {
    all.push_back({std::move(setting), {SourceKind::amqp}});
  };
  add(text({"queue", "The name of the queue."}, POSTRIDER_SOURCE(queue), name_rule()));
  add(boolean({"declare", "Declare the queue as durable; otherwise it must exist."},
              POSTRIDER_SOURCE(declares)));
  add(boolean({"envelope",
               "The body of a message is a JSON object whose members are fields, such as type and "
               "data; otherwise it is the data."},
              POSTRIDER_SOURCE(body_is_envelope)));
  add(integer({"prefetch", "The most messages that the server sends before they are acknowledged."},
              POSTRIDER_SOURCE(prefetch), {1, 65'535}));
}

std::vector<SourceSetting> all_source_settings() {
  std::vector<SourceSetting> all;
  add_common(all);
  add_outbox(all);
  add_redis(all);
  add_amqp(all);
  all.push_back({text({"parking",
                       "Where rejected messages are kept with the reason: a stream or "
                       "queue. Empty: the name of the stream or queue, then `.rejected`."},
                      POSTRIDER_SOURCE(parking), name_rule()),
                 {SourceKind::redis, SourceKind::amqp}});
  return all;
}

}  // namespace

const std::vector<SourceSetting>& source_settings() {
  static const std::vector<SourceSetting> all = all_source_settings();
  return all;
}

const SourceSetting* find_source_setting(std::string_view key) {
  const auto found = std::ranges::find_if(
      source_settings(), [&](const SourceSetting& each) { return each.setting.key == key; });
  return found == source_settings().end() ? nullptr : &*found;
}

bool applies_to(const SourceSetting& setting, SourceKind kind) {
  return setting.kinds.empty() || std::ranges::find(setting.kinds, kind) != setting.kinds.end();
}

std::map<std::string, std::vector<std::string>, std::less<>> default_fields(SourceKind kind) {
  if (kind == SourceKind::amqp) {
    // The names without `headers.` are members of envelopes.
    return {{"type", {"type"}},
            {"data", {"data", "body"}},
            {"tenant_id", {"tenant_id", "headers.tenant_id"}},
            {"resource_id", {"resource_id", "headers.resource_id"}},
            {"idempotency_key", {"idempotency_key", "message_id"}},
            {"source", {"source", "headers.source"}},
            {"priority", {"priority"}},
            {"timestamp", {"timestamp"}},
            {"ordering_key", {"ordering_key", "headers.ordering_key"}},
            {"metadata", {"metadata", "headers.metadata"}},
            {"traceparent", {"traceparent", "headers.traceparent"}},
            {"tracestate", {"tracestate", "headers.tracestate"}}};
  }
  // The second name of an outbox column is Debezium's.
  const bool is_outbox = kind == SourceKind::outbox;
  std::map<std::string, std::vector<std::string>, std::less<>> fields{
      {"type", {"type", "event_type"}},
      {"data", {"data", "payload"}},
      {"tenant_id", {"tenant_id"}},
      {"resource_id", {"resource_id"}},
      {"idempotency_key", {"idempotency_key", "entry_id"}},
      {"source", {"source"}},
      {"priority", {"priority"}},
      {"timestamp", {"timestamp"}},
      {"ordering_key", {"ordering_key"}},
      {"metadata", {"metadata"}},
      {"traceparent", {"traceparent"}},
      {"tracestate", {"tracestate"}}};
  if (is_outbox) {
    fields["idempotency_key"] = {"id"};
    fields["resource_id"].emplace_back("aggregateid");
    fields["ordering_key"].emplace_back("aggregateid");
    fields["timestamp"].emplace_back("created_at");
  }
  return fields;
}

std::vector<Setting> source_default_settings() {
  std::vector<Setting> all;
  all.push_back(choice({"outbox.mode", "The mode of outbox sources that do not state their own."},
                       POSTRIDER_FIELD(source_defaults.outbox_mode),
                       Words{"cursor, status", parse_outbox_mode}));
  all.push_back(text({"redis.stream",
                      "The stream of redis sources that do not state their own; "
                      "empty: they must."},
                     POSTRIDER_FIELD(source_defaults.redis_stream), name_rule()));
  all.push_back(text({"redis.group", "The group of redis sources that do not state their own."},
                     POSTRIDER_FIELD(source_defaults.redis_group), name_rule()));
  return all;
}

std::string_view to_string(SourceKind kind) { return kind_names.name(kind); }

std::optional<SourceKind> parse_source_kind(std::string_view text) { return kind_names.find(text); }

std::string_view to_string(OutboxMode mode) { return mode_names.name(mode); }

std::optional<OutboxMode> parse_outbox_mode(std::string_view text) { return mode_names.find(text); }

}  // namespace postrider::config
