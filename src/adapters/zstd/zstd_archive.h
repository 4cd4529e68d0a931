// An archive of zstd-compressed JSON lines in a folder: `events-<from>-<n>.jsonl.zst` and
// `manifest.json`. A file is on disk under its final name before the manifest names it, and the
// manifest before `seal` returns: a crash leaves at most a file that nobody counts on.
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
  std::filesystem::path directory;  // Made when missing; one that vanishes later is an error.
  std::function<std::string(std::string_view bytes)> sha256;  // 32 raw bytes.
  std::size_t file_bytes_max = 64u << 20;  // Before compression; held in memory compressed.
};

/// Fails with invalid when the directory cannot be made.
[[nodiscard]] Result<std::unique_ptr<Archive>> open_zstd_archive(ZstdArchiveOptions options);

}  // namespace postrider
