#include "core/net/target_url.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

const UrlPolicy strict;
const UrlPolicy open{.allow_http = true, .addresses = {.allow_private = true}};

TargetUrl parsed(std::string_view text, const UrlPolicy& policy = strict) {
  const Result<TargetUrl> url = parse_target_url(text, policy);
  EXPECT_TRUE(url) << text << ": " << url.error().message;
  return url.value_or(TargetUrl{});
}

std::string refusal(std::string_view text, const UrlPolicy& policy = strict) {
  const Result<TargetUrl> url = parse_target_url(text, policy);
  EXPECT_FALSE(url) << text;
  if (url) {
    return "";
  }
  EXPECT_EQ(url.error().code, Errc::invalid);
  return url.error().message;
}

// Expects a rejection for the right reason: the message contains `rule`.
void expect_rejected(std::string_view text, std::string_view rule,
                     const UrlPolicy& policy = strict) {
  const std::string sentence = refusal(text, policy);
  EXPECT_NE(sentence.find(rule), std::string::npos) << text << ": " << sentence;
  EXPECT_TRUE(sentence.starts_with("The URL") || sentence.starts_with("A part of the URL") ||
              sentence.starts_with("A % in the URL"))
      << sentence;
  EXPECT_TRUE(sentence.ends_with('.')) << sentence;
}

TEST(TargetUrl, ParsesAllParts) {
  EXPECT_EQ(
      parsed("https://example.com"),
      (TargetUrl{
          .tls = true, .host = "example.com", .address = {}, .port = 443, .path_and_query = "/"}));
  EXPECT_EQ(parsed("HTTPS://Hooks.Example.COM:8443/a/B?c=D%20e&f=g[]"),
            (TargetUrl{.tls = true,
                       .host = "hooks.example.com",
                       .address = {},
                       .port = 8443,
                       .path_and_query = "/a/B?c=D%20e&f=g[]"}));
  EXPECT_EQ(parsed("https://example.com?q=1").path_and_query, "/?q=1");
  EXPECT_EQ(parsed("https://example.com/?u=https://other/@x:y").path_and_query,
            "/?u=https://other/@x:y");
  EXPECT_EQ(parsed("https://example.com//double").path_and_query, "//double");
  EXPECT_EQ(parsed("https://8.8.8.8/").address, IpAddress::parse("8.8.8.8"));
  EXPECT_EQ(parsed("https://[2606:4700:4700:0::1111]:8443/").host, "2606:4700:4700::1111");
  EXPECT_EQ(parsed("https://xn--bcher-kva.example/").host, "xn--bcher-kva.example");
  EXPECT_EQ(parsed("https://a_b.3com.example/").host, "a_b.3com.example");
  EXPECT_EQ(parsed("https://example.com./").host, "example.com");
}

TEST(TargetUrl, AuthorityOmitsTheDefaultPort) {
  EXPECT_EQ(parsed("https://example.com:443/").authority(), "example.com");
  EXPECT_EQ(parsed("https://example.com:80/").authority(), "example.com:80");
  EXPECT_EQ(parsed("http://example.com:80/", open).authority(), "example.com");
  EXPECT_EQ(parsed("http://example.com:443/", open).authority(), "example.com:443");
  EXPECT_EQ(parsed("https://[2606:4700::1]/").authority(), "[2606:4700::1]");
  EXPECT_EQ(parsed("https://[2606:4700::1]:8443/").authority(), "[2606:4700::1]:8443");
  EXPECT_EQ(parsed("https://8.8.8.8:8443/").authority(), "8.8.8.8:8443");
}

TEST(TargetUrl, RequiresHttpsUnlessHttpIsAllowed) {
  expect_rejected("http://example.com/", "does not allow plain http");
  EXPECT_FALSE(parsed("http://example.com/", {.allow_http = true}).tls);
  EXPECT_EQ(parsed("hTTp://example.com/", {.allow_http = true}).port, 80);
  EXPECT_TRUE(parsed("https://example.com/", {.allow_http = true}).tls);
}

// CVE-2026-40280 (case), CVE-2026-25765 and CVE-2025-68696 (protocol-relative).
TEST(TargetUrl, RejectsOtherSchemes) {
  for (const std::string_view text : {"",
                                      "/",
                                      "//example.com/",
                                      "///example.com",
                                      "example.com",
                                      "example.com/https://a.com",
                                      "https:",
                                      "https:/",
                                      "https:example.com",
                                      "https:/example.com",
                                      "HTTP:example.com",
                                      "ftp://example.com/",
                                      "file:///etc/passwd",
                                      "gopher://example.com/",
                                      "javascript://example.com/",
                                      "unix:///run/x.sock",
                                      "wss://example.com/",
                                      "httpss://example.com/",
                                      "s://example.com",
                                      "://example.com",
                                      "jar:https://a.com/"}) {
    expect_rejected(text, "must start with https:// or http://.", open);
  }
}

