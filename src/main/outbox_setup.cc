#include "main/outbox_setup.h"

#include <fmt/format.h>

#include "core/base/result.h"
#include "core/json/json_string.h"

#include "adapters/postgres/outbox_ddl.h"
#include "cli/commands/command_line.h"
#include "cli/text/print.h"

namespace postrider {
namespace {

int fail_with(const Error& error) {
  cli::print_error(fmt::format("postrider: {}\n", error.message));
  return error.code == Errc::unavailable ? cli::exit_failed : cli::exit_usage;
}

Result<std::string> ddl_of(const cli::OutboxInitOptions& options) {
  const bool is_debezium = options.columns == "debezium";
  if (options.mode == "status") {
    return is_debezium ? fail(Errc::invalid, "--columns debezium requires --mode cursor.")
                       : outbox_status_ddl(options.table);
  }
  return outbox_cursor_ddl(
      {.table = options.table,
       .columns = is_debezium ? OutboxColumns::debezium : OutboxColumns::native});
}

std::string as_json(const std::string& ddl, bool applied) {
  std::string json = fmt::format("{{\"applied\":{},\"sql\":", applied);
  append_json_string(json, ddl);
  return json + "}\n";
}

}  // namespace

int init_outbox(const cli::OutboxInitOptions& options) {
  const Result<std::string> ddl = ddl_of(options);
  if (!ddl) {
    return fail_with(ddl.error());
  }
  if (options.apply) {
    if (const Result<void> applied = apply_outbox_ddl(options.dsn, *ddl); !applied) {
      return fail_with(applied.error());
    }
  }
  if (options.json) {
    cli::print(as_json(*ddl, options.apply));
  } else {
    cli::print(options.apply ? fmt::format("The outbox {} is ready.\n", options.table) : *ddl);
  }
  return cli::exit_ok;
}

}  // namespace postrider
