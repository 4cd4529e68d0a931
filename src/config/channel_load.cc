#include "config/channel_load.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/net/target_url.h"
#include "core/request/secret_text.h"

#include "config/channel_settings.h"

namespace postrider::config {
namespace {

const Assignment* find_assignment(const TableEntry& entry, std::string_view key) {
  const auto found = std::ranges::find(entry.assignments, key, &Assignment::key);
  return found == entry.assignments.end() ? nullptr : &*found;
}

tl::unexpected<Error> refuse(const TableEntry& entry, std::string_view key,
                             std::string_view problem) {
  const Assignment* const assignment = find_assignment(entry, key);
  return fail(
      Errc::invalid,
      fmt::format("{}: {}", assignment == nullptr ? entry.origin : assignment->origin, problem));
}

Result<Secret<std::string>> read_variable(const TableEntry& entry, std::string_view key,
                                          const std::string& name, const Variables& variables) {
  const auto found =
      std::ranges::find_if(variables, [&](const auto& each) { return each.first == name; });
  if (found == variables.end()) {
    return refuse(entry, key, fmt::format("the environment variable `{}` is not set.", name));
  }
  return Secret{found->second};
}

Result<void> assign(const Assignment& assignment, Config& scratch) {
  const Setting& setting = find_channel_setting(assignment.key)->setting;
  if (!setting.assign(scratch, assignment.value)) {
    return fail(Errc::invalid,
                fmt::format("{}: `{}` of a notification channel {}, not {}.", assignment.origin,
                            setting.key, setting.rule, to_toml(assignment.value)));
  }
  return {};
}

Result<void> assign_all(const TableEntry& entry, Config& scratch) {
  const Assignment* const kind = find_assignment(entry, "kind");
  if (kind == nullptr) {
    return refuse(entry, "kind",
                  "a notification channel needs a `kind`: email, webhook, slack or teams.");
  }
  POSTRIDER_CHECK(assign(*kind, scratch));
  const ChannelConfig& channel = scratch.channels.back();
  for (const Assignment& assignment : entry.assignments) {
    if (!applies_to(*find_channel_setting(assignment.key), channel.kind)) {
      return refuse(entry, assignment.key,
                    fmt::format("`{}` is not a setting of a notification channel of kind {}.",
                                assignment.key, to_string(channel.kind)));
    }
    POSTRIDER_CHECK(assign(assignment, scratch));
  }
  return {};
}

Result<void> complete_url(const TableEntry& entry, const Variables& variables,
                          const UrlPolicy& policy, ChannelConfig& channel) {
  if ((find_assignment(entry, "url") == nullptr) == channel.url_env.empty()) {
    return refuse(entry, "url_env",
                  fmt::format("a notification channel of kind {} needs either `url` or `url_env`.",
                              to_string(channel.kind)));
  }
  if (!channel.url_env.empty()) {
    POSTRIDER_TRY(channel.url, read_variable(entry, "url_env", channel.url_env, variables));
  }
  if (const Result<TargetUrl> url = parse_target_url(channel.url.reveal(), policy); !url) {
    return refuse(entry, channel.url_env.empty() ? "url" : "url_env",
                  "the URL of the notification channel is not acceptable: " + url.error().message);
  }
  return {};
}

Result<void> complete_secret(const TableEntry& entry, const Variables& variables,
                             SignatureScheme scheme, ChannelConfig& channel) {
  if (channel.secret_env.empty()) {
    return {};
  }
  POSTRIDER_TRY(const Secret<std::string> given,
                read_variable(entry, "secret_env", channel.secret_env, variables));
  Result<Secret<std::string>> secret = parse_secret(scheme, given.reveal());
  if (!secret) {
    return refuse(entry, "secret_env",
                  "the variable does not contain a secret of the scheme "
                  "webhooks.signature.scheme.");
  }
  channel.secret = *std::move(secret);
  return {};
}

Result<ChannelConfig> read_channel(const TableEntry& entry, const Variables& variables,
                                   const Config& config) {
  Config scratch;
  scratch.channels.emplace_back();
  POSTRIDER_CHECK(assign_all(entry, scratch));
  ChannelConfig channel = scratch.channels.back();
  if (channel.name.empty()) {
    return refuse(entry, "name", "a notification channel needs a `name`.");
  }
  if (channel.kind == ChannelKind::email) {
    const EmailTarget& email = channel.email;
    if (email.to.empty() && !email.to_owner && !email.to_contacts) {
      return refuse(entry, "to",
                    "a notification channel of kind email needs `to`, `to_owner` or "
                    "`to_contacts`.");
    }
    return channel;
  }
  POSTRIDER_CHECK(complete_url(entry, variables, config.targets, channel));
  POSTRIDER_CHECK(
      complete_secret(entry, variables, config.webhooks.defaults.signature.scheme, channel));
  return channel;
}

}  // namespace

std::string channel_key(std::string_view name) {
  return fmt::format("notification_channels.{}", name);
}

Result<void> add_channels(const Layer& file, const Variables& variables, Loaded& loaded) {
  for (const TableEntry& entry : file.channels) {
    POSTRIDER_TRY(ChannelConfig channel, read_channel(entry, variables, loaded.config));
    const auto [known, is_new] = loaded.origins.emplace(channel_key(channel.name), entry.origin);
    if (!is_new) {
      return refuse(entry, "name",
                    fmt::format("there is a notification channel `{}` already, in {}.",
                                channel.name, known->second));
    }
    loaded.config.channels.push_back(std::move(channel));
  }
  return {};
}

Result<void> complete_smtp(const Variables& variables, Loaded& loaded) {
  SmtpConfig& smtp = loaded.config.smtp;
  const auto refuse_smtp = [&](const std::string& key, std::string_view problem) {
    return fail(Errc::invalid, fmt::format("{}: {} {}", loaded.origin_of(key), key, problem));
  };
  if (!smtp.password_env.empty() && !smtp.password_file.empty()) {
    return refuse_smtp("smtp.password_env", "cannot be combined with smtp.password_file.");
  }
  if (smtp.user.empty() && !(smtp.password_env.empty() && smtp.password_file.empty())) {
    return refuse_smtp(smtp.password_env.empty() ? "smtp.password_file" : "smtp.password_env",
                       "requires smtp.user.");
  }
  if (smtp.password_env.empty()) {
    return {};
  }
  const auto found = std::ranges::find_if(
      variables, [&](const auto& each) { return each.first == smtp.password_env; });
  if (found == variables.end()) {
    return refuse_smtp(
        "smtp.password_env",
        fmt::format("names the environment variable `{}`, which is not set.", smtp.password_env));
  }
  smtp.password = Secret{found->second};
  return {};
}

}  // namespace postrider::config
