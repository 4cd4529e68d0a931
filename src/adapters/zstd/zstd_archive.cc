#include "adapters/zstd/zstd_archive.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zstd.h>

#include "core/base/assert.h"
#include "core/request/signature.h"

#include "adapters/zstd/durable_file.h"
#include "adapters/zstd/manifest.h"

namespace postrider {
namespace {

namespace fs = std::filesystem;
using namespace zstd;

constexpr std::string_view prefix = "events-";
constexpr std::string_view suffix = ".jsonl.zst";

/// Compresses one frame in memory.
class Compressor {
 public:
  Compressor() : context_(ZSTD_createCCtx()) {
    POSTRIDER_ASSERT(context_ != nullptr);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  void add(std::string_view bytes) { run(bytes, ZSTD_e_continue); }

  /// The whole frame.
  [[nodiscard]] const std::string& finish() {
    run({}, ZSTD_e_end);
    return output_;
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  void run(std::string_view bytes, ZSTD_EndDirective directive) {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    for (bool more = true; more;) {
      const std::size_t filled = output_.size();
      output_.resize(filled + ZSTD_CStreamOutSize());
      ZSTD_outBuffer output{output_.data() + filled, output_.size() - filled, 0};
      const std::size_t left = ZSTD_compressStream2(context_.get(), &output, &input, directive);
      POSTRIDER_ASSERT(ZSTD_isError(left) == 0);  // Fails only if memory is exhausted.
      output_.resize(filled + output.pos);
      more = directive == ZSTD_e_end ? left != 0 : input.pos < input.size;
    }
  }

  std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::string output_;
};

struct PendingFile {
  Compressor compressor;
  std::size_t bytes = 0;
  std::uint64_t lines = 0;
  WallTime first_at = wall_time_max;
  WallTime last_at = wall_time_min;
};

/// The time for a file name: `20260131T235959Z`.
std::string compact(WallTime time) {
  std::string text = to_rfc3339(time).substr(0, 19) + "Z";
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  return text;
}

/// The number at the end of an archive file's name. Zero for other files.
std::uint64_t number_of(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) {
    return 0;
  }
  name.remove_suffix(suffix.size());
  const std::string_view digits = name.substr(name.rfind('-') + 1);
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// Archive files in the directory that the manifest does not list.
std::vector<fs::path> unlisted(const fs::path& directory, const std::vector<std::string>& entries) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator file{directory, error}, end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    const std::string listed = fmt::format("\"name\":\"{}\"", name);
    if (number_of(name) > 0 && std::ranges::none_of(entries, [&](const std::string& entry) {
          return entry.find(listed) != std::string::npos;
        })) {
      found.push_back(file->path());
    }
  }
  return found;
}

/// A crash between writing a file and the manifest leaves one unlisted file. Its content is still
/// in the store, so it is renamed to keep the archive consistent. Several unlisted files have
/// another cause and are left alone.
void rename_orphan(const fs::path& directory) {
  const Result<std::vector<std::string>> entries = read_manifest(directory / "manifest.json");
  if (!entries) {
    return;  // The first seal reports the error.
  }
  const std::vector<fs::path> orphans = unlisted(directory, *entries);
  if (orphans.size() == 1 && number_of(orphans.front().filename().string()) > entries->size()) {
    std::error_code ignored;  // If this fails, the file stays; only an archive check reports it.
    fs::rename(orphans.front(), orphans.front().string() + ".orphan", ignored);
  }
}

class ZstdArchive final : public Archive {
 public:
  explicit ZstdArchive(ZstdArchiveOptions options) : options_(std::move(options)) {}

  Result<bool> append(std::string_view line, WallTime at) override {
    if (!pending_file_) {
      POSTRIDER_CHECK(check_directory());
      pending_file_.emplace();
    }
    PendingFile& file = *pending_file_;
    file.compressor.add(line);
    file.compressor.add("\n");
    file.bytes += line.size() + 1;
    ++file.lines;
    file.first_at = std::min(file.first_at, at);
    file.last_at = std::max(file.last_at, at);
    return file.bytes >= options_.file_bytes_max;
  }

  Result<void> seal() override {
    if (!pending_file_) {
      return {};
    }
    PendingFile file = *std::exchange(pending_file_, std::nullopt);
    POSTRIDER_CHECK(check_directory());
    const fs::path manifest = options_.directory / "manifest.json";
    POSTRIDER_TRY(std::vector<std::string> entries, read_manifest(manifest));
    POSTRIDER_TRY(const std::uint64_t number, next_number());
    const std::string& bytes = file.compressor.finish();
    const ManifestEntry entry{
        .name = fmt::format("{}{}-{:06}{}", prefix, compact(file.first_at), number, suffix),
        .sha256 = to_hex(options_.sha256(bytes)),
        .bytes = bytes.size(),
        .lines = file.lines,
        .first_at = file.first_at,
        .last_at = file.last_at};
    POSTRIDER_CHECK(write_durably(options_.directory / entry.name, bytes));
    entries.push_back(to_json(entry));
    return write_manifest(manifest, entries);
  }

 private:
  [[nodiscard]] Result<void> check_directory() const {
    std::error_code error;
    if (!fs::is_directory(options_.directory, error)) {
      return fail(Errc::unavailable, fmt::format("The archive directory {} does not exist.",
                                                 options_.directory.string()));
    }
    return {};
  }

  /// Higher than the number of every existing file, listed or not, so that none is overwritten.
  [[nodiscard]] Result<std::uint64_t> next_number() const {
    std::error_code error;
    std::uint64_t last = 0;
    for (fs::directory_iterator entry{options_.directory, error}, end; !error && entry != end;
         entry.increment(error)) {
      last = std::max(last, number_of(entry->path().filename().string()));
    }
    if (error) {
      return fail(Errc::unavailable, fmt::format("The archive directory {} cannot be read: {}.",
                                                 options_.directory.string(), error.message()));
    }
    return last + 1;
  }

  ZstdArchiveOptions options_;
  std::optional<PendingFile> pending_file_;
};

}  // namespace

Result<std::unique_ptr<Archive>> open_zstd_archive(ZstdArchiveOptions options) {
  std::error_code error;
  fs::create_directories(options.directory, error);
  if (error) {
    return fail(Errc::invalid, fmt::format("The archive directory {} cannot be created: {}.",
                                           options.directory.string(), error.message()));
  }
  rename_orphan(options.directory);
  return std::make_unique<ZstdArchive>(std::move(options));
}

}  // namespace postrider
