#include "config/source_print.h"

#include <fmt/format.h>

#include "config/source_address.h"
#include "config/source_settings.h"

namespace postrider::config {
namespace {

struct Line {
  std::string key;
  std::string value;  // In TOML, which is JSON too.
  bool hides_password = false;
};

std::vector<Line> lines_of(const SourceConfig& source) {
  Config scratch;
  scratch.sources = {source};
  std::vector<Line> lines;
  for (const SourceSetting& each : source_settings()) {
    const Setting& setting = each.setting;
    const bool is_other_address =
        setting.key == (source.address_env.empty() ? "address_env" : "address");
    if (applies_to(each, source.kind) && !is_other_address) {
      const std::string& address = source.address.reveal();
      lines.push_back(
          {.key = setting.key,
           .value = to_toml(setting.read(scratch)),
           .hides_password = setting.key == "address" && shown_address(address) != address});
    }
  }
  return lines;
}

std::string kinds_of(const SourceSetting& setting) {
  std::string text;
  for (const SourceKind kind : setting.kinds) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(kind));
  }
  return text.empty() ? "all" : text;
}

}  // namespace

std::string print_sources(const Loaded& loaded) {
  std::string out;
  for (const SourceConfig& source : loaded.config.sources) {
    out += fmt::format("\n[[sources]]  # {}\n", loaded.origin_of(source_key(source.name)));
    for (const Line& line : lines_of(source)) {
      out += fmt::format("{} = {}{}\n", line.key, line.value,
                         line.hides_password ? "  # The password is not shown." : "");
    }
    out += "[sources.fields]\n";
    for (const auto& [member, names] : source.mapping.fields) {
      out += fmt::format("{} = {}\n", member, to_toml(Texts{names}));
    }
  }
  return out;
}

std::string print_sources_json(const Loaded& loaded) {
  std::string out;
  for (const SourceConfig& source : loaded.config.sources) {
    out += fmt::format("{}\n    {{", out.empty() ? "" : ",");
    for (const Line& line : lines_of(source)) {
      out += fmt::format("\"{}\": {}, ", line.key, line.value);
    }
    std::string fields;
    for (const auto& [member, names] : source.mapping.fields) {
      fields +=
          fmt::format("{}\"{}\": {}", fields.empty() ? "" : ", ", member, to_toml(Texts{names}));
    }
    out += fmt::format("\"fields\": {{{}}}, \"origin\": {}}}", fields,
                       to_toml(loaded.origin_of(source_key(source.name))));
  }
  return out;
}

std::string print_source_reference() {
  std::string out =
      "\n## `[[sources]]`\n\nEach table is a source of events: a server from which Postrider takes "
      "messages. See [Events from other servers](guide/sources.md). A change takes effect after a "
      "restart.\n\n| setting | kinds | default | meaning |\n|---|---|---|---|\n";
  Config defaults;
  defaults.sources.emplace_back();
  for (const SourceSetting& each : source_settings()) {
    const bool is_required = each.setting.key == "name" || each.setting.key == "kind" ||
                             each.setting.key == "address" || each.setting.key == "queue";
    out += fmt::format("| `{}` | {} | {} | {} It {}. |\n", each.setting.key, kinds_of(each),
                       is_required ? "–" : "`" + to_toml(each.setting.read(defaults)) + "`",
                       each.setting.help, each.setting.rule);
  }
  out +=
      "\n`[sources.fields]` below a source says which field of a message each member of the event "
      "comes from: `data = \"payload\"`, or a list of names, of which the first that the message "
      "has counts. An empty list: the member does not come from the message. Defaults:\n\n"
      "| member | outbox | redis | amqp |\n|---|---|---|---|\n";
  for (const std::string_view member : mapped_members) {
    out += fmt::format("| `{}` |", member);
    for (const SourceKind kind : {SourceKind::outbox, SourceKind::redis, SourceKind::amqp}) {
      const auto fields = default_fields(kind);
      std::string names;
      for (const std::string& name : fields.at(std::string{member})) {
        names += fmt::format("{}`{}`", names.empty() ? "" : ", ", name);
      }
      out += fmt::format(" {} |", names);
    }
    out += "\n";
  }
  return out;
}

}  // namespace postrider::config
