#include "adapters/asio_http/response_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/trim.h"

#include "adapters/asio_http/http_grammar.h"

namespace postrider::asio_http {
namespace {

constexpr std::string_view version_prefix = "HTTP/1.";
constexpr std::size_t status_line_bytes_min = 12;  // `HTTP/1.1 200`

}  // namespace

ResponseReader::Progress ResponseReader::feed(std::string_view bytes) {
  POSTRIDER_ASSERT(progress_ == Progress::more);
  started_ = started_ || !bytes.empty();
  while (!bytes.empty() && progress_ == Progress::more) {
    bytes.remove_prefix(take_some(bytes));
  }
  if (!bytes.empty()) {
    reusable_ = false;  // Unexpected bytes could be a forged next response.
  }
  return progress_;
}

std::string ResponseReader::missing() const {
  switch (part_) {
    case Part::body_of_length:
      return fmt::format("{} of the {} bytes of its body arrived", *content_length_ - remaining_,
                         *content_length_);
    case Part::body_until_close:
      return "the connection was not closed properly, so its body may be incomplete";
    case Part::chunk_size_line:
    case Part::chunk_data:
    case Part::chunk_end_line:
    case Part::trailer_line:
      return "the last chunk of its body did not arrive";
    case Part::status_line:
    case Part::field_line:
      break;
  }
  return {};
}

std::size_t ResponseReader::take_some(Text bytes) {
  const bool body = in_body();
  const bool body_data =
      part_ == Part::body_of_length || part_ == Part::body_until_close || part_ == Part::chunk_data;
  const std::size_t taken = body_data ? take_body(bytes) : take_line(bytes);
  POSTRIDER_ASSERT(taken > 0);
  if (body && progress_ == Progress::more) {
    body_bytes_ += taken;
    if (body_bytes_ >= body_bytes_max) {
      progress_ = Progress::enough;
    }
  }
  return taken;
}

std::size_t ResponseReader::take_line(Text bytes) {
  const std::size_t newline = bytes.find('\n');
  const std::size_t taken = newline == Text::npos ? bytes.size() : newline + 1;
  if (!within_line_limits(taken)) {
    return taken;
  }
  if (newline == Text::npos) {
    line_.append(bytes);
    // The first bytes show whether the peer is slow or speaks another protocol.
    const std::size_t known = std::min(line_.size(), version_prefix.size());
    if (part_ == Part::status_line && !Text{line_}.starts_with(version_prefix.substr(0, known))) {
      fail("The receiver's response is not HTTP/1.0 or HTTP/1.1.");
    }
    return taken;
  }

  Text line = bytes.substr(0, newline);
  if (!line_.empty()) {
    line_.append(line);
    line = line_;
  }
  if (!line.ends_with('\r')) {
    fail("A line of the receiver's response does not end with CR LF.");
    return taken;
  }
  line.remove_suffix(1);
  read_line(line);
  line_.clear();
  return taken;
}

bool ResponseReader::within_line_limits(std::size_t line_bytes) {
  if (part_ == Part::chunk_size_line || part_ == Part::chunk_end_line) {
    if (line_.size() + line_bytes > chunk_line_bytes_max) {
      fail("A chunk header of the receiver's response is too long.");
      return false;
    }
    return true;
  }
  head_bytes_ += line_bytes;
  if (head_bytes_ > head_bytes_max) {
    fail("The headers of the receiver's response are larger than 16 KiB.");
    return false;
  }
  return true;
}

void ResponseReader::read_line(Text line) {
  switch (part_) {
    case Part::status_line:
      return read_status_line(line);
    case Part::field_line:
      return line.empty() ? end_head() : read_field_line(line);
    case Part::chunk_size_line:
      return read_chunk_size_line(line);
    case Part::chunk_end_line:
      if (!line.empty()) {
        return fail("A chunk of the receiver's response is longer than its declared size.");
      }
      part_ = Part::chunk_size_line;
      return;
    case Part::trailer_line:
      return read_trailer_line(line);
    case Part::body_of_length:
    case Part::body_until_close:
    case Part::chunk_data:
      break;
  }
  POSTRIDER_ASSERT(false);
}

void ResponseReader::read_status_line(Text line) {
  if (line.size() < status_line_bytes_min || !line.starts_with(version_prefix) ||
      (line[7] != '0' && line[7] != '1') || line[8] != ' ') {
    return fail("The receiver's response is not HTTP/1.0 or HTTP/1.1.");
  }
  const std::optional<std::uint64_t> status = parse_length(line.substr(9, 3));
  const bool reason_valid =
      line.size() == status_line_bytes_min || (line[12] == ' ' && is_field_text(line));
  if (!status || !reason_valid) {
    return fail("The status line of the receiver's response is malformed.");
  }
  if (*status < 100 || *status > 599) {
    return fail("The receiver's status code is outside 100 to 599.");
  }
  if (*status == 101) {
    return fail("The receiver switched to another protocol (101).");
  }
  http_1_0_ = line[7] == '0';
  status_ = static_cast<std::uint16_t>(*status);
  part_ = Part::field_line;
}

bool ResponseReader::split_field(Text line, Text& name, Text& value) {
  if (++field_count_ > head_fields_max) {
    fail("The receiver's response has more than 100 headers.");
    return false;
  }
  if (line.front() == ' ' || line.front() == '\t') {
    fail("A header of the receiver's response is folded over several lines.");
    return false;
  }
  const std::size_t colon = line.find(':');
  name = line.substr(0, std::min(colon, line.size()));
  value = colon == Text::npos ? Text{} : trim(line.substr(colon + 1));
  if (colon == Text::npos || !is_token(name) || !is_field_text(value)) {
    fail("A header of the receiver's response is malformed.");
    return false;
  }
  return true;
}

void ResponseReader::read_field_line(Text line) {
  Text name;
  Text value;
  if (!split_field(line, name, value)) {
    return;
  }
  note_field(name, value);
  const bool interim = status_ < 200;
  if (!interim && headers_.size() < response_headers_max && progress_ == Progress::more) {
    headers_.emplace_back(name.substr(0, field_name_bytes_kept),
                          value.substr(0, field_value_bytes_kept));
  }
}

void ResponseReader::note_field(Text name, Text value) {
  // The length first: most headers are none of these and cost one comparison.
  switch (name.size()) {
    case 10:
      if (equals_ignoring_case(name, "connection") && list_contains(value, "close")) {
        reusable_ = false;
      }
      return;
    case 11:
      if (equals_ignoring_case(name, "retry-after") && !retry_after_) {
        retry_after_ = value.substr(0, field_value_bytes_kept);
      }
      return;
    case 14:
      if (equals_ignoring_case(name, "content-length")) {
        note_content_length(value);
      }
      return;
    case 17:
      if (equals_ignoring_case(name, "transfer-encoding")) {
        note_transfer_encoding(value);
      }
      return;
    default:
      return;
  }
}

void ResponseReader::note_content_length(Text value) {
  const std::optional<std::uint64_t> length = parse_length(value);
  if (!length) {
    return fail("The Content-Length of the receiver's response is not a number.");
  }
  if (content_length_) {
    reusable_ = false;
    if (*content_length_ != *length) {
      return fail("The receiver's response has two different Content-Length values.");
    }
  }
  content_length_ = length;
}

void ResponseReader::note_transfer_encoding(Text value) {
  if (chunked_ || !equals_ignoring_case(value, "chunked")) {
    return fail("The receiver's response has a Transfer-Encoding other than chunked.");
  }
  chunked_ = true;
}

void ResponseReader::end_head() {
  if (status_ >= 200) {
    return begin_final_body();
  }
  if (++interim_count_ > interim_responses_max) {
    return fail("The receiver sent more than 16 interim (1xx) responses.");
  }
  if (content_length_ || chunked_) {
    reusable_ = false;  // Interim responses have no body; the framing cannot be trusted.
  }
  content_length_.reset();
  chunked_ = false;
  retry_after_.reset();
  part_ = Part::status_line;
}

void ResponseReader::begin_final_body() {
  if (chunked_ && content_length_) {
    return fail("The receiver's response has both Content-Length and Transfer-Encoding.");
  }
  if (chunked_ && http_1_0_) {
    return fail("The receiver's HTTP/1.0 response has a Transfer-Encoding.");
  }
  head_complete_ = true;
  reusable_ = reusable_ && !http_1_0_;

  if (status_ == 204 || status_ == 304) {
    const bool promises_body = chunked_ || (status_ == 204 && content_length_.value_or(0) > 0);
    reusable_ = reusable_ && !promises_body;
    progress_ = Progress::complete;
  } else if (chunked_) {
    part_ = Part::chunk_size_line;
  } else if (!content_length_) {
    reusable_ = false;
    part_ = Part::body_until_close;
  } else if (*content_length_ == 0) {
    progress_ = Progress::complete;
  } else {
    remaining_ = *content_length_;
    part_ = Part::body_of_length;
  }
}

std::size_t ResponseReader::take_body(Text bytes) {
  const bool counted = part_ != Part::body_until_close;
  const std::size_t taken =
      counted ? static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, bytes.size()))
              : bytes.size();
  const std::size_t room = response_sample_bytes_max - sample_.size();
  sample_.append(bytes.substr(0, std::min(taken, room)));
  if (!counted) {
    return taken;
  }

  remaining_ -= taken;
  if (remaining_ == 0 && part_ == Part::chunk_data) {
    part_ = Part::chunk_end_line;
  } else if (remaining_ == 0) {
    progress_ = Progress::complete;
  }
  return taken;
}

