// Reads TOML files. The only file that uses the TOML library.
#include <algorithm>

#include <fmt/format.h>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
// The parser asserts that a key follows `[`, and then reports an error if none does.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <toml++/toml.h>

#include "core/base/suggestion.h"
#include "core/filter/event_pattern.h"
#include "core/model/event.h"

#include "config/channel_settings.h"
#include "config/layer.h"
#include "config/settings.h"
#include "config/source_settings.h"

namespace postrider::config {
namespace {

constexpr std::string_view event_types_key = "event_types";
constexpr std::size_t event_types_max = 1'000;
constexpr std::string_view sources_key = "sources";
constexpr std::size_t sources_max = 100;
constexpr std::string_view channels_key = "notification_channels";
constexpr std::size_t channels_max = 20;

struct Place {
  std::string_view file;
  toml::source_index line = 0;

  [[nodiscard]] std::string text() const { return fmt::format("{}:{}", file, line); }
};

std::optional<Value> texts_of(const toml::array& array) {
  Texts texts;
  for (const toml::node& node : array) {
    const auto* const text = node.as_string();
    if (text == nullptr) {
      return std::nullopt;
    }
    texts.push_back(text->get());
  }
  return texts;
}

std::optional<Value> integers_of(const toml::array& array) {
  Integers integers;
  for (const toml::node& node : array) {
    const auto* const integer = node.as_integer();
    if (integer == nullptr) {
      return std::nullopt;
    }
    integers.push_back(integer->get());
  }
  return integers;
}

std::optional<Value> value_of(const toml::node& node, Kind kind) {
  const auto* const array = node.as_array();
  switch (kind) {
    case Kind::boolean:
      return node.is_boolean() ? std::optional<Value>{node.as_boolean()->get()} : std::nullopt;
    case Kind::integer:
      return node.is_integer() ? std::optional<Value>{node.as_integer()->get()} : std::nullopt;
    case Kind::number:
      if (node.is_integer()) {
        return Value{static_cast<double>(node.as_integer()->get())};
      }
      return node.is_floating_point() ? std::optional<Value>{node.as_floating_point()->get()}
                                      : std::nullopt;
    case Kind::text:
      return node.is_string() ? std::optional<Value>{node.as_string()->get()} : std::nullopt;
    case Kind::texts:
      return array != nullptr ? texts_of(*array) : std::nullopt;
    case Kind::integers:
      return array != nullptr ? integers_of(*array) : std::nullopt;
  }
  return std::nullopt;
}

bool is_section(const std::string& key) {
  return std::ranges::any_of(
      all_settings(), [&](const Setting& setting) { return setting.key.starts_with(key + "."); });
}

/// The keys of all settings and sections.
std::vector<std::string> known_keys() {
  std::vector<std::string> keys{std::string{event_types_key}, std::string{sources_key},
                                std::string{channels_key}};
  for (const Setting& setting : all_settings()) {
    keys.push_back(setting.key);
    for (std::size_t dot = setting.key.find('.'); dot != std::string::npos;
         dot = setting.key.find('.', dot + 1)) {
      keys.push_back(setting.key.substr(0, dot));
    }
  }
  return keys;
}

tl::unexpected<Error> unknown_key(const Place& place, const std::string& key) {
  const std::optional<std::string> meant = closest(key, known_keys());
  return fail(Errc::invalid, fmt::format("{}: there is no setting `{}`{}", place.text(), key,
                                         meant ? "; did you mean `" + *meant + "`?" : "."));
}

Result<EventTypeConfig> read_event_type(const toml::node& node, std::string_view file) {
  EventTypeConfig type;
  const Place place{file, node.source().begin.line};
  const auto* const table = node.as_table();
  if (table == nullptr) {
    return fail(Errc::invalid,
                fmt::format("{}: event_types must be tables [[event_types]] with a name and a "
                            "description.",
                            place.text()));
  }
  for (const auto& [key, value] : *table) {
    const Place at{file, key.source().begin.line};
    const bool known = key.str() == "name" || key.str() == "description";
    if (!known || !value.is_string()) {
      return fail(
          Errc::invalid,
          fmt::format("{}: an event type has only a `name` and a `description`, both strings.",
                      at.text()));
    }
    (key.str() == "name" ? type.name : type.description) = value.as_string()->get();
  }
  if (is_reserved_type(type.name)) {
    return fail(
        Errc::invalid,
        fmt::format("{}: event types that begin with `postrider.` are reserved.", place.text()));
  }
  if (!is_event_type(type.name)) {
    return fail(Errc::invalid,
                fmt::format("{}: an event type's name must be 1 to {} letters, digits, `_`, `-` "
                            "and single dots, such as order.created.",
                            place.text(), event_type_length_max));
  }
  return type;
}

Result<void> read_event_types(const toml::node& node, const Place& place, Layer& layer) {
  const auto* const array = node.as_array();
  if (array == nullptr || array->size() > event_types_max) {
    return fail(Errc::invalid, fmt::format("{}: event_types must be at most {} tables "
                                           "[[event_types]].",
                                           place.text(), event_types_max));
  }
  for (const toml::node& item : *array) {
    POSTRIDER_TRY(EventTypeConfig type, read_event_type(item, place.file));
    const Place at{place.file, item.source().begin.line};
    layer.event_types.push_back({.type = std::move(type), .origin = at.text()});
  }
  return {};
}

/// `noun` names what the table is, as `a source` does.
tl::unexpected<Error> unknown_key_of(std::string_view noun, std::string_view key,
                                     const std::vector<std::string>& known, const Place& place) {
  const std::optional<std::string> meant = closest(key, known);
  return fail(Errc::invalid, fmt::format("{}: {} has no setting `{}`{}", place.text(), noun, key,
                                         meant ? "; did you mean `" + *meant + "`?" : "."));
}

tl::unexpected<Error> unknown_source_key(const Place& place, std::string_view key) {
  std::vector<std::string> known{"fields"};
  for (const SourceSetting& each : source_settings()) {
    known.push_back(each.setting.key);
  }
  return unknown_key_of("a source", key, known, place);
}

tl::unexpected<Error> unknown_channel_key(const Place& place, std::string_view key) {
  std::vector<std::string> known;
  for (const ChannelSetting& each : channel_settings()) {
    known.push_back(each.setting.key);
  }
  return unknown_key_of("a notification channel", key, known, place);
}

/// A field is named by a string, or several by a list.
Result<void> read_source_fields(const toml::node& node, const Place& place, TableEntry& source) {
  const auto* const table = node.as_table();
  if (table == nullptr) {
    return fail(
        Errc::invalid,
        fmt::format("{}: `fields` is a section; write it under [sources.fields].", place.text()));
  }
  for (const auto& [key, value] : *table) {
    const Place at{place.file, key.source().begin.line};
    std::optional<Value> names = value.is_string()
                                     ? std::optional<Value>{Texts{value.as_string()->get()}}
                                     : value_of(value, Kind::texts);
    if (!names) {
      return fail(Errc::invalid, fmt::format("{}: `fields.{}` must be the name of a field or a "
                                             "list of names.",
                                             at.text(), key.str()));
    }
    source.assignments.push_back({.key = fmt::format("fields.{}", key.str()),
                                  .value = *std::move(names),
                                  .origin = at.text()});
  }
  return {};
}

Result<void> read_source(const toml::table& table, std::string_view file, TableEntry& source) {
  for (const auto& [key, node] : table) {
    const Place place{file, key.source().begin.line};
    if (key.str() == "fields") {
      POSTRIDER_CHECK(read_source_fields(node, place, source));
      continue;
    }
    const SourceSetting* const found = find_source_setting(key.str());
    if (found == nullptr) {
      return unknown_source_key(place, key.str());
    }
    std::optional<Value> value = value_of(node, found->setting.kind);
    if (!value) {
      return fail(Errc::invalid, fmt::format("{}: `{}` of a source {}.", place.text(), key.str(),
                                             found->setting.rule));
    }
    source.assignments.push_back(
        {.key = found->setting.key, .value = *std::move(value), .origin = place.text()});
  }
  return {};
}

Result<void> read_channel(const toml::table& table, std::string_view file, TableEntry& channel) {
  for (const auto& [key, node] : table) {
    const Place place{file, key.source().begin.line};
    const ChannelSetting* const found = find_channel_setting(key.str());
    if (found == nullptr) {
      return unknown_channel_key(place, key.str());
    }
    std::optional<Value> value = value_of(node, found->setting.kind);
    if (!value) {
      return fail(Errc::invalid, fmt::format("{}: `{}` of a notification channel {}.", place.text(),
                                             key.str(), found->setting.rule));
    }
    channel.assignments.push_back(
        {.key = found->setting.key, .value = *std::move(value), .origin = place.text()});
  }
  return {};
}

/// A list of tables, each of which `read` reads.
struct TableList {
  std::string_view key;
  std::size_t size_max = 0;
  Result<void> (*read)(const toml::table& table, std::string_view file, TableEntry& entry);
};

Result<void> read_list(const toml::node& node, const TableList& list, const Place& place,
                       std::vector<TableEntry>& entries) {
  const auto* const array = node.as_array();
  const bool fits = array != nullptr && array->size() <= list.size_max &&
                    std::ranges::all_of(*array, [](const auto& each) { return each.is_table(); });
  if (!fits) {
    return fail(Errc::invalid, fmt::format("{}: {} must be at most {} tables [[{}]].", place.text(),
                                           list.key, list.size_max, list.key));
  }
  for (const toml::node& item : *array) {
    TableEntry entry{.assignments = {},
                     .origin = Place{place.file, item.source().begin.line}.text()};
    POSTRIDER_CHECK(list.read(*item.as_table(), place.file, entry));
    entries.push_back(std::move(entry));
  }
  return {};
}

Result<void> read_table(const toml::table& table, const std::string& prefix, std::string_view file,
                        Layer& layer);

Result<void> read_node(const toml::node& node, const std::string& key, const Place& place,
                       Layer& layer) {
  if (key == event_types_key) {
    return read_event_types(node, place, layer);
  }
  if (key == sources_key) {
    return read_list(node, {sources_key, sources_max, read_source}, place, layer.sources);
  }
  if (key == channels_key) {
    return read_list(node, {channels_key, channels_max, read_channel}, place, layer.channels);
  }
  const Setting* const setting = find_setting(key);
  if (setting == nullptr) {
    if (!is_section(key)) {
      return unknown_key(place, key);
    }
    if (!node.is_table()) {
      return fail(Errc::invalid, fmt::format("{}: `{}` is a section; write its settings under "
                                             "[{}].",
                                             place.text(), key, key));
    }
    return read_table(*node.as_table(), key + ".", place.file, layer);
  }
  const bool is_keyword =
      !setting->keyword.empty() && node.is_string() && node.as_string()->get() == setting->keyword;
  std::optional<Value> value = value_of(node, is_keyword ? Kind::text : setting->kind);
  if (!value) {
    return fail(Errc::invalid, fmt::format("{}: {} {}.", place.text(), key, setting->rule));
  }
  layer.assignments.push_back({.key = key, .value = *std::move(value), .origin = place.text()});
  return {};
}

// The recursion is bounded: unknown sections are refused, and known keys have few levels.
Result<void> read_table(const toml::table& table, const std::string& prefix, std::string_view file,
                        Layer& layer) {
  for (const auto& [key, node] : table) {
    const Place place{file, key.source().begin.line};
    POSTRIDER_CHECK(read_node(node, prefix + std::string{key.str()}, place, layer));
  }
  return {};
}

}  // namespace

Result<Layer> read_toml(std::string_view text, const std::string& name) {
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    return fail(Errc::invalid,
                fmt::format("{}:{}: invalid TOML: {}.", name, parsed.error().source().begin.line,
                            parsed.error().description()));
  }
  Layer layer;
  POSTRIDER_CHECK(read_table(parsed.table(), "", name, layer));
  return layer;
}

}  // namespace postrider::config
