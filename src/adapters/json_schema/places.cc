#include "adapters/json_schema/places.h"

#include <utility>

namespace postrider::json_schema {
namespace {

constexpr std::size_t name_bytes_max = 100;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

/// As RFC 6901 writes it.
std::string escape(std::string_view name) {
  std::string escaped;
  for (const char character : name) {
    if (character == '~' || character == '/') {
      escaped += character == '~' ? "~0" : "~1";
    } else {
      escaped += character;
    }
  }
  return escaped;
}

}  // namespace

std::string clip(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) {
    return std::string{text};
  }
  std::size_t end = bytes_max;
  while (end > 0 && continues_character(text[end])) {
    --end;
  }
  return std::string{text.substr(0, end)} + "…";
}

std::uint32_t Places::add(std::uint32_t parent, std::string_view keyword,
                          std::optional<std::string> name) {
  places_.push_back({parent, keyword, std::move(name)});
  return static_cast<std::uint32_t>(places_.size() - 1);
}

std::string Places::pointer(std::uint32_t place) const {
  std::string pointer;
  for (; place != 0; place = places_[place].parent) {
    const Place& here = places_[place];
    std::string step = "/" + std::string{here.keyword};
    if (here.name) {
      step += "/" + escape(clip(*here.name, name_bytes_max));
    }
    pointer.insert(0, step);
  }
  return pointer;
}

}  // namespace postrider::json_schema
