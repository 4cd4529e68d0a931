#include "config/source_load.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/suggestion.h"

#include "config/source_address.h"
#include "config/source_settings.h"

namespace postrider::config {
namespace {

constexpr std::string_view fields_prefix = "fields.";
constexpr std::size_t fields_max = 8;
constexpr std::size_t field_bytes_max = 256;

const Assignment* find_assignment(const TableEntry& entry, std::string_view key) {
  const auto found = std::ranges::find(entry.assignments, key, &Assignment::key);
  return found == entry.assignments.end() ? nullptr : &*found;
}

/// Where to look for the cause of a problem with `key`: its line, or else the whole table.
std::string origin_of(const TableEntry& entry, std::string_view key) {
  const Assignment* const assignment = find_assignment(entry, key);
  return assignment == nullptr ? entry.origin : assignment->origin;
}

tl::unexpected<Error> refuse(const TableEntry& entry, std::string_view key,
                             std::string_view problem) {
  return fail(Errc::invalid, fmt::format("{}: {}", origin_of(entry, key), problem));
}

Result<void> assign(const Assignment& assignment, Config& scratch) {
  const Setting& setting = find_source_setting(assignment.key)->setting;
  if (!setting.assign(scratch, assignment.value)) {
    return fail(Errc::invalid, fmt::format("{}: `{}` of a source {}, not {}.", assignment.origin,
                                           setting.key, setting.rule, to_toml(assignment.value)));
  }
  return {};
}

/// An empty list means that the member does not come from the message.
Result<void> assign_fields(const Assignment& assignment, SourceConfig& source) {
  const std::string member = assignment.key.substr(fields_prefix.size());
  if (std::ranges::find(mapped_members, member) == mapped_members.end()) {
    const std::optional<std::string> meant =
        closest(member, {mapped_members.begin(), mapped_members.end()});
    return fail(
        Errc::invalid,
        fmt::format("{}: an event has no member `{}`{}", assignment.origin, member,
                    meant ? "; did you mean `" + *meant + "`?"
                          : fmt::format("; use one of {}.", fmt::join(mapped_members, ", "))));
  }
  const Texts& names = std::get<Texts>(assignment.value);
  const bool fits = names.size() <= fields_max && std::ranges::all_of(names, [](const auto& name) {
                      return !name.empty() && name.size() <= field_bytes_max;
                    });
  if (!fits) {
    return fail(Errc::invalid,
                fmt::format("{}: `fields.{}` must be at most {} names of 1 to {} characters.",
                            assignment.origin, member, fields_max, field_bytes_max));
  }
  source.mapping.fields[member] = names;
  return {};
}

Result<void> assign_kind(const TableEntry& entry, Config& scratch) {
  const Assignment* const kind = find_assignment(entry, "kind");
  if (kind == nullptr) {
    return refuse(entry, "kind", "a source needs a `kind`: outbox, redis or amqp.");
  }
  return assign(*kind, scratch);
}

Result<void> assign_all(const TableEntry& entry, Config& scratch) {
  SourceConfig& source = scratch.sources.back();
  for (const Assignment& assignment : entry.assignments) {
    if (assignment.key.starts_with(fields_prefix)) {
      POSTRIDER_CHECK(assign_fields(assignment, source));
      continue;
    }
    if (!applies_to(*find_source_setting(assignment.key), source.kind)) {
      return refuse(entry, assignment.key,
                    fmt::format("`{}` is not a setting of a source of kind {}.", assignment.key,
                                to_string(source.kind)));
    }
    POSTRIDER_CHECK(assign(assignment, scratch));
  }
  return {};
}

Result<void> find_address(const TableEntry& entry, const Variables& variables,
                          SourceConfig& source) {
  if ((find_assignment(entry, "address") == nullptr) == source.address_env.empty()) {
    return refuse(entry, "address_env", "a source needs either `address` or `address_env`.");
  }
  if (!source.address_env.empty()) {
    const auto found = std::ranges::find_if(
        variables, [&](const auto& each) { return each.first == source.address_env; });
    if (found == variables.end()) {
      return refuse(entry, "address_env",
                    fmt::format("the environment variable `{}` is not set.", source.address_env));
    }
    source.address = Secret{found->second};
  }
  if (!is_source_address(source.kind, source.address.reveal())) {
    return refuse(entry, source.address_env.empty() ? "address" : "address_env",
                  fmt::format("the address of a source of kind {} must begin with {} and have only "
                              "visible ASCII characters.",
                              to_string(source.kind), schemes_of(source.kind)));
  }
  return {};
}

/// Where messages wait: a stream or queue.
Result<void> complete_place(const TableEntry& entry, SourceConfig& source) {
  if (source.kind == SourceKind::outbox) {
    const bool keeps = source.keep_delivered > Millis{0};
    return keeps && source.mode == OutboxMode::cursor
               ? refuse(entry, "keep_delivered_seconds",
                        "`keep_delivered_seconds` requires mode = \"status\".")
               : Result<void>{};
  }
  const bool is_redis = source.kind == SourceKind::redis;
  const std::string& place = is_redis ? source.stream : source.queue;
  if (place.empty() || (is_redis && source.group.empty())) {
    return refuse(entry, is_redis ? "stream" : "queue",
                  is_redis ? "a source of kind redis needs a `stream` and a `group`."
                           : "a source of kind amqp needs a `queue`.");
  }
  if (source.parking.empty()) {
    source.parking = place + ".rejected";
  }
  return source.parking == place
             ? refuse(entry, "parking", "`parking` must not be where the messages come from.")
             : Result<void>{};
}

SourceConfig default_source(SourceKind kind, const SourceDefaults& defaults) {
  SourceConfig source;
  source.kind = kind;
  source.mapping.fields = default_fields(kind);
  source.mode = defaults.outbox_mode;
  if (kind == SourceKind::redis) {
    source.stream = defaults.redis_stream;
    source.group = defaults.redis_group;
  }
  return source;
}

Result<SourceConfig> read_source(const TableEntry& entry, const SourceDefaults& defaults,
                                 const Variables& variables) {
  Config scratch;
  scratch.sources.emplace_back();
  SourceConfig& source = scratch.sources.back();
  POSTRIDER_CHECK(assign_kind(entry, scratch));
  source = default_source(source.kind, defaults);
  POSTRIDER_CHECK(assign_all(entry, scratch));
  if (source.name.empty()) {
    return refuse(entry, "name", "a source needs a `name`.");
  }
  POSTRIDER_CHECK(find_address(entry, variables, source));
  POSTRIDER_CHECK(complete_place(entry, source));
  return source;
}

}  // namespace

std::string source_key(std::string_view name) { return fmt::format("sources.{}", name); }

Result<void> add_sources(const Layer& file, const Variables& variables, Loaded& loaded) {
  for (const TableEntry& entry : file.sources) {
    POSTRIDER_TRY(SourceConfig source,
                  read_source(entry, loaded.config.source_defaults, variables));
    const auto [known, is_new] = loaded.origins.emplace(source_key(source.name), entry.origin);
    if (!is_new) {
      return refuse(
          entry, "name",
          fmt::format("there is a source `{}` already, in {}.", source.name, known->second));
    }
    loaded.config.sources.push_back(std::move(source));
  }
  return {};
}

}  // namespace postrider::config
