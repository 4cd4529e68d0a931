#include "core/request/sent_request.h"

#include <algorithm>
#include <utility>

namespace postrider {
namespace {

/// Parses the header lines after the request line. `head` was written by RequestTemplate.
Headers parse_head(std::string_view head) {
  Headers headers;
  head.remove_prefix(std::min(head.find("\r\n"), head.size()));
  while (head.starts_with("\r\n")) {
    head.remove_prefix(2);
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) {
      break;
    }
    headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    head.remove_prefix(line.size());
  }
  return headers;
}

}  // namespace

SentRequest parse_request(std::string url, std::string_view bytes) {
  const std::size_t head_end = std::min(bytes.find("\r\n\r\n"), bytes.size());
  return {.url = std::move(url),
          .headers = parse_head(bytes.substr(0, head_end)),
          .body = std::string{bytes.substr(std::min(head_end + 4, bytes.size()))}};
}

SentRequest reconstruct_request(const RequestShape& shape, const Event& event,
                                const AttemptStamp& stamp) {
  return parse_request(shape.url,
                       RequestTemplate{shape}.fill_unsigned(event, stamp, signature_not_kept));
}

}  // namespace postrider
