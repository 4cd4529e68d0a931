// Bytes from a client, in pieces: the parser never consumes more than it was given, and the same
// bytes in one piece and byte by byte give the same requests.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/assert.h"

#include "api/http/request_parser.h"

namespace {

using postrider::api::RequestParser;

/// The bodies and paths of all requests, with a mark at the end if the parser refused.
std::string parse(std::string_view bytes, std::size_t piece) {
  RequestParser parser{{}};
  std::string requests;
  std::string pending;
  while (!bytes.empty() || !pending.empty()) {
    const std::size_t taken = bytes.size() < piece ? bytes.size() : piece;
    pending += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    for (bool more = true; more;) {
      const RequestParser::Progress progress = parser.advance(pending);
      POSTRIDER_ASSERT(progress.consumed <= pending.size());
      pending.erase(0, progress.consumed);
      if (progress.step == RequestParser::Step::refused) {
        return requests + "refused";
      }
      if (progress.step == RequestParser::Step::done) {
        const auto request = parser.take_request();
        requests += request.path + '\n' + request.body + '\n';
      }
      more = progress.step != RequestParser::Step::need_more;
    }
    if (taken == 0) {
      break;
    }
  }
  return requests;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  POSTRIDER_ASSERT(parse(bytes, size + 1) == parse(bytes, 1));
  return 0;
}
