#include "config/channel_print.h"

#include <fmt/format.h>

#include "config/channel_settings.h"

namespace postrider::config {
namespace {

struct Line {
  std::string key;
  std::string value;  // In TOML, which is JSON too.
  bool hides = false;
};

std::vector<Line> lines_of(const ChannelConfig& channel) {
  Config scratch;
  scratch.channels = {channel};
  std::vector<Line> lines;
  for (const ChannelSetting& each : channel_settings()) {
    const Setting& setting = each.setting;
    const bool is_other_url = setting.key == (channel.url_env.empty() ? "url_env" : "url");
    if (applies_to(each, channel.kind) && !is_other_url) {
      const std::string& url = channel.url.reveal();
      lines.push_back({.key = setting.key,
                       .value = to_toml(setting.read(scratch)),
                       .hides = setting.key == "url" && shown_channel_url(url) != url});
    }
  }
  return lines;
}

std::string kinds_of(const ChannelSetting& setting) {
  std::string text;
  for (const ChannelKind kind : setting.kinds) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(kind));
  }
  return text.empty() ? "all" : text;
}

}  // namespace

std::string print_channels(const Loaded& loaded) {
  std::string out;
  for (const ChannelConfig& channel : loaded.config.channels) {
    out += fmt::format("\n[[notification_channels]]  # {}\n",
                       loaded.origin_of(channel_key(channel.name)));
    for (const Line& line : lines_of(channel)) {
      out += fmt::format("{} = {}{}\n", line.key, line.value,
                         line.hides ? "  # The rest is not shown." : "");
    }
  }
  return out;
}

std::string print_channels_json(const Loaded& loaded) {
  std::string out;
  for (const ChannelConfig& channel : loaded.config.channels) {
    out += fmt::format("{}\n    {{", out.empty() ? "" : ",");
    for (const Line& line : lines_of(channel)) {
      out += fmt::format("\"{}\": {}, ", line.key, line.value);
    }
    out += fmt::format("\"origin\": {}}}", to_toml(loaded.origin_of(channel_key(channel.name))));
  }
  return out;
}

std::string print_channel_reference() {
  std::string out =
      "\n## `[[notification_channels]]`\n\nEach table is a notification channel of the server: "
      "where people are told about alerts. Further channels are made with the API, which shows "
      "these too but cannot change them. A change takes effect after a restart.\n\n"
      "| setting | kinds | default | meaning |\n|---|---|---|---|\n";
  Config defaults;
  defaults.channels.emplace_back();
  for (const ChannelSetting& each : channel_settings()) {
    const bool is_required = each.setting.key == "name" || each.setting.key == "kind";
    out += fmt::format("| `{}` | {} | {} | {} It {}. |\n", each.setting.key, kinds_of(each),
                       is_required ? "–" : "`" + to_toml(each.setting.read(defaults)) + "`",
                       each.setting.help, each.setting.rule);
  }
  return out;
}

}  // namespace postrider::config