void ResponseReader::read_chunk_size_line(Text line) {
  std::uint64_t size = 0;
  std::size_t digits = 0;
  while (digits < line.size()) {
    const std::optional<std::uint64_t> value = hex_value(line[digits]);
    if (!value) {
      break;
    }
    if (++digits > 15) {  // 60 bits; no real chunk is that large.
      return fail("A chunk size of the receiver's response is too large.");
    }
    size = size * 16 + *value;
  }
  const Text extension = line.substr(digits);
  const bool extension_valid = extension.empty() || trim(extension).starts_with(';');
  if (digits == 0 || !extension_valid || !is_field_text(extension)) {
    return fail("A chunk size of the receiver's response is malformed.");
  }
  remaining_ = size;
  part_ = size == 0 ? Part::trailer_line : Part::chunk_data;
}

void ResponseReader::read_trailer_line(Text line) {
  if (line.empty()) {
    progress_ = Progress::complete;
    return;
  }
  Text name;
  Text value;
  if (!split_field(line, name, value)) {
    return;
  }
  // Trailers are not stored. One that contains framing is an attempt to confuse parsers.
  if (equals_ignoring_case(name, "content-length") ||
      equals_ignoring_case(name, "transfer-encoding")) {
    reusable_ = false;
  }
}

void ResponseReader::fail(Text sentence) {
  progress_ = Progress::failed;
  reusable_ = false;
  error_ = sentence;
}

}  // namespace postrider::asio_http
