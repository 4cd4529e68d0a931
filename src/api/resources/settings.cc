#include "api/json/json_writer.h"
#include "api/json/query_reader.h"
#include "api/resources/answers.h"
#include "api/resources/resources.h"

namespace postrider::api {
namespace {

void write_setting(JsonWriter& writer, const SettingInForce& setting) {
  writer.open_object();
  writer.member("name", setting.name);
  writer.member_raw("value", setting.value);
  writer.member_raw("default", setting.default_value);
  writer.member("origin", setting.origin);
  writer.key("detail");
  if (setting.detail) {
    writer.bytes(*setting.detail);  // May contain the name of a file.
  } else {
    writer.value(nullptr);
  }
  writer.member("description", setting.description);
  writer.member("reload", setting.reloads);
  writer.close_object();
}

}  // namespace

Awaitable<Reply> list_settings(Context context, HttpRequest request) {
  POSTRIDER_CO_CHECK(check_no_query(request));
  std::string body;
  JsonWriter writer{body};
  writer.open_object();
  writer.key("data");
  writer.open_array();
  for (const SettingInForce& setting : context.options->settings) {
    write_setting(writer, setting);
  }
  writer.close_array();
  writer.close_object();
  co_return json_answer(200, std::move(body));
}

}  // namespace postrider::api
