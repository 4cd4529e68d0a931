#include "config/origin.h"

namespace postrider::config {
namespace {

constexpr std::string_view preset = "preset, ";

/// Only the origin of a value in a file ends with a line number.
bool has_line(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  return colon != std::string_view::npos && colon + 1 < text.size() &&
         text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

}  // namespace

Origin split_origin(std::string_view text) {
  if (text.starts_with(preset)) {
    Origin origin = split_origin(text.substr(preset.size()));
    origin.detail = std::string{preset} + origin.detail.value_or("");
    return origin;
  }
  if (text == "default") {
    return {"default", std::nullopt};
  }
  for (const std::string_view source : {"profile", "environment", "flag"}) {
    if (text.starts_with(source) && text.substr(source.size()).starts_with(' ') &&
        !has_line(text)) {
      return {std::string{source}, std::string{text.substr(source.size() + 1)}};
    }
  }
  return {"file", std::string{text}};
}

}  // namespace postrider::config
