// The compact encoding inside blobs: variable-length numbers, and texts with a length prefix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace postrider::stored {

/// Seven bits per byte, lowest bits first; the high bit is set in all bytes but the last.
inline void put_number(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

inline void put_text(std::string_view text, std::string& out) {
  put_number(text.size(), out);
  out.append(text);
}

/// Reads what the functions above wrote. After the first error every read returns zero or empty
/// text and `intact` returns false, so one check at the end is enough.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) {
        break;
      }
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    return set_damaged();
  }

  std::string text() {
    const std::uint64_t size = number();
    if (size > rest_.size()) {
      set_damaged();
      return {};
    }
    std::string text{rest_.substr(0, size)};
    rest_.remove_prefix(size);
    return text;
  }

  [[nodiscard]] bool intact() const { return intact_; }
  [[nodiscard]] bool finished() const { return intact_ && rest_.empty(); }

 private:
  std::uint64_t set_damaged() {
    intact_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool intact_ = true;
};

}  // namespace postrider::stored
