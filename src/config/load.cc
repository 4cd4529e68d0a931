#include "config/load.h"

#include <algorithm>

#include <fmt/format.h>

#include "config/channel_load.h"
#include "config/checks.h"
#include "config/profiles.h"
#include "config/settings.h"
#include "config/source_load.h"

namespace postrider::config {
namespace {

std::string variable(const Variables& variables, std::string_view name) {
  const auto found =
      std::ranges::find_if(variables, [&](const auto& each) { return each.first == name; });
  return found == variables.end() ? std::string{} : found->second;
}

std::string first_of(std::string a, std::string b) { return std::move(a.empty() ? b : a); }

bool is_nonzero(const Layer& layer, const std::string& key) {
  return std::ranges::any_of(layer.assignments, [&](const Assignment& assignment) {
    return assignment.key == key && std::get<std::int64_t>(assignment.value) != 0;
  });
}

/// One source may set a rate in one unit only.
Result<void> refuse_two_units(const Layer& layer) {
  constexpr std::string_view minute = "requests_per_minute";
  for (const Assignment& assignment : layer.assignments) {
    if (!assignment.key.ends_with(minute)) {
      continue;
    }
    const std::string base = assignment.key.substr(0, assignment.key.size() - minute.size());
    if (is_nonzero(layer, assignment.key) && is_nonzero(layer, base + "requests_per_second")) {
      return fail(Errc::invalid,
                  fmt::format("{}: {} cannot be combined with {}requests_per_second; set one of "
                              "them.",
                              assignment.origin, assignment.key, base));
    }
  }
  return {};
}

Result<void> assign(const Assignment& assignment, Loaded& loaded) {
  const Setting& setting = *find_setting(assignment.key);
  if (!setting.assign(loaded.config, assignment.value)) {
    const std::string given =
        setting.hides_value ? std::string{} : ", not " + to_toml(assignment.value);
    return fail(Errc::invalid,
                fmt::format("{}: {} {}{}.", assignment.origin, setting.key, setting.rule, given));
  }
  if (!setting.preset_prefix.empty()) {
    std::erase_if(loaded.origins,
                  [&](const auto& each) { return each.first.starts_with(setting.preset_prefix); });
    for (const Setting& other : all_settings()) {
      if (other.key.starts_with(setting.preset_prefix)) {
        loaded.origins[other.key] = fmt::format("preset, {}", assignment.origin);
      }
    }
  }
  loaded.origins[setting.key] = assignment.origin;
  return {};
}

void add_event_types(const Layer& layer, Loaded& loaded) {
  std::vector<EventTypeConfig>& known = loaded.config.event_types;
  for (const auto& [type, origin] : layer.event_types) {
    const auto same = std::ranges::find(known, type.name, &EventTypeConfig::name);
    if (same == known.end()) {
      known.push_back(type);
    } else {
      *same = type;
    }
    loaded.origins[event_type_key(type.name)] = origin;
  }
}

enum class Assigned : bool { presets, others };

Result<void> assign_all(const Layer& layer, Assigned which, Loaded& loaded) {
  for (const Assignment& assignment : layer.assignments) {
    const bool is_preset = !find_setting(assignment.key)->preset_prefix.empty();
    if (is_preset == (which == Assigned::presets)) {
      POSTRIDER_CHECK(assign(assignment, loaded));
    }
  }
  return {};
}

/// Applies presets first, because the other settings refine them.
Result<void> apply(const Layer& layer, Loaded& loaded) {
  POSTRIDER_CHECK(refuse_two_units(layer));
  POSTRIDER_CHECK(assign_all(layer, Assigned::presets, loaded));
  POSTRIDER_CHECK(assign_all(layer, Assigned::others, loaded));
  add_event_types(layer, loaded);
  return {};
}

struct Choice {
  std::string profile;  // Empty: none.
  std::string origin;
};

Choice choose_profile(const Sources& sources, const Layer& file) {
  if (!sources.profile.empty()) {
    return {sources.profile, "flag --profile"};
  }
  if (std::string named = variable(sources.variables, "POSTRIDER_PROFILE"); !named.empty()) {
    return {std::move(named), "environment POSTRIDER_PROFILE"};
  }
  for (const Assignment& assignment : file.assignments) {
    if (assignment.key == "profile") {
      return {std::get<std::string>(assignment.value), assignment.origin};
    }
  }
  return {};
}

Result<void> apply_profile(const Choice& choice, Loaded& loaded) {
  const std::string& name = choice.profile;
  if (name.empty()) {
    return {};
  }
  const Result<std::string_view> text = find_profile(name);
  if (!text) {
    return fail(Errc::invalid, fmt::format("{}: {}", choice.origin, text.error().message));
  }
  POSTRIDER_TRY(Layer layer, read_toml(*text, fmt::format("profiles/{}.toml", name)));
  for (Assignment& assignment : layer.assignments) {
    assignment.origin = "profile " + name;
  }
  for (EventTypeEntry& entry : layer.event_types) {
    entry.origin = "profile " + name;
  }
  return apply(layer, loaded);
}

bool assigns(const Layer& layer, std::string_view key) {
  return std::ranges::any_of(layer.assignments,
                             [&](const Assignment& assignment) { return assignment.key == key; });
}

/// A relative path of a profile or file is below the data directory, unless it names that directory
/// itself, as a printed configuration does. One that was given to this process, in a variable or
/// flag, is relative to its working directory.
void place_archive(const std::vector<const Layer*>& given_to_process, Config& config) {
  std::string& directory = config.retention.archive_directory;
  const bool given = std::ranges::any_of(given_to_process, [](const Layer* layer) {
    return assigns(*layer, "retention.archive_directory");
  });
  const std::string base = config.data + (config.data.ends_with('/') ? "" : "/");
  if (!given && !directory.empty() && !directory.starts_with('/') && !directory.starts_with(base)) {
    directory = base + directory;
  }
}

std::optional<Secret<std::string>> secret_variable(const Variables& variables,
                                                   std::string_view name) {
  for (const auto& [each, value] : variables) {
    if (each == name) {
      return Secret{value};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string event_type_key(std::string_view name) { return fmt::format("event_types.{}", name); }

std::string Loaded::origin_of(const std::string& key) const {
  const auto found = origins.find(key);
  return found == origins.end() ? "default" : found->second;
}

Result<Loaded> load(const Sources& sources) {
  Loaded loaded;
  Layer file;
  const std::string path = first_of(sources.file, variable(sources.variables, "POSTRIDER_CONFIG"));
  if (!path.empty()) {
    POSTRIDER_TRY(const std::string text, sources.read_file(path));
    POSTRIDER_TRY(file, read_toml(text, path));
  }
  POSTRIDER_TRY(const Layer environment,
                read_variables(sources.variables, file, loaded.unknown_variables));
  POSTRIDER_TRY(const Layer flags, read_flags(sources.overrides));

  const Choice choice = choose_profile(sources, file);
  POSTRIDER_CHECK(apply_profile(choice, loaded));
  POSTRIDER_CHECK(apply(file, loaded));
  POSTRIDER_CHECK(apply(environment, loaded));
  POSTRIDER_CHECK(apply(flags, loaded));
  POSTRIDER_CHECK(add_sources(file, sources.variables, loaded));
  POSTRIDER_CHECK(add_channels(file, sources.variables, loaded));
  POSTRIDER_CHECK(complete_smtp(sources.variables, loaded));
  place_archive({&environment, &flags}, loaded.config);
  if (!choice.profile.empty()) {
    loaded.config.profile = choice.profile;
    loaded.origins["profile"] = choice.origin;
  }
  loaded.config.admin_key = secret_variable(sources.variables, "POSTRIDER_ADMIN_KEY");
  loaded.config.secrets.key = secret_variable(sources.variables, "POSTRIDER_SECRETS_KEY");
  POSTRIDER_CHECK(check(loaded));
  return loaded;
}

Changes compare(const Config& running, const Config& wanted) {
  Changes changes;
  for (const Setting& setting : all_settings()) {
    if (setting.read(running) != setting.read(wanted)) {
      (setting.reloads ? changes.now : changes.at_restart).push_back(setting.key);
    }
  }
  if (running.event_types != wanted.event_types) {
    changes.at_restart.emplace_back("event_types");
  }
  if (running.sources != wanted.sources) {
    changes.at_restart.emplace_back("sources");
  }
  if (running.channels != wanted.channels) {
    changes.at_restart.emplace_back("notification_channels");
  }
  return changes;
}

Loaded merge_reload(const Loaded& running, const Loaded& wanted) {
  Loaded merged{.config = wanted.config, .origins = {}, .unknown_variables = {}};
  for (const Setting& setting : all_settings()) {
    if (!setting.reloads) {
      // It was valid when it was read.
      (void)setting.assign(merged.config, setting.read(running.config));
    }
    merged.origins[setting.key] = (setting.reloads ? wanted : running).origin_of(setting.key);
  }
  merged.config.event_types = running.config.event_types;
  merged.config.sources = running.config.sources;
  merged.config.channels = running.config.channels;
  merged.config.smtp = running.config.smtp;
  merged.config.admin_key = running.config.admin_key;
  merged.config.secrets = running.config.secrets;
  merged.config.tracing = running.config.tracing;  // Its headers are hidden by `read`.
  return merged;
}

}  // namespace postrider::config
