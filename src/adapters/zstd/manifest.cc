#include "adapters/zstd/manifest.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/json/json_text.h"

#include "adapters/zstd/durable_file.h"

namespace postrider::zstd {
namespace {

auto damaged(const std::filesystem::path& file) {
  return fail(Errc::corrupt,
              fmt::format("{} is not the manifest of an archive of format 1; nothing is archived "
                          "over it.",
                          file.string()));
}

}  // namespace

Result<std::vector<std::string>> read_manifest(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) {
    return std::vector<std::string>{};
  }
  POSTRIDER_TRY(const std::string text, read_whole(file));
  const Result<std::vector<JsonMember>> members = read_json_object(text);
  if (!members) {
    return damaged(file);
  }
  const auto find = [&](std::string_view key) {
    const auto found = std::ranges::find(*members, key, &JsonMember::key);
    return found == members->end() ? std::string_view{} : found->value;
  };
  const Result<std::vector<std::string_view>> files = read_json_array(find("files"));
  if (find("format") != "1" || !files) {
    return damaged(file);
  }
  return std::vector<std::string>(files->begin(), files->end());
}

std::string to_json(const ManifestEntry& entry) {
  // Names and sums are ours: nothing in them needs escaping.
  return fmt::format(
      R"({{"name":"{}","sha256":"{}","bytes":{},"lines":{},"first_at":"{}","last_at":"{}"}})",
      entry.name, entry.sha256, entry.bytes, entry.lines, to_rfc3339(entry.first_at),
      to_rfc3339(entry.last_at));
}

Result<void> write_manifest(const std::filesystem::path& file,
                            const std::vector<std::string>& entries) {
  return write_durably(
      file, fmt::format("{{\"format\":1,\"files\":[\n{}\n]}}\n", fmt::join(entries, ",\n")));
}

}  // namespace postrider::zstd
