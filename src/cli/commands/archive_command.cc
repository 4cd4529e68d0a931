// `postrider archive verify`: verifies a retention archive. Does not need a server.
#include <memory>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "cli/commands/archive_check.h"
#include "cli/commands/command_line.h"
#include "cli/commands/group.h"
#include "cli/text/print.h"
#include "cli/text/progress.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider archive verify /var/lib/postrider/archive
      Checks that every file exists, is unchanged and has the right number of lines.)";

struct ArchiveFlags {
  std::string directory;
  bool json = false;
};

struct Findings {
  std::uint64_t files = 0;
  std::uint64_t lines = 0;
  std::vector<std::string> faults;
};

Result<Findings> inspect(const ArchiveFlags& flags, const Ports& ports) {
  POSTRIDER_TRY(const std::vector<ArchivedFile> files, read_manifest(flags.directory));
  Findings findings;
  Progress progress{"archive",
                    {.silent = flags.json, .terminal = ports.terminal.stderr_is_terminal()}};
  for (const ArchivedFile& file : files) {
    if (const Result<void> checked = check_file(flags.directory, file, ports); !checked) {
      findings.faults.push_back(checked.error().message);
    }
    ++findings.files;
    findings.lines += file.lines;
    progress.show({.done = findings.files, .total = files.size(), .note = {}});
  }
  for (const std::string& name : unlisted_files(flags.directory, files)) {
    findings.faults.push_back(fmt::format("{} is not in the manifest.", name));
  }
  return findings;
}

std::string text_of(const Findings& findings, bool json_wanted) {
  if (json_wanted) {
    const json::object answer{
        {"ok", findings.faults.empty()},
        {"files", findings.files},
        {"lines", findings.lines},
        {"faults", json::array(findings.faults.begin(), findings.faults.end())}};
    return json::serialize(answer) + "\n";
  }
  std::string text;
  for (const std::string& fault : findings.faults) {
    text += fault + "\n";
  }
  return text + fmt::format("{} {} with {} lines, {} wrong.\n", findings.files,
                            findings.files == 1 ? "file" : "files", findings.lines,
                            findings.faults.size());
}

class ArchiveArguments final : public Subcommand {
 public:
  explicit ArchiveArguments(Syntax syntax) {
    syntax.argument("DIR", flags_.directory, "The directory of the archive");
    syntax.flag("--json", flags_.json, "Print JSON");
  }

  Result<Command> finish(const Environment&) override {
    return Command{Task{[flags = flags_](const Ports& ports) {
      const Result<Findings> findings = inspect(flags, ports);
      if (!findings) {
        return report(tl::make_unexpected(findings.error()));
      }
      print(text_of(*findings, flags.json));
      return findings->faults.empty() ? exit_ok : exit_failed;
    }}};
  }

 private:
  ArchiveFlags flags_;
};

}  // namespace

std::unique_ptr<Subcommand> add_archive(Syntax root) {
  auto group = std::make_unique<Group>(root, "archive", "Verify retention archives");
  group->syntax().footer(examples);
  const Syntax syntax =
      group->syntax().command("verify", "Verify the files of an archive against its manifest");
  group->add(syntax, std::make_unique<ArchiveArguments>(syntax));
  return group;
}

}  // namespace postrider::cli
