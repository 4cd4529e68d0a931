// Feeds random and mutated text to every parser of external text. The sanitizers check memory
// accesses; the tests check that accepted text satisfies the parser's contract.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/json/json_text.h"
#include "core/net/target_url.h"
#include "core/request/secret_text.h"

using namespace std::string_view_literals;

namespace postrider {
namespace {

constexpr int rounds = 200'000;
constexpr std::uint64_t seed = 20'260'131;

// Generates valid samples with up to three mutations. Every eighth text is random bytes.
class TextGenerator {
 public:
  explicit TextGenerator(std::span<const std::string_view> samples) : samples_(samples) {}

  std::string next() {
    std::string text;
    if (random_.below(8) == 0) {
      text.resize(random_.below(40));
      for (char& character : text) {
        character = static_cast<char>(random_.below(256));
      }
      return text;
    }
    text = samples_[random_.below(samples_.size())];
    const std::uint64_t changes = random_.below(4);
    for (std::uint64_t i = 0; i < changes; ++i) {
      mutate(text);
    }
    return text;
  }

 private:
  void mutate(std::string& text) {
    constexpr auto special = "\"\\{}[]:,./@%#?0x1fF-+eE \r\n\t\0=\x80\xc3\xed\xf4\xff"sv;
    const std::size_t at = random_.below(text.size() + 1);
    switch (random_.below(5)) {
      case 0:
        text.insert(at, 1, special[random_.below(special.size())]);
        break;
      case 1:
        text.erase(at, random_.below(4));
        break;
      case 2:
        text.insert(at, text.substr(random_.below(text.size() + 1), random_.below(12)));
        break;
      case 3:
        text.resize(at);
        break;
      default:
        if (at < text.size()) {
          text[at] = static_cast<char>(random_.below(256));
        }
    }
  }

  std::span<const std::string_view> samples_;
  SplitMix64 random_{seed};
};

// Passes an exactly sized copy, so that the sanitizers detect a read past the end.
template <class Read>
auto read_exactly(const std::string& text, Read read) {
  const auto exact = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), exact.get());
  return read(std::string_view{exact.get(), text.size()});
}

TEST(HostileText, EveryAcceptedUrlSatisfiesTheRules) {
  constexpr std::string_view samples[] = {"https://example.com/hook?a=b",
                                          "https://127.0.0.1/",
                                          "https://8.8.8.8:8443/x",
                                          "https://[::1]/",
                                          "https://[2606:4700::1]:443",
                                          "http://localhost",
                                          "https://0x7f.1/",
                                          "https://a.b.c.d.example./",
                                          "https://user:pass@example.com#f",
                                          "https://[::ffff:169.254.169.254]/",
                                          "https://2130706433/%20"};
  const UrlPolicy policy{.allow_http = true};
  TextGenerator generator{samples};
  int accepted = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string text = generator.next();
    const Result<TargetUrl> url = read_exactly(
        text, [&policy](std::string_view view) { return parse_target_url(view, policy); });
    if (!url) {
      ASSERT_EQ(url.error().code, Errc::invalid);
      ASSERT_TRUE(url.error().message.ends_with('.')) << text;
      continue;
    }
    ++accepted;
    ASSERT_FALSE(url->host.empty()) << text;
    ASSERT_TRUE(url->path_and_query.starts_with('/')) << text;
    ASSERT_TRUE(url->port == 80 || url->port == 443 || url->port >= 1024) << text;
    ASSERT_EQ(url->host.find_first_of("@/\\#%? \r\n"), std::string::npos) << text;
    ASSERT_FALSE(url->address && forbidden_address(*url->address, policy.addresses)) << text;
    const Result<TargetUrl> again = parse_target_url(
        (url->tls ? "https://" : "http://") + url->authority() + url->path_and_query, policy);
    ASSERT_TRUE(again && *again == *url) << text;
  }
  EXPECT_GT(accepted, rounds / 20) << "the samples must not all be rejected";
}

TEST(HostileText, EveryJsonReaderAgreesWithTheValidator) {
  constexpr std::string_view samples[] = {
      R"({"a":1,"b":[true,false,null],"c":{"d":"e\u00e4\n"}})",
      R"([1.5e+10,-0,"\ud83d\ude00",{}])",
      "{\"\xc3\xa4\":\"\xe2\x82\xac \xf0\x9f\x98\x80\"}",
      R"("plain text of some length, more than a word")",
      R"({"a":{"a":{"a":[[[[]]]]}}})",
      " [ 1 , 2 ] ",
      "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"};
  TextGenerator generator{samples};
  int accepted = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string text = generator.next();
    const bool is_valid =
        read_exactly(text, [](std::string_view view) { return check_json(view).has_value(); });
    const bool is_object = read_exactly(
        text, [](std::string_view view) { return read_json_object(view).has_value(); });
    const bool is_array =
        read_exactly(text, [](std::string_view view) { return read_json_array(view).has_value(); });
    const bool is_string = read_exactly(
        text, [](std::string_view view) { return decode_json_string(view).has_value(); });
    ASSERT_LE(int{is_object} + int{is_array} + int{is_string}, int{is_valid}) << text;
    accepted += int{is_valid};
  }
  EXPECT_GT(accepted, rounds / 20) << "the samples must not all be rejected";
}

TEST(HostileText, EveryAcceptedAddressRoundTrips) {
  constexpr std::string_view samples[] = {
      "127.0.0.1", "255.255.255.255", "::",         "::1",     "2001:db8::1", "::ffff:1.2.3.4",
      "fe80::1%0", "1:2:3:4:5:6:7:8", "10.0.0.0/8", "fc00::/7"};
  TextGenerator generator{samples};
  int accepted = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string text = generator.next();
    if (const auto address = read_exactly(text, IpAddress::parse)) {
      ++accepted;
      ASSERT_EQ(IpAddress::parse(address->to_string()), address) << text;
    }
    if (const auto cidr = read_exactly(text, Cidr::parse)) {
      ASSERT_TRUE(cidr->contains(cidr->network)) << text;
      ASSERT_EQ(Cidr::parse(cidr->to_string()), cidr) << text;
    }
  }
  EXPECT_GT(accepted, rounds / 20) << "the samples must not all be rejected";
}

TEST(HostileText, EveryAcceptedSecretHasAValidLength) {
  constexpr std::string_view samples[] = {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
                                          "whsec_c2hvcnQ=", "my own secret of 26 bytes!",
                                          "whsec_"
                                          "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
                                          "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};
  TextGenerator generator{samples};
  int accepted = 0;
  for (int i = 0; i < rounds; ++i) {
    const std::string text = generator.next();
    const auto parse = [](std::string_view part) {
      return parse_secret(SignatureScheme::standard, part);
    };
    const Result<Secret<std::string>> key = read_exactly(text, parse);
    if (key) {
      ++accepted;
      ASSERT_GE(key->reveal().size(), secret_bytes_min) << text;
      ASSERT_LE(key->reveal().size(), secret_bytes_max) << text;
      ASSERT_EQ(parse(format_secret(SignatureScheme::standard, *key)).value(), *key) << text;
    }
  }
  EXPECT_GT(accepted, rounds / 20) << "the samples must not all be rejected";
}

}  // namespace
}  // namespace postrider
