// An archive of zstd-compressed JSON lines in a directory: files `events-<from>-<n>.jsonl.zst` and
// `manifest.json`. A file is on disk under its final name before the manifest lists it, and the
// manifest is on disk before `seal` returns. A crash leaves at most one file that is not listed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "ports/archive.h"

namespace postrider {

struct ZstdArchiveOptions {
  std::filesystem::path directory;  // Created if missing. An error if it disappears later.
  std::function<std::string(std::string_view bytes)> sha256;  // 32 raw bytes.
  std::size_t file_bytes_max = 64u << 20;  // Before compression. Held compressed in memory.
};

/// Fails with invalid if the directory cannot be created.
[[nodiscard]] Result<std::unique_ptr<Archive>> open_zstd_archive(ZstdArchiveOptions options);

}  // namespace postrider
