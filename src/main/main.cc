// The program. Everything it does is behind a subcommand.
#include "cli/commands/command_line.h"
#include "main/serve.h"
#include "main/store_maintenance.h"

int main(int argc, char** argv) {
  return postrider::cli::run_command_line(
      argc, argv,
      {.serve = postrider::serve, .migrate = postrider::migrate, .backup = postrider::back_up});
}
