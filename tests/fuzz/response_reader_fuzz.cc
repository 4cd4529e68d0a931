// Bytes from a receiver, whole and byte by byte: the reader comes to the same end both ways.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/assert.h"

#include "adapters/asio_http/response_reader.h"

namespace {

using postrider::asio_http::ResponseReader;

ResponseReader::Progress read(ResponseReader& reader, std::string_view bytes, std::size_t piece) {
  auto progress = ResponseReader::Progress::more;
  while (progress == ResponseReader::Progress::more && !bytes.empty()) {
    progress = reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(bytes.size() < piece ? bytes.size() : piece);
  }
  return progress;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  ResponseReader whole;
  ResponseReader split;
  const auto whole_end = read(whole, bytes, size + 1);
  const auto split_end = read(split, bytes, 1);
  POSTRIDER_ASSERT(whole.status() == split.status());
  POSTRIDER_ASSERT((whole_end == ResponseReader::Progress::failed) ==
                   (split_end == ResponseReader::Progress::failed));
  return 0;
}