TEST(TargetUrl, RejectsCharactersThatParsersDisagreeAbout) {
  for (int byte = 0; byte < 0x20; ++byte) {
    const std::string text = "https://example.com/a" + std::string(1, static_cast<char>(byte));
    expect_rejected(text, "control characters", open);
    expect_rejected(std::string(1, static_cast<char>(byte)) + "https://example.com/",
                    "control characters", open);
  }
  expect_rejected("https://example.com/\x7f", "control characters", open);
  expect_rejected("https://example.com/a\r\nHost: evil", "control characters", open);
  expect_rejected("https://example.com/a b", "spaces", open);
  expect_rejected(" https://example.com/", "spaces", open);
  expect_rejected("https://example.com\\@evil.com/", "backslash", open);
  expect_rejected("https:\\\\example.com", "backslash", open);
  expect_rejected(
      "https://b\xc3\xbc"
      "cher.example/",
      "punycode", open);
  expect_rejected("https://example.com/\xc3\xbc", "punycode", open);
  expect_rejected("https://\xe2\x91\xa0.example/", "punycode", open);  // A circled digit one.
  expect_rejected(
      "https://127\xe3\x80\x82"
      "0.0.1/",
      "punycode", open);  // An ideographic dot.
  for (const char unwise : std::string_view{"\"<>^`{|}"}) {
    expect_rejected(std::string{"https://example.com/?q="} + unwise, "Percent-encode it", open);
  }
}

TEST(TargetUrl, RejectsUserinfoAndFragment) {
  expect_rejected("https://user@example.com/", "user name or password", open);
  expect_rejected("https://user:pass@example.com/", "user name or password", open);
  expect_rejected("https://@example.com/", "user name or password", open);
  expect_rejected("https://example.com:443@evil.com/", "user name or password", open);
  expect_rejected("https://a@b@c/", "user name or password", open);
  expect_rejected("https://example.com/#a", "fragment", open);
  expect_rejected("https://example.com#@evil.com/", "fragment", open);
}

TEST(TargetUrl, RejectsIncompletePercentEncodingAndAnyInTheHost) {
  for (const std::string_view text : {"https://example.com/%", "https://example.com/%2",
                                      "https://example.com/%zz", "https://example.com/%2g"}) {
    expect_rejected(text, "two hexadecimal digits", open);
  }
  expect_rejected("https://%65xample.com/", "percent-encoded", open);
  expect_rejected("https://127.0.0.1%2f@evil.com/", "user name or password", open);
  expect_rejected("https://example.com%00.evil.com/", "percent-encoded", open);
  expect_rejected("https://[fe80::1%25eth0]/", "zone", open);
}

// CVE-2025-24354, CVE-2026-42339, GHSA-r46f-3rpw-hxrv: other forms of IPv4.
TEST(TargetUrl, RejectsNumericHostsThatAreNotCanonicalAddresses) {
  for (const std::string_view host : {"2130706433",
                                      "0x7f000001",
                                      "017700000001",
                                      "0x7f.1",
                                      "0X7F.1",
                                      "0177.1",
                                      "127.1",
                                      "127.0.1",
                                      "1.2.3.4.5",
                                      "127.0.0.01",
                                      "0127.0.0.1",
                                      "256.256.256.256",
                                      "1.1.1.256",
                                      "0",
                                      "0x",
                                      "00000000000000000000000001",
                                      "99999999999999999999",
                                      "example.1",
                                      "example.0x1",
                                      "example.0x",
                                      "a.b.42",
                                      "127.0.0.0x1",
                                      "1.2.3.0xff."}) {
    expect_rejected("https://" + std::string{host} + "/", "looks like an IPv4 address", open);
    expect_rejected("https://" + std::string{host} + "/", "looks like an IPv4 address", strict);
  }
  EXPECT_EQ(parsed("https://1.2.3.4.example.com/").host, "1.2.3.4.example.com");
  EXPECT_EQ(parsed("https://0xg.example.0xyz/").host, "0xg.example.0xyz");
  EXPECT_EQ(parsed("https://1e100.example.1e100/").host, "1e100.example.1e100");
}

