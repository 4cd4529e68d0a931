#include "client/http_message.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "core/base/letter_case.h"
#include "core/base/trim.h"

namespace postrider::client {
namespace {

constexpr std::size_t head_bytes_max = 64ul * 1024;
// More than the results of 1,000 events need.
constexpr std::size_t body_bytes_max = 16ul * 1024 * 1024;
constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";

using Progress = ResponseParser::Progress;

std::optional<std::size_t> parse_size(std::string_view text, int base) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), size, base);
  const bool valid = !text.empty() && error == std::errc{} && end == text.end();
  return valid && size <= body_bytes_max ? std::optional{size} : std::nullopt;
}

}  // namespace

std::string batch_request(const RequestHead& head, const Batch& batch) {
  constexpr std::string_view before = R"({"events":[)";
  constexpr std::string_view after = "]}";
  std::size_t bytes = before.size() + after.size() + batch.events.size() - 1;  // With commas.
  for (const QueuedEvent& event : batch.events) {
    bytes += event.text.size();
  }
  std::string request = fmt::format(
      "POST {}/v1/events/batch?atomic=false HTTP/1.1\r\n"
      "Host: {}\r\n"
      "Authorization: Bearer {}\r\n"
      "User-Agent: postrider-client/" POSTRIDER_VERSION
      "\r\n"
      "Content-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n",
      head.path_prefix, head.authority, head.api_key, bytes);
  request.reserve(request.size() + bytes);
  request += before;
  for (std::size_t index = 0; index < batch.events.size(); ++index) {
    request += index == 0 ? "" : ",";
    request += batch.events[index].text;
  }
  request += after;
  return request;
}

Progress ResponseParser::feed(std::string_view bytes) {
  started_ = started_ || !bytes.empty();
  buffer_ += bytes;
  return advance();
}

Progress ResponseParser::end() {
  return part_ == Part::body_until_end ? Progress::complete : Progress::failed;
}

Progress ResponseParser::advance() {
  // Each step that does not need more bytes moves to another part or consumes some.
  for (;;) {
    const Part before = part_;
    const std::size_t unread = buffer_.size();
    Progress progress = Progress::more;
    switch (part_) {
      case Part::head:
        progress = read_head();
        break;
      case Part::body_of_length:
      case Part::body_until_end:
        progress = read_body();
        break;
      case Part::chunk_size:
        progress = read_chunk_size();
        break;
      case Part::chunk:
        progress = read_chunk();
        break;
      case Part::trailer:
        progress = read_trailer();
        break;
    }
    if (progress != Progress::more || (part_ == before && buffer_.size() == unread)) {
      return progress;
    }
  }
}

Progress ResponseParser::read_head() {
  const std::size_t size = buffer_.find(head_end);
  if (std::min(size, buffer_.size()) > head_bytes_max) {
    return Progress::failed;
  }
  if (size == std::string::npos) {
    return Progress::more;
  }
  const std::string head = buffer_.substr(0, size);
  buffer_.erase(0, size + head_end.size());
  std::string_view rest = head;
  bool first = true;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find(line_end));
    rest.remove_prefix(std::min(line.size() + line_end.size(), rest.size()));
    if (!(first ? read_status_line(line) : read_field(line))) {
      return Progress::failed;
    }
    first = false;
  }
  if (answer_.status < 200) {  // An interim response: the final one follows.
    const bool expected = answer_.status >= 100 && answer_.status != 101;
    answer_ = {};
    return expected ? Progress::more : Progress::failed;
  }
  if (answer_.status == 204 || answer_.status == 304) {
    return finish();
  }
  if (chunked_) {
    part_ = Part::chunk_size;
    return has_length_ ? Progress::failed : Progress::more;
  }
  part_ = has_length_ ? Part::body_of_length : Part::body_until_end;
  reusable_ = reusable_ && has_length_;
  return has_length_ && remaining_ == 0 ? finish() : Progress::more;
}

