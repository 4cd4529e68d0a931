// How the dashboard presents itself, and where it may be embedded.
#include "core/policy/branding.h"

#include "config/frame_ancestors.h"
#include "config/settings.h"

namespace postrider::config {
namespace {

Setting frame_ancestors() {
  return {.key = "portal.frame_ancestors",
          .kind = Kind::texts,
          .help =
              "The web sites that may show the dashboard in a frame. Browsers send its cookie only "
              "to a frame of the same site: hooks.example.com can be embedded by "
              "app.example.com, but signing in does not work on another domain.",
          .rule =
              "must be none, or a list of at most 32 entries: self (the server's own origin) or "
              "origins such as https://app.example.com and https://*.example.com; http:// is "
              "allowed for localhost and 127.0.0.1 only",
          .assign =
              [](Config& config, const Value& value) {
                const auto read = read_frame_ancestors(std::get<Texts>(value));
                if (read) {
                  config.portal.frame_ancestors = *read;
                }
                return read.has_value();
              },
          .read = [](const Config& config) -> Value { return config.portal.frame_ancestors; },
          .reloads = true};
}

// At most a week: whoever finds the browser open has the rights of the key.
constexpr Range key_session_range{60'000, 604'800'000};

/// Accepts an empty text, which means not set.
template <bool (*IsValid)(std::string_view)>
bool is_empty_or(const std::string& text) {
  return text.empty() || IsValid(text);
}

void add_branding(std::vector<Setting>& all) {
  all.push_back(text({"portal.title",
                      "The title of the dashboard and the tenant portal, unless a portal link has "
                      "its own; empty: Postrider."},
                     POSTRIDER_FIELD(portal.title),
                     {std::string{branding_title_rule}, is_empty_or<is_branding_title>})
                    .on_reload());
  all.push_back(text({"portal.logo_url",
                      "The logo beside the title: an https URL or a path on this server; empty: "
                      "none."},
                     POSTRIDER_FIELD(portal.logo_url),
                     {std::string{logo_url_rule}, is_empty_or<is_logo_url>})
                    .on_reload());
  all.push_back(text({"portal.primary_color",
                      "The main colour of the dashboard and the portal, such as #1a73e8; empty: "
                      "the built-in one."},
                     POSTRIDER_FIELD(portal.primary_color),
                     {std::string{color_rule}, is_empty_or<is_color>})
                    .on_reload());
}

}  // namespace

std::vector<Setting> portal_settings() {
  std::vector<Setting> all;
  add_branding(all);
  all.push_back(frame_ancestors());
  all.push_back(integer({"portal.key_session_ms",
                         "How long a session of the dashboard lasts that was opened with an API "
                         "key; after that the browser must sign in again. A session never "
                         "outlives its key. A link states the length of its own session."},
                        POSTRIDER_FIELD(portal.key_session), key_session_range)
                    .on_reload());
  return all;
}

}  // namespace postrider::config
