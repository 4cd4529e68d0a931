#include "cli/commands/manual.h"

#include <fmt/format.h>

namespace postrider::cli {
namespace {

constexpr std::string_view head = R"(.\" Made by: postrider completion man
.TH POSTRIDER 1 "" "Postrider" "User Commands"
.SH NAME
postrider \- webhook delivery server and its command line
.SH SYNOPSIS
.B postrider
.I COMMAND
.RI [ OPTIONS ]
.SH DESCRIPTION
Postrider is a webhook delivery server.
Applications hand it events; it stores them durably, works out who subscribed, and delivers each
one over HTTPS, signed, retried, rate\-limited and circuit\-broken, until the receiver answers 2xx
or the delivery lands in a dead letter queue from which a person can bring it back.
.PP
.B postrider serve
runs the server.
The other commands talk to a running server, or work on a data directory, a saved request or an
archive.
.SH COMMANDS
)";

constexpr std::string_view tail = R"(.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
It was understood and did not succeed: the server refused or cannot be reached, an operation failed,
a signature is not right, a check of
.B doctor
or
.B archive verify
found something,
.B migrate \-\-check
found work.
.TP
.B 2
The command line or the configuration is wrong, or the data directory or archive cannot be used: it
is not one, is damaged, is not this user's, or another process has it.
.SH ENVIRONMENT
.TP
.B POSTRIDER_URL
The server that commands talk to, when there is no
.BR \-\-url .
.TP
.B POSTRIDER_KEY
The API key, when there is no
.BR \-\-key .
.TP
.B POSTRIDER_ADMIN_KEY
For
.BR serve :
the admin key to accept.
For the others: the API key, when there is no
.BR POSTRIDER_KEY .
.TP
.B POSTRIDER_DATA
The data directory, when there is no
.BR \-\-data .
.TP
.B POSTRIDER_SECRET
A webhook's secret for
.B listen
and
.BR verify .
.TP
.B NO_COLOR
When set, nothing is coloured.
.SH FILES
.TP
.I ./postrider\-data
The data directory, unless
.B \-\-data
names another.
.SH SEE ALSO
The header
.I <postrider/verify.h>
verifies webhooks in C++.
)";

/// What roff would take for a command or swallow.
std::string escaped(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    line_start = c == '\n';
    if (c == '-') {
      out += "\\-";
    } else if (c == '\\') {
      out += "\\e";
    } else {
      out += c;
    }
  }
  return out;
}

std::string flag_text(const FlagInfo& flag) {
  const std::string value =
      flag.value.empty() ? "" : fmt::format(" \\fI{}\\fR", escaped(flag.value));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}.\n", escaped(flag.name), value,
                     escaped(flag.description));
}

std::string usage_of(const CommandInfo& command) {
  std::string text = fmt::format("postrider {}", joined(command.path, " "));
  for (const FlagInfo& positional : command.positionals) {
    text += " " + positional.name;
  }
  text += command.children.empty() ? " [OPTIONS]" : " COMMAND";
  return text;
}

}  // namespace

std::string manual_page(const std::vector<CommandInfo>& tree) {
  std::string page{head};
  for (const CommandInfo& command : tree) {
    if (command.path.empty()) {
      continue;
    }
    page +=
        fmt::format(".SS \"{}\"\n{}.\n", escaped(usage_of(command)), escaped(command.description));
    for (const FlagInfo& positional : command.positionals) {
      page += flag_text(positional);
    }
    for (const FlagInfo& flag : command.flags) {
      if (flag.name != "--help") {
        page += flag_text(flag);
      }
    }
    if (command.footer.starts_with("Examples:")) {
      page += fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(command.footer));
    }
  }
  page += ".SH OPTIONS\n";
  page += ".TP\n\\fB\\-\\-help\\fR\nEvery command explains itself.\n";
  page += ".TP\n\\fB\\-\\-version\\fR\nPrint the version and exit.\n";
  return page += tail;
}

}  // namespace postrider::cli
