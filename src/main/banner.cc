#include "main/banner.h"

#include <string_view>

#include <fmt/format.h>

#include "core/json/json_string.h"

#include "cli/text/version.h"

namespace postrider {
namespace {

void append_member(std::string& out, std::string_view key, std::string_view value) {
  out += fmt::format(",\"{}\":", key);
  if (value.empty()) {
    out += "null";
  } else {
    append_json_string(out, value);
  }
}

}  // namespace

std::string to_text(const Banner& banner) {
  std::string text = fmt::format("Postrider {}\n  address    {}/\n  data       {}\n",
                                 cli::version(), banner.address, banner.data);
  if (!banner.admin_key.empty()) {
    text += fmt::format(
        "  admin key  {}   (shown only once; only its hash is stored)\n"
        "  sign in    {}   (works once, for an hour)\n",
        banner.admin_key, banner.sign_in_url);
  }
  return text;
}

std::string to_json(const Banner& banner) {
  std::string text = fmt::format("{{\"time\":\"{}\"", to_rfc3339(banner.at));
  append_member(text, "level", "info");
  append_member(text, "message", "server.banner");
  append_member(text, "version", cli::version());
  append_member(text, "address", banner.address);
  append_member(text, "data", banner.data);
  append_member(text, "admin_key", banner.admin_key);
  append_member(text, "sign_in_url", banner.sign_in_url);
  text += "}\n";
  return text;
}

}  // namespace postrider