TEST(TargetUrl, ChecksAddressesInEveryForm) {
  expect_rejected("https://127.0.0.1/", "loopback (127.0.0.0/8)");
  expect_rejected("https://127.0.0.1./", "loopback (127.0.0.0/8)");
  expect_rejected("https://0.0.0.0/", "unspecified");
  expect_rejected("https://0.0.0.0/", "unspecified", open);
  expect_rejected("https://169.254.169.254/latest/meta-data/", "cloud metadata");
  expect_rejected("https://[::1]/", "loopback (::1/128)");
  expect_rejected("https://[::]/", "unspecified", open);
  expect_rejected("https://[::ffff:127.0.0.1]/", "loopback (127.0.0.0/8)");
  expect_rejected("https://[::FFFF:7F00:1]/", "loopback (127.0.0.0/8)");
  expect_rejected("https://[64:ff9b::7f00:1]/", "NAT64");
  expect_rejected("https://[2002:7f00:1::]/", "6to4");
  expect_rejected("https://[fd00:ec2::254]/", "unique local");
  EXPECT_EQ(parsed("https://127.0.0.1:9/", open).port, 9);
  EXPECT_EQ(parsed("https://[::1]/", open).host, "::1");
  const UrlPolicy list{.allow_http = false,
                       .addresses = {.allowed = {Cidr::parse("10.0.0.0/8").value()}}};
  EXPECT_EQ(parsed("https://10.1.2.3/", list).host, "10.1.2.3");
  expect_rejected("https://192.168.1.1/", "private", list);
}

TEST(TargetUrl, BracketsContainOneIpv6Address) {
  for (const std::string_view text : {"https://[]/", "https://[1.2.3.4]/", "https://[example.com]/",
                                      "https://[::g]/", "https://[[::1]]/", "https://[:::]/"}) {
    expect_rejected(text, "not an IPv6 address", open);
  }
  expect_rejected("https://[::1/", "no closing bracket", open);
  expect_rejected("https://[::1]x/", "followed only by a port", open);
  expect_rejected("https://[::1].example.com/", "followed only by a port", open);
  expect_rejected("https://[::1]:/", "port must be a number", open);
  expect_rejected("https://::1/", "no host", open);
  expect_rejected("https://a[::1]/", "only letters, digits", open);
  expect_rejected("https://2606:4700::1/", "looks like an IPv4 address", open);
}

TEST(TargetUrl, RejectsInternalNamesUnlessTheOperatorAllowsThem) {
  for (const std::string_view host :
       {"localhost", "LOCALHOST", "localhost.", "foo.localhost", "foo.LocalHost.", "printer.local",
        "metadata.google.internal", "metadata", "intranet", "a"}) {
    const std::string text = "https://" + std::string{host} + "/";
    expect_rejected(text, "internal name");
    EXPECT_FALSE(parsed(text, open).host.empty());
    const UrlPolicy list{.allow_http = false,
                         .addresses = {.allowed = {Cidr::parse("10.0.0.0/8").value()}}};
    EXPECT_FALSE(parsed(text, list).host.empty())
        << "the list is applied when the name is resolved";
  }
  EXPECT_EQ(parsed("https://localhost.example.com/").host, "localhost.example.com");
  EXPECT_EQ(parsed("https://notlocal.com/").host, "notlocal.com");
}

// CVE-2022-24825 and CVE-2022-29188: extra dots must not select a different host.
TEST(TargetUrl, RejectsMalformedLabels) {
  for (const std::string_view text :
       {"https:///", "https://", "https://./", "https://?q", "https://:443/"}) {
    expect_rejected(text, "no host", open);
  }
  for (const std::string_view text :
       {"https://../", "https://example.com../", "https://.example.com/", "https://example..com/",
        "https://localhost../"}) {
    expect_rejected(text, "empty part", open);
  }
  for (const std::string_view text :
       {"https://exa!mple.com/", "https://exa*mple.com/", "https://*.example.com/",
        "https://a,b.com/", "https://a;b.com/", "https://a=b.com/", "https://a&b.com/"}) {
    expect_rejected(text, "only letters, digits", open);
  }
  expect_rejected("https://-a.example.com/", "hyphen", open);
  expect_rejected("https://a-.example.com/", "hyphen", open);
  const std::string label(63, 'a');
  EXPECT_EQ(parsed("https://" + label + ".com/").host, label + ".com");
  expect_rejected("https://a" + label + ".com/", "longer than 63", open);
  const std::string host = label + '.' + label + '.' + label + '.' + std::string(61, 'b');
  ASSERT_EQ(host.size(), 253u);
  EXPECT_EQ(parsed("https://" + host + "/").host, host);
  EXPECT_EQ(parsed("https://" + host + "./").host, host);
  expect_rejected("https://" + host + "b/", "longer than 253", open);
}

