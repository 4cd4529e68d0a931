// The entry point of the program. All functions are subcommands.
#include <memory>

#include <sys/stat.h>

#include "adapters/openssl/openssl_crypto.h"
#include "adapters/openssl/running_sha256.h"
#include "adapters/system/environment.h"
#include "adapters/system/machine.h"
#include "adapters/system/system_clock.h"
#include "adapters/system/terminal.h"
#include "adapters/zstd/line_reader.h"
#include "api/ui/dashboard_file.h"
#include "cli/commands/command_line.h"
#include "main/data_copy.h"
#include "main/outbox_setup.h"
#include "main/serve.h"
#include "main/store_maintenance.h"

int main(int argc, char** argv) {
  using namespace postrider;
  ::umask(S_IRWXG | S_IRWXO);  // What this program creates may contain secrets.
  const std::unique_ptr<Clock> clock = make_system_clock();
  const std::unique_ptr<Terminal> terminal = make_system_terminal();
  const std::unique_ptr<Machine> machine = make_system_machine();
  return cli::run_command_line(
      argc, argv,
      {.serve =
           [](const cli::ServeOptions& options) {
             return serve(options, api::embedded_dashboard());
           },
       .migrate = migrate,
       .backup = back_up,
       .copy = copy_data,
       .init_outbox = init_outbox,
       .report_usage = report_usage},
      {.environment = environment_variable,
       .clock = *clock,
       .terminal = *terminal,
       .machine = *machine,
       .crypto = openssl_crypto(),
       .make_sha256 = [] { return std::make_unique<RunningSha256>(); },
       .make_archive_reader = [] { return std::make_unique<zstd::LineReader>(); },
       .check_store = check_store,
       .read_database_versions = read_database_versions});
}
