#include "api/resources/own_host.h"

#include <gtest/gtest.h>

namespace postrider::api {
namespace {

IpAddress at(std::string_view text) { return *IpAddress::parse(text); }

TEST(OwnHost, KnowsTheHostsOfALoopbackListener) {
  for (const std::string_view host : {"localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.1:8080",
                                      "127.8.8.8", "[::1]", "[::1]:8080"}) {
    EXPECT_TRUE(is_loopback_host(host)) << host;
    EXPECT_TRUE(names_listener(host, at("127.0.0.1"))) << host;
    EXPECT_TRUE(names_listener(host, at("::1"))) << host;
    EXPECT_TRUE(names_listener(host, at("0.0.0.0"))) << host;
    EXPECT_FALSE(names_listener(host, at("192.0.2.1"))) << host;
  }
}

TEST(OwnHost, AnotherNameIsNotKnown) {
  for (const std::string_view host :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "localhost:80:80",
        "localhost:port", "[::1", "::1", "127.1", "2130706433", "0x7f.0.0.1", "[]", "[::1]x"}) {
    EXPECT_FALSE(is_loopback_host(host)) << host;
    EXPECT_FALSE(names_listener(host, at("127.0.0.1"))) << host;
  }
}

TEST(OwnHost, AListenerOnAllAddressesIsKnownByAnyAddressButByNoName) {
  EXPECT_TRUE(names_listener("192.0.2.1:8080", at("0.0.0.0")));
  EXPECT_TRUE(names_listener("[2001:db8::1]:8080", at("::")));
  EXPECT_FALSE(names_listener("hooks.example", at("0.0.0.0")));
}

TEST(OwnHost, AListenerOnOneAddressIsKnownByItOnly) {
  EXPECT_TRUE(names_listener("192.0.2.1:8080", at("192.0.2.1")));
  EXPECT_FALSE(names_listener("192.0.2.2:8080", at("192.0.2.1")));
}

}  // namespace
}  // namespace postrider::api
