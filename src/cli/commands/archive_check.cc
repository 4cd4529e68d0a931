#include "cli/commands/archive_check.h"

#include <algorithm>
#include <cstdio>
#include <memory>

#include <boost/json/parse.hpp>
#include <fmt/format.h>

#include "core/json/json_text.h"
#include "core/request/signature.h"

#include "cli/text/input.h"
#include "cli/text/json_text.h"

namespace postrider::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t format_known = 1;
constexpr std::string_view suffix = ".jsonl.zst";
constexpr std::size_t block_bytes = 262'144;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A name in a manifest must be a file in the same directory, not a path.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

Result<ArchivedFile> read_entry(const json::value& entry) {
  ArchivedFile file{.name = text_at(entry, "name"),
                    .sha256 = text_at(entry, "sha256"),
                    .bytes = count_at(entry, "bytes"),
                    .lines = count_at(entry, "lines")};
  if (!is_plain_name(file.name) || file.sha256.size() != 64) {
    return fail(Errc::invalid, "manifest.json lists a file without a valid name or sha256.");
  }
  return file;
}

/// check_json accepts any number but rejects the nesting that the envelope adds to a deep event.
/// Boost.JSON accepts the nesting but not every number. A line is valid if either accepts it.
bool is_json(std::string_view line) {
  constexpr std::size_t depth_max = 64;
  boost::system::error_code error;
  return check_json(line).has_value() ||
         (json::parse(line, error, {}, {.max_depth = depth_max}), !error);
}

/// The state of scanning one file from start to end.
struct FileScan {
  std::unique_ptr<RunningHash> sha256;
  std::unique_ptr<ArchiveReader> lines;
  std::uint64_t bytes = 0;
  std::uint64_t line_count = 0;
};

Result<void> read_through(std::FILE* file, const std::string& name, FileScan& scan) {
  std::string block(block_bytes, '\0');
  const auto check_line = [&](std::string_view line) -> Result<void> {
    ++scan.line_count;
    if (is_json(line)) {
      return {};
    }
    return fail(Errc::corrupt, fmt::format("line {} is not JSON.", scan.line_count));
  };
  while (std::feof(file) == 0 && std::ferror(file) == 0) {
    const std::size_t bytes = std::fread(block.data(), 1, block.size(), file);
    const std::string_view read{block.data(), bytes};
    scan.bytes += bytes;
    scan.sha256->add(read);
    if (const Result<void> fed = scan.lines->feed(read, check_line); !fed) {
      return fail(Errc::corrupt, fmt::format("{}: {}", name, fed.error().message));
    }
  }
  if (std::ferror(file) != 0) {
    return fail(Errc::unavailable, fmt::format("{}: read error.", name));
  }
  return {};
}

}  // namespace

Result<std::vector<ArchivedFile>> read_manifest(const fs::path& directory) {
  POSTRIDER_TRY(const std::string text, read_input((directory / "manifest.json").string()));
  boost::system::error_code error;
  const json::value manifest = json::parse(text, error);
  const json::value* const files = error ? nullptr : member(manifest, "files");
  if (files == nullptr || !files->is_array()) {
    return fail(Errc::invalid, "manifest.json is not the manifest of an archive.");
  }
  if (count_at(manifest, "format") != format_known) {
    return fail(Errc::invalid,
                fmt::format("manifest.json has format {}; this program supports format {}.",
                            text_at(manifest, "format"), format_known));
  }
  std::vector<ArchivedFile> listed;
  for (const json::value& entry : files->get_array()) {
    POSTRIDER_TRY(ArchivedFile file, read_entry(entry));
    listed.push_back(std::move(file));
  }
  return listed;
}

Result<void> check_file(const fs::path& directory, const ArchivedFile& wanted, const Ports& ports) {
  const File file{std::fopen((directory / wanted.name).c_str(), "rb"), &std::fclose};
  if (file == nullptr) {
    return fail(Errc::not_found, fmt::format("{} is missing.", wanted.name));
  }
  FileScan scan{.sha256 = ports.make_sha256(), .lines = ports.make_archive_reader()};
  const Result<void> read = read_through(file.get(), wanted.name, scan);
  // A wrong hash explains every other difference, so check it first. It needs the whole file.
  if (read && to_hex(scan.sha256->finish()) != wanted.sha256) {
    return fail(
        Errc::corrupt,
        fmt::format("{} was changed after it was written: its SHA-256 does not match the manifest.",
                    wanted.name));
  }
  POSTRIDER_CHECK(read);
  if (scan.bytes != wanted.bytes) {
    return fail(Errc::corrupt, fmt::format("{} has {} bytes; the manifest says {}.", wanted.name,
                                           scan.bytes, wanted.bytes));
  }
  if (!scan.lines->at_end()) {
    return fail(Errc::corrupt, fmt::format("{} is truncated.", wanted.name));
  }
  if (scan.line_count != wanted.lines) {
    return fail(Errc::corrupt, fmt::format("{} has {} lines; the manifest says {}.", wanted.name,
                                           scan.line_count, wanted.lines));
  }
  return {};
}

std::vector<std::string> unlisted_files(const fs::path& directory,
                                        const std::vector<ArchivedFile>& files) {
  std::vector<std::string> unlisted;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator{directory, error}) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(suffix) &&
        std::ranges::find(files, name, &ArchivedFile::name) == files.end()) {
      unlisted.push_back(name);
    }
  }
  std::ranges::sort(unlisted);
  return unlisted;
}

}  // namespace postrider::cli
