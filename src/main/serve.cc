#include "main/serve.h"

#include <csignal>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "adapters/system/environment.h"
#include "api/http/listen_address.h"
#include "api/resources/tenant_text.h"
#include "cli/commands/command_line.h"
#include "cli/text/version.h"
#include "config/load.h"
#include "config/log_format_hint.h"
#include "config/print.h"
#include "main/config_file.h"
#include "main/logging.h"
#include "main/server.h"
#include "runtime/observability/attempt_log.h"

namespace postrider {
namespace {

config::Sources sources_of(const cli::ServeOptions& options) {
  return {.profile = options.profile,
          .file = options.config_file,
          .variables = environment_variables(""),
          .overrides = options.overrides,
          .read_file = read_config_file};
}

/// What the arguments say about the configuration, although they are wrong.
config::Sources sources_of(const std::vector<std::string>& arguments) {
  config::Sources sources{.profile = {},
                          .file = {},
                          .variables = environment_variables(""),
                          .overrides = {},
                          .read_file = read_config_file};
  const auto add = [&sources](std::string_view name, const std::string& value) {
    if (name == "--config") {
      sources.file = value;
    } else if (const std::size_t equals = value.find('=');
               name == "--set" && equals != std::string::npos) {
      sources.overrides.push_back(
          {.key = value.substr(0, equals), .value = value.substr(equals + 1), .flag = "--set"});
    }
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (const std::size_t equals = argument.find('='); equals != std::string::npos) {
      add(argument.substr(0, equals), argument.substr(equals + 1));
    } else if (i + 1 < arguments.size()) {
      add(argument, arguments[i + 1]);
    }
  }
  return sources;
}

/// Also checks values that only the API can check, because the error must name their origin.
Result<config::Loaded> load_checked(const config::Sources& sources) {
  POSTRIDER_TRY(config::Loaded loaded, config::load(sources));
  if (const auto address = api::parse_listen_address(loaded.config.listen); !address) {
    return fail(Errc::invalid,
                fmt::format("{}: {}", loaded.origin_of("listen"), address.error().message));
  }
  const std::string& monitoring = loaded.config.metrics_listen;
  if (const auto address = api::parse_listen_address(monitoring); !monitoring.empty() && !address) {
    return fail(Errc::invalid,
                fmt::format("{}: {}", loaded.origin_of("metrics_listen"), address.error().message));
  }
  for (const config::SourceConfig& source : loaded.config.sources) {
    const std::string& tenant_id = source.mapping.tenant_id;
    if (!tenant_id.empty() && !api::is_tenant_id(tenant_id)) {
      return fail(Errc::invalid,
                  fmt::format("{}: `tenant` of the source {} is not the id of a tenant.",
                              loaded.origin_of(config::source_key(source.name)), source.name));
    }
  }
  return loaded;
}

/// Applies the hidden flags that set retention in milliseconds, for tests.
config::Loaded with_trial_ages(config::Loaded loaded, const cli::ServeOptions& options) {
  config::RetentionConfig& retention = loaded.config.retention;
  if (options.retention_events.count() > 0) {
    retention.events = options.retention_events;
  }
  if (options.retention_dead_letters.count() > 0) {
    retention.dead_letters = options.retention_dead_letters;
  }
  if (options.retention_operations.count() > 0) {
    retention.operations = options.retention_operations;
  }
  return loaded;
}

}  // namespace

int serve(const cli::ServeOptions& options, std::span<const api::DashboardFile> dashboard) {
  if (options.print_reference) {
    fmt::print("{}", config::print_reference());
    return cli::exit_ok;
  }
  const config::Sources sources = sources_of(options);
  const Result<config::Loaded> loaded = load_checked(sources);
  if (!loaded) {
    report_start_failure(config::hinted_log_format(sources), loaded.error().message);
    return cli::exit_usage;
  }
  if (options.print_config) {
    fmt::print("{}",
               options.json ? config::print_config_json(*loaded) : config::print_config(*loaded));
    return cli::exit_ok;
  }
  set_up_logging(loaded->config);
  // A closed connection and a file that reached its limit are error values, not signals.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);

  Result<std::unique_ptr<Server>> server =
      start_server({.loaded = with_trial_ages(*loaded, options),
                    .reload = [sources, options]() -> Result<config::Loaded> {
                      POSTRIDER_TRY(config::Loaded again, load_checked(sources));
                      return with_trial_ages(std::move(again), options);
                    },
                    .dashboard = dashboard,
                    .accept_data_loss = options.accept_data_loss,
                    .json = options.json});
  if (!server) {
    end_logging();
    report_start_failure(loaded->config.log_format, server.error().message);
    return cli::exit_usage;
  }
  for (const std::string& name : loaded->unknown_variables) {
    spdlog::warn("config.unknown_variable name=\"{}\"", log_safe(name));
  }
  (*server)->run_until_signal();
  end_logging();
  return cli::exit_ok;
}

bool report_usage(const std::vector<std::string>& arguments, std::string_view reason) {
  if (config::hinted_log_format(sources_of(arguments)) != config::LogFormat::json) {
    return false;
  }
  report_start_failure(config::LogFormat::json, reason);
  return true;
}

}  // namespace postrider