bool ResponseParser::read_status_line(std::string_view line) {
  constexpr std::size_t status_at = 9;  // After `HTTP/1.1 `.
  if (line.size() < status_at + 3 ||
      (line.substr(0, status_at) != "HTTP/1.1 " && line.substr(0, status_at) != "HTTP/1.0 ")) {
    return false;
  }
  reusable_ = line[7] == '1';
  const std::optional<std::size_t> status = parse_size(line.substr(status_at, 3), 10);
  const bool ends = line.size() == status_at + 3 || line[status_at + 3] == ' ';
  answer_.status = static_cast<std::uint16_t>(status.value_or(0));
  return ends && answer_.status >= 100 && answer_.status <= 599;
}

bool ResponseParser::read_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line[0] == ' ' || line[0] == '\t') {
    return false;
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (equals_ignoring_case(name, "content-length")) {
    const std::optional<std::size_t> length = parse_size(value, 10);
    const bool contradicts = has_length_ && length != remaining_;
    has_length_ = true;
    remaining_ = length.value_or(0);
    return length && !contradicts;
  }
  if (equals_ignoring_case(name, "transfer-encoding")) {
    const bool known = !chunked_ && equals_ignoring_case(value, "chunked");
    chunked_ = true;
    return known;
  }
  if (equals_ignoring_case(name, "connection")) {
    reusable_ = reusable_ && !equals_ignoring_case(value, "close");
  } else if (equals_ignoring_case(name, "retry-after")) {
    answer_.retry_after = std::string{value};
  }
  return true;
}

Progress ResponseParser::read_body() {
  const bool until_end = part_ == Part::body_until_end;
  const std::size_t taken = until_end ? buffer_.size() : std::min(remaining_, buffer_.size());
  answer_.body.append(buffer_, 0, taken);
  buffer_.erase(0, taken);
  if (answer_.body.size() > body_bytes_max) {
    return Progress::failed;
  }
  if (until_end) {
    return Progress::more;
  }
  remaining_ -= taken;
  return remaining_ == 0 ? finish() : Progress::more;
}

Progress ResponseParser::read_chunk_size() {
  const std::size_t size = buffer_.find(line_end);
  if (size == std::string::npos) {
    return buffer_.size() > head_bytes_max ? Progress::failed : Progress::more;
  }
  const std::string_view line = std::string_view{buffer_}.substr(0, size);
  const std::optional<std::size_t> length = parse_size(trim(line.substr(0, line.find(';'))), 16);
  if (!length || *length + answer_.body.size() > body_bytes_max) {
    return Progress::failed;
  }
  buffer_.erase(0, size + line_end.size());
  remaining_ = *length;
  part_ = remaining_ == 0 ? Part::trailer : Part::chunk;
  return Progress::more;
}

Progress ResponseParser::read_chunk() {
  if (buffer_.size() < remaining_ + line_end.size()) {
    return Progress::more;
  }
  if (buffer_.compare(remaining_, line_end.size(), line_end) != 0) {
    return Progress::failed;
  }
  answer_.body.append(buffer_, 0, remaining_);
  buffer_.erase(0, remaining_ + line_end.size());
  part_ = Part::chunk_size;
  return Progress::more;
}

Progress ResponseParser::read_trailer() {
  const std::size_t size = buffer_.find(line_end);
  if (trailer_bytes_ + std::min(size, buffer_.size()) > head_bytes_max) {
    return Progress::failed;
  }
  if (size == std::string::npos) {
    return Progress::more;
  }
  buffer_.erase(0, size + line_end.size());
  trailer_bytes_ += size;
  return size == 0 ? finish() : Progress::more;
}

Progress ResponseParser::finish() {
  reusable_ = reusable_ && buffer_.empty();  // Unexpected bytes could be a forged next response.
  return Progress::complete;
}

}  // namespace postrider::client
