// A minimal HTTP/1.1 parser that splits a byte stream into messages by Content-Length. For the
// benchmark's receiver and publisher, which must be faster than the server they measure.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace postrider::bench {

struct Message {
  std::string_view head;  // Start line and headers.
  std::string_view body;
  std::size_t size = 0;  // Bytes of the whole message.
};

/// Returns the value after `needle` (`\r\nname: `, case-sensitive), or an empty string.
inline std::string_view header_value(std::string_view head, std::string_view needle) {
  const std::size_t at = head.find(needle);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::size_t begin = at + needle.size();
  return head.substr(begin, head.find('\r', begin) - begin);
}

/// Returns the first complete message of `bytes`, or nullopt if bytes are missing.
inline std::optional<Message> next_message(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view head = bytes.substr(0, end + 2);
  std::string_view length_text = header_value(head, "\r\nContent-Length: ");
  if (length_text.empty()) {
    length_text = header_value(head, "\r\ncontent-length: ");
  }
  std::size_t length = 0;
  std::from_chars(length_text.data(), length_text.data() + length_text.size(), length);
  if (bytes.size() < end + 4 + length) {
    return std::nullopt;
  }
  return Message{head, bytes.substr(end + 4, length), end + 4 + length};
}

}  // namespace postrider::bench
