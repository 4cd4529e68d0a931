#include "main/data_copy.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/result.h"
#include "ports/store_copy.h"

#include "adapters/openssl/digest.h"
#include "adapters/postgres/store/copy/copy_target.h"
#include "adapters/sqlite/copy/copy_source.h"
#include "adapters/system/copied_mark.h"
#include "adapters/system/environment.h"
#include "adapters/system/system_clock.h"
#include "adapters/system/terminal.h"
#include "cli/commands/command_line.h"
#include "cli/text/print.h"
#include "cli/text/progress.h"
#include "config/load.h"
#include "config/source_address.h"
#include "main/config_file.h"
#include "main/vault.h"
#include "runtime/store/copy_store.h"

namespace postrider {
namespace {

int fail_with(const Error& error, int code) {
  cli::print_error(fmt::format("postrider: {}\n", error.message));
  return code;
}

struct CopiedStores {
  std::unique_ptr<CopySource> source;
  std::unique_ptr<CopyTarget> target;
  std::string directory;  // Of the source.
  std::string database;   // The target, without its password.
};

Result<CopiedStores> open_stores(const cli::CopyStoreOptions& options) {
  POSTRIDER_TRY(const config::Loaded loaded, config::load({.profile = {},
                                                           .file = options.config_file,
                                                           .variables = environment_variables(""),
                                                           .overrides = options.overrides,
                                                           .read_file = read_config_file}));
  const config::Config& config = loaded.config;
  if (config.store.reveal().empty()) {
    return fail(Errc::invalid, "Name the database with --to or POSTRIDER_STORE.");
  }
  POSTRIDER_TRY(const std::shared_ptr<const Vault> vault, open_vault(config.secrets));
  CopiedStores stores{.source = nullptr,
                      .target = nullptr,
                      .directory = config.data,
                      .database = config::shown_address(config.store.reveal())};
  POSTRIDER_TRY(
      stores.source,
      open_sqlite_copy_source(
          {.directory = config.data, .vfs = std::string{}, .digest = sha256, .vault = vault}));
  POSTRIDER_TRY(stores.target, open_postgres_copy_target(
                                   {.connect = {.address = config.store, .ca_file = std::string{}},
                                    .digest = sha256,
                                    .vault = vault,
                                    .now = make_system_clock()->now().wall}));
  return stores;
}

/// Keeps servers from the directory. The copy is complete even if this fails.
void mark_directory(const CopiedStores& stores) {
  if (const auto marked = write_copied_mark(stores.directory, stores.database); !marked) {
    cli::print_error(fmt::format(
        "postrider: warning: {} Do not start a server with this data directory again.\n",
        marked.error().message));
  }
}

/// A bar for each of the two phases.
class CopyBars {
 public:
  explicit CopyBars(const cli::ProgressOptions& options) : options_(options) {}

  void show(const CopyProgress& progress) {
    const char* const label = progress.phase == CopyPhase::copy ? "copy" : "verify";
    if (!bar_ || progress.phase != phase_) {
      bar_ = nullptr;  // Ends the line of the bar before.
      bar_ = std::make_unique<cli::Progress>(label, options_);
      phase_ = progress.phase;
    }
    bar_->show(
        {.done = progress.done, .total = progress.total, .note = std::string{progress.table}});
  }

 private:
  cli::ProgressOptions options_;
  CopyPhase phase_ = CopyPhase::copy;
  std::unique_ptr<cli::Progress> bar_;
};

std::uint64_t rows_of(const CopyReport& report) {
  std::uint64_t rows = 0;
  for (const VerifiedTable& table : report.tables) {
    rows += table.rows;
  }
  return rows;
}

std::string json_of(const CopyReport& report) {
  std::string tables;
  for (const VerifiedTable& table : report.tables) {
    tables += fmt::format("{}{{\"name\":\"{}\",\"rows\":{},\"checksum\":\"{}\"}}",
                          tables.empty() ? "" : ",", table.name, table.rows, table.checksum);
  }
  return fmt::format("{{\"was_finished\":{},\"rows\":{},\"tables\":[{}]}}\n", report.was_finished,
                     rows_of(report), tables);
}

std::string text_of(const CopyReport& report, bool verify_only) {
  if (report.was_finished) {
    return "The data directory has already been copied to this database. Nothing was changed.\n";
  }
  return fmt::format("{} rows in {} tables {}.\n", rows_of(report), report.tables.size(),
                     verify_only ? "are equal" : "were copied and verified");
}

}  // namespace

int copy_data(const cli::CopyStoreOptions& options) {
  const Result<CopiedStores> stores = open_stores(options);
  if (!stores) {
    const bool may_succeed_later = stores.error().code == Errc::unavailable;
    return fail_with(stores.error(), may_succeed_later ? cli::exit_failed : cli::exit_usage);
  }
  Result<CopyReport> report;
  {
    CopyBars bars{
        {.silent = options.json, .terminal = make_system_terminal()->stderr_is_terminal()}};
    report = copy_store({.source = stores->source.get(),
                         .target = stores->target.get(),
                         .digest = sha256,
                         .only_verify = options.verify_only,
                         .progress = [&](const CopyProgress& progress) { bars.show(progress); }});
  }
  if (!report) {
    return fail_with(report.error(),
                     report.error().code == Errc::conflict ? cli::exit_usage : cli::exit_failed);
  }
  if (!options.verify_only) {
    mark_directory(*stores);
  }
  cli::print(options.json ? json_of(*report) : text_of(*report, options.verify_only));
  return cli::exit_ok;
}

}  // namespace postrider