TEST(TargetUrl, RejectsPrivilegedPortsAndDatabasePorts) {
  for (const std::string_view port : {"443", "80", "1024", "3000", "8080", "8443", "65535"}) {
    EXPECT_EQ(std::to_string(parsed("https://example.com:" + std::string{port} + "/").port), port);
  }
  for (const std::string_view port :
       {"1",    "22",   "25",   "79",    "81",    "442",  "444",  "1023",
        "2375", "2376", "2379", "2380",  "3306",  "5432", "5672", "6379",
        "6443", "9092", "9200", "10250", "11211", "27017"}) {
    expect_rejected("https://example.com:" + std::string{port} + "/", "is not allowed. Use 443");
    EXPECT_EQ(std::to_string(parsed("https://example.com:" + std::string{port} + "/", open).port),
              port);
  }
  for (const std::string_view port : {"", "0", "00", "0443", "65536", "99999", "4294967739", "443a",
                                      "a", "-1", "+443", "443:443", "4%33"}) {
    expect_rejected("https://example.com:" + std::string{port} + "/", "port must be a number",
                    open);
  }
}

TEST(TargetUrl, RejectsTheServersOwnListener) {
  const auto own = [](std::string_view address) {
    UrlPolicy policy{.allow_http = true, .addresses = {.allow_private = true}};
    policy.addresses.own = Endpoint{*IpAddress::parse(address), 8080};
    return policy;
  };
  const UrlPolicy one = own("127.0.0.1");
  EXPECT_FALSE(parse_target_url("http://127.0.0.1:8080/v1/events", one));
  EXPECT_FALSE(parse_target_url("http://[::ffff:127.0.0.1]:8080/", one));
  EXPECT_TRUE(parse_target_url("http://127.0.0.1:8081/", one));
  EXPECT_TRUE(parse_target_url("http://127.0.0.2:8080/", one));
  EXPECT_TRUE(parse_target_url("http://10.1.2.3:8080/", one));
  for (const std::string_view everywhere : {"0.0.0.0", "::"}) {
    const UrlPolicy all = own(everywhere);
    EXPECT_FALSE(parse_target_url("http://127.0.0.1:8080/", all));
    EXPECT_FALSE(parse_target_url("http://127.9.9.9:8080/", all));
    EXPECT_FALSE(parse_target_url("http://[::1]:8080/", all));
    EXPECT_TRUE(parse_target_url("http://10.1.2.3:8080/", all)) << "detected only at the connect";
    EXPECT_TRUE(is_own_listener(all.addresses, {*IpAddress::parse("10.1.2.3"), 8080},
                                IpAddress::parse("10.1.2.3")));
    EXPECT_FALSE(is_own_listener(all.addresses, {*IpAddress::parse("10.1.2.3"), 8080},
                                 IpAddress::parse("10.1.2.4")));
  }
}

TEST(TargetUrl, LimitsTheLength) {
  const std::string start = "https://example.com/";
  EXPECT_EQ(parsed(start + std::string(url_length_max - start.size(), 'a')).path_and_query.size(),
            url_length_max - start.size() + 1);
  expect_rejected(start + std::string(url_length_max + 1 - start.size(), 'a'), "longer than 2048",
                  open);
  expect_rejected(std::string(10'000'000, 'a'), "longer than 2048", open);
}

RC_GTEST_PROP(TargetUrl, ParsedUrlRoundTrips, ()) {
  const auto label = rc::gen::suchThat(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string{"abcXYZ019-_"})),
      [](const std::string& text) { return !text.empty() && text.size() < 20; });
  const std::string text = *rc::gen::element<std::string>("https://", "HTTP://") + *label + '.' +
                           *label + *rc::gen::element<std::string>("", ".", ":8443", ".:8080") +
                           *rc::gen::element<std::string>("", "/", "/a?b=%20", "?c");
  const Result<TargetUrl> first = parse_target_url(text, open);
  if (!first) {
    return;
  }
  const std::string again =
      (first->tls ? "https://" : "http://") + first->authority() + first->path_and_query;
  const Result<TargetUrl> second = parse_target_url(again, open);
  RC_ASSERT(second.has_value());
  RC_ASSERT(second.value() == first.value());
}

TEST(ShownUrl, LeavesOutTheQuery) {
  EXPECT_EQ(shown_url("https://example.com/a/b?token=secret&x=?"), "https://example.com/a/b");
  EXPECT_EQ(shown_url("https://example.com?token=secret"), "https://example.com");
  EXPECT_EQ(shown_url("https://example.com/#part"), "https://example.com/");
  EXPECT_EQ(shown_url("https://example.com/a"), "https://example.com/a");
  EXPECT_EQ(shown_url(""), "");
}

}  // namespace
}  // namespace postrider
