#include "config/channel_settings.h"

#include <algorithm>

#include "core/model/email_address.h"

#include "config/settings.h"

#define POSTRIDER_CHANNEL(path) POSTRIDER_FIELD(channels.back().path)

namespace postrider::config {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= channel_name_bytes_max &&
         std::ranges::all_of(text, [](char each) {
           return static_cast<unsigned char>(each) >= 0x20 && each != 0x7f;
         });
}

Setting url_setting() {
  return {.key = "url",
          .kind = Kind::text,
          .help = "Where messages are sent. Printed settings show only its host.",
          .rule = "must be a URL",
          .assign =
              [](Config& config, const Value& value) {
                config.channels.back().url = Secret{std::get<std::string>(value)};
                return true;
              },
          .read = [](const Config& config) -> Value {
            return shown_channel_url(config.channels.back().url.reveal());
          }};
}

Setting addresses_setting() {
  return {.key = "to",
          .kind = Kind::texts,
          .help = "The addresses that messages are sent to.",
          .rule = "must be a list of at most 20 e-mail addresses such as ops@example.com",
          .assign =
              [](Config& config, const Value& value) {
                const Texts& given = std::get<Texts>(value);
                const bool fits = given.size() <= channel_addresses_max &&
                                  std::ranges::all_of(given, [](const std::string& each) {
                                    return is_email_address(each);
                                  });
                if (fits) {
                  config.channels.back().email.to = given;
                }
                return fits;
              },
          .read = [](const Config& config) -> Value { return config.channels.back().email.to; }};
}

/// A list of values that `parse` accepts.
template <class Field, class Parse, class Show>
Setting list(Setting setting, Field field, Parse parse, Show show) {
  setting.kind = Kind::texts;
  setting.assign = [field, parse](Config& config, const Value& value) {
    std::remove_reference_t<decltype(field(config))> items;
    for (const std::string& text : std::get<Texts>(value)) {
      const auto item = parse(text);
      if (!item) {
        return false;
      }
      items.push_back(*item);
    }
    field(config) = std::move(items);
    return true;
  };
  setting.read = [field, show](const Config& config) -> Value {
    Texts texts;
    for (const auto& item : field(config)) {
      texts.push_back(show(item));
    }
    return texts;
  };
  return setting;
}

std::optional<NotificationKind> parse_choosable(std::string_view text) {
  const std::optional<NotificationKind> kind = parse_notification_kind(text);
  const std::vector<NotificationKind>& known = choosable_kinds();
  return kind && std::ranges::find(known, *kind) != known.end() ? kind : std::nullopt;
}

void add_targets(std::vector<ChannelSetting>& all) {
  const std::vector<ChannelKind> email{ChannelKind::email};
  const std::vector<ChannelKind> urls{ChannelKind::webhook, ChannelKind::slack, ChannelKind::teams};
  all.push_back({addresses_setting(), email});
  all.push_back({boolean({"to_owner", "Send to the `owner_email` of the webhook."},
                         POSTRIDER_CHANNEL(email.to_owner)),
                 email});
  all.push_back({boolean({"to_contacts", "Send to the `contacts` of the tenant."},
                         POSTRIDER_CHANNEL(email.to_contacts)),
                 email});
  all.push_back({url_setting(), urls});
  all.push_back({text({"url_env",
                       "The environment variable that contains the URL, instead of "
                       "`url`."},
                      POSTRIDER_CHANNEL(url_env)),
                 urls});
  all.push_back({text({"secret_env",
                       "The environment variable that contains the secret that "
                       "messages are signed with; empty: one is generated."},
                      POSTRIDER_CHANNEL(secret_env)),
                 {ChannelKind::webhook}});
}

void add_choices(std::vector<ChannelSetting>& all) {
  const auto add = [&all](Setting setting) { all.push_back({std::move(setting), {}}); };
  add(list({.key = "kinds",
            .help = "The kinds of alerts to tell about, and operation_finished; empty: all.",
            .rule = "must be a list of kinds of alerts, such as circuit_opened"},
           POSTRIDER_CHANNEL(kinds), parse_choosable,
           [](NotificationKind kind) { return std::string{to_string(kind)}; }));
  add(choice({"severity_min", "Only alerts of this severity or a higher one."},
             POSTRIDER_CHANNEL(severity_min), Words{"info, warning, critical", parse_severity}));
  add(list({.key = "webhook_ids",
            .help = "The webhooks to tell about; empty: all, and the server.",
            .rule = "must be a list of webhooks' ids"},
           POSTRIDER_CHANNEL(webhook_ids), WebhookId::parse,
           [](WebhookId id) { return id.to_string(); }));
  add(boolean({"send_resolved", "Also tell when an alert is resolved."},
              POSTRIDER_CHANNEL(send_resolved)));
  add(integer({"group_window_ms", "Alerts of one kind within this time are one message."},
              POSTRIDER_CHANNEL(group_window), {0, group_window_max.count()}));
  add(integer(
      {"per_hour_max", "The most messages in an hour; what is held back is told in a summary."},
      POSTRIDER_CHANNEL(per_hour_max), {1, per_hour_limit}));
  add(boolean({"active", "Whether anything is sent."}, POSTRIDER_CHANNEL(active)));
}

std::vector<ChannelSetting> all_channel_settings() {
  std::vector<ChannelSetting> all;
  all.push_back(
      {text({"name", "Names the channel. Unique: a renamed channel is a new one."},
            POSTRIDER_CHANNEL(name),
            {.rule = "must be 1 to 200 characters without control characters", .fits = is_name}),
       {}});
  const auto find = [](std::string_view text) { return channel_kinds.find(text); };
  all.push_back({choice({"kind",
                         "email: over the mail server of `[smtp]`. webhook: signed events. slack, "
                         "teams: messages to an incoming webhook of the chat service."},
                        POSTRIDER_CHANNEL(kind), Words{"email, webhook, slack, teams", find}),
                 {}});
  add_targets(all);
  add_choices(all);
  return all;
}

}  // namespace

const std::vector<ChannelSetting>& channel_settings() {
  static const std::vector<ChannelSetting> all = all_channel_settings();
  return all;
}

const ChannelSetting* find_channel_setting(std::string_view key) {
  const auto found = std::ranges::find_if(
      channel_settings(), [&](const ChannelSetting& each) { return each.setting.key == key; });
  return found == channel_settings().end() ? nullptr : &*found;
}

bool applies_to(const ChannelSetting& setting, ChannelKind kind) {
  return setting.kinds.empty() || std::ranges::find(setting.kinds, kind) != setting.kinds.end();
}

std::string shown_channel_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) {
    return url.empty() ? "" : "***";
  }
  const std::size_t end = url.find_first_of("/?#", scheme + 3);
  const std::string host{url.substr(0, end)};
  return end == std::string_view::npos || url.substr(end) == "/" ? host + "/" : host + "/***";
}

}  // namespace postrider::config
