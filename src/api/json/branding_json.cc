#include "api/json/branding_json.h"

#include <fmt/format.h>

#include "core/policy/branding.h"

namespace postrider::api {
namespace {

constexpr std::size_t utf8_bytes_max = 4;  // Of one character.
constexpr std::string_view product_name = "Postrider";

struct FieldRule {
  bool (*is_valid)(std::string_view);
  std::string_view words;
  std::size_t bytes_max;
};

std::optional<std::string> read_text(ObjectReader& reader, std::string_view name,
                                     const FieldRule& rule) {
  std::optional<std::string> text =
      reader.text(name, {.bytes_max = rule.bytes_max, .multiline = false}).value;
  if (text && !rule.is_valid(*text)) {
    reader.refuse(name, fmt::format("{}.", rule.words));
  }
  return text;
}

}  // namespace

Branding read_branding(ObjectReader& reader) {
  Branding branding;
  JsonField<ObjectReader> object = reader.object("branding");
  if (!object.value) {
    return branding;
  }
  ObjectReader& members = *object.value;
  branding.title =
      read_text(members, "title",
                {is_branding_title, branding_title_rule, branding_title_max * utf8_bytes_max});
  branding.logo_url = read_text(members, "logo_url", {is_logo_url, logo_url_rule, logo_url_max});
  branding.primary_color =
      read_text(members, "primary_color", {is_color, color_rule, color_length});
  members.finish();
  return branding;
}

void write_branding(JsonWriter& writer, const Branding& branding, const Branding& defaults) {
  const auto either = [](const auto& own, const auto& fallback) { return own ? own : fallback; };
  writer.open_object();
  writer.member("title",
                either(branding.title, defaults.title).value_or(std::string{product_name}));
  writer.member("logo_url", either(branding.logo_url, defaults.logo_url));
  writer.member("primary_color", either(branding.primary_color, defaults.primary_color));
  writer.close_object();
}

}  // namespace postrider::api
