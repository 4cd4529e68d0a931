#include "adapters/zstd/line_reader.h"

#include <zstd.h>

#include "core/base/assert.h"

namespace postrider::zstd {

void LineReader::Free::operator()(void* stream) const {
  ZSTD_freeDStream(static_cast<ZSTD_DStream*>(stream));
}

LineReader::LineReader() : stream_(ZSTD_createDStream()), block_(ZSTD_DStreamOutSize(), '\0') {
  POSTRIDER_ASSERT(stream_ != nullptr);
}

Result<void> LineReader::feed(std::string_view compressed, const OnLine& on_line) {
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  bool more = true;
  while (more) {
    ZSTD_outBuffer out{block_.data(), block_.size(), 0};
    const std::size_t left =
        ZSTD_decompressStream(static_cast<ZSTD_DStream*>(stream_.get()), &out, &in);
    if (ZSTD_isError(left) != 0) {
      return fail(Errc::corrupt, "the compressed data is damaged.");
    }
    frame_complete_ = left == 0;
    POSTRIDER_CHECK(take({block_.data(), out.pos}, on_line));
    more = in.pos < in.size || out.pos == out.size;
  }
  return {};
}

Result<void> LineReader::take(std::string_view text, const OnLine& on_line) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    line_ += text.substr(0, end);
    if (line_.size() > line_bytes_max) {
      return fail(Errc::corrupt, "a line is longer than any archived line can be.");
    }
    if (end == std::string_view::npos) {
      return {};
    }
    POSTRIDER_CHECK(on_line(line_));
    line_.clear();
    text.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace postrider::zstd
