// Random JSON: valid text is accepted and sliced verbatim; invalid text never crashes.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/random.h"
#include "core/json/json_rewrite.h"
#include "core/json/json_split.h"
#include "core/json/json_string.h"
#include "core/json/json_text.h"

namespace postrider {
namespace {

// Generates random valid JSON.
class JsonMaker {
 public:
  explicit JsonMaker(std::uint64_t seed) : random_(seed) {}

  std::string value(std::size_t depth_left) {
    switch (random_.below(depth_left > 0 ? 8 : 6)) {
      case 0:
        return "null";
      case 1:
        return random_.below(2) == 0 ? "true" : "false";
      case 2:
      case 3:
        return number();
      case 4:
      case 5:
        return string();
      case 6:
        return array(depth_left - 1);
      default:
        return object(depth_left - 1);
    }
  }

  std::string object(std::size_t depth_left) {
    std::string text = "{" + space();
    const std::uint64_t count = random_.below(random_.below(8) == 0 ? 40 : 5);
    for (std::uint64_t i = 0; i < count; ++i) {
      text += i > 0 ? "," + space() : "";
      // The number makes the key unique.
      append_json_string(text, std::to_string(i) + decoded(string()));
      text += space() + ":" + space() + value(depth_left) + space();
    }
    return text + "}";
  }

  std::string array(std::size_t depth_left) {
    std::string text = "[" + space();
    const std::uint64_t count = random_.below(5);
    for (std::uint64_t i = 0; i < count; ++i) {
      text += (i > 0 ? "," + space() : "") + value(depth_left) + space();
    }
    return text + "]";
  }

  std::string string() {
    constexpr std::string_view pieces[] = {"a",
                                           "plain text ",
                                           "\\n",
                                           "\\\"",
                                           "\\\\",
                                           "\\u00e4",
                                           "\\ud83d\\ude00",
                                           "\xc3\xa4",
                                           "\xe2\x82\xac",
                                           "\xf0\x9f\x98\x80",
                                           "/",
                                           "\\/",
                                           "\\u0000",
                                           "0123456789abcdef"};
    std::string text = "\"";
    const std::uint64_t count = random_.below(6);
    for (std::uint64_t i = 0; i < count; ++i) {
      text += pieces[random_.below(std::size(pieces))];
    }
    return text + "\"";
  }

  std::string space() {
    constexpr std::string_view spaces[] = {"", "", "", " ", "\n", "\t", "\r\n  "};
    return std::string{spaces[random_.below(std::size(spaces))]};
  }

  SplitMix64& random() { return random_; }

 private:
  static std::string decoded(const std::string& raw) { return decode_json_string(raw).value(); }

  std::string number() {
    std::string text = random_.below(2) == 0 ? "-" : "";
    text += std::to_string(random_.below(random_.below(2) == 0 ? 10 : 1'000'000'000'000));
    text += random_.below(3) == 0 ? ".0" + std::to_string(random_.below(1000)) : "";
    text += random_.below(3) == 0 ? "E-" + std::to_string(random_.below(500)) : "";
    return text;
  }

  SplitMix64 random_;
};

RC_GTEST_PROP(JsonProperty, ValidTextIsAccepted, (std::uint64_t seed)) {
  JsonMaker maker{seed};
  const std::string text = maker.space() + maker.value(6) + maker.space();
  const Result<void> checked = check_json(text);
  if (!checked) {
    RC_FAIL(checked.error().message + "\n" + text);
  }
}

RC_GTEST_PROP(JsonProperty, RewrittenTextIsValidAndStable, (std::uint64_t seed)) {
  JsonMaker maker{seed};
  const std::string text = maker.space() + maker.value(6) + maker.space();
  for (const JsonWriterStyle style : {JsonWriterStyle::javascript, JsonWriterStyle::python}) {
    const std::string written = rewrite_json(text, style);
    RC_ASSERT(check_json(written).has_value());
    RC_ASSERT(rewrite_json(written, style) == written);
  }
}

RC_GTEST_PROP(JsonProperty, MembersAreVerbatimSlices, (std::uint64_t seed)) {
  JsonMaker maker{seed};
  std::vector<std::string> values;
  std::string text = "{";
  const std::uint64_t count = maker.random().below(30);
  for (std::uint64_t i = 0; i < count; ++i) {
    values.push_back(maker.value(4));
    text += (i > 0 ? "," : "") + maker.space() + "\"" + std::to_string(i) + "\"" + maker.space() +
            ":" + maker.space() + values.back() + maker.space();
  }
  text += "}";
  const auto members = read_json_object(text);
  RC_ASSERT(members.has_value());
  RC_ASSERT(members->size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    RC_ASSERT((*members)[i].key == std::to_string(i));
    RC_ASSERT((*members)[i].value == values[i]);
    RC_ASSERT(check_json((*members)[i].value).has_value());
  }
}

RC_GTEST_PROP(JsonProperty, JoinedElementsAreTheSameArray, (std::uint64_t seed)) {
  JsonMaker maker{seed};
  const std::string text = maker.array(4);
  const auto elements = read_json_array(text);
  RC_ASSERT(elements.has_value());
  std::string joined = "[";
  for (const std::string_view element : *elements) {
    joined += (joined.size() > 1 ? "," : "") + std::string{element};
  }
  const std::string again = joined + "]";
  RC_ASSERT(read_json_array(again).value() == *elements);
}

RC_GTEST_PROP(JsonProperty, EveryProperPrefixOfAnObjectIsInvalid, (std::uint64_t seed)) {
  JsonMaker maker{seed};
  const std::string text = maker.object(3);
  for (std::size_t length = 0; length < text.size(); ++length) {
    RC_ASSERT(!check_json(std::string_view{text}.substr(0, length)).has_value());
  }
}

RC_GTEST_PROP(JsonProperty, AllReadersAgreeOnMutatedText, (std::uint64_t seed)) {
  JsonMaker maker{seed};
  std::string text = maker.object(4);
  const std::uint64_t changes = 1 + maker.random().below(4);
  for (std::uint64_t i = 0; i < changes; ++i) {
    text[maker.random().below(text.size())] = static_cast<char>(maker.random().below(256));
  }
  const bool is_valid = check_json(text).has_value();
  const auto members = read_json_object(text);
  if (is_valid && text.front() == '{') {
    RC_ASSERT(members.has_value());
  }
  if (members) {
    RC_ASSERT(is_valid);
    for (const JsonMember& member : *members) {
      RC_ASSERT(check_json(member.value).has_value());
    }
  }
}

RC_GTEST_PROP(JsonArrays, SplitLikeTheReader, (std::uint64_t seed)) {
  const std::string text = " " + JsonMaker{seed}.array(4) + "\n";
  const Result<std::vector<std::string_view>> read = read_json_array(text);
  RC_ASSERT(read.has_value());
  RC_ASSERT(split_json_array(text) == *read);
}

}  // namespace
}  // namespace postrider
