#include "api/http/client_address.h"

#include <gtest/gtest.h>

namespace postrider::api {
namespace {

using HeaderLines = std::vector<std::pair<std::string, std::string>>;

const std::vector<Cidr> proxies = {*Cidr::parse("10.0.0.0/8"), *Cidr::parse("2001:db8::/32")};

std::string client(std::string_view peer, const std::vector<std::string>& values) {
  HeaderLines headers = {{"host", "x"}};
  for (const std::string& value : values) {
    headers.emplace_back("x-forwarded-for", value);
  }
  return client_address(peer, headers, proxies);
}

TEST(ClientAddress, IsThePeerUnlessATrustedProxyForwards) {
  EXPECT_EQ(client("192.0.2.1", {}), "192.0.2.1");
  EXPECT_EQ(client("192.0.2.1", {"198.51.100.7"}), "192.0.2.1");  // Not a trusted proxy.
  EXPECT_EQ(client("10.1.1.1", {}), "10.1.1.1");
}

TEST(ClientAddress, IsTheLastEntryThatIsNotATrustedProxy) {
  EXPECT_EQ(client("10.1.1.1", {"198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(client("10.1.1.1", {"198.51.100.7, 10.2.2.2"}), "198.51.100.7");
  EXPECT_EQ(client("10.1.1.1", {"203.0.113.9, 198.51.100.7, 10.2.2.2"}), "198.51.100.7");
  EXPECT_EQ(client("10.1.1.1", {"203.0.113.9", "198.51.100.7,10.2.2.2"}), "198.51.100.7");
  EXPECT_EQ(client("2001:db8::1", {"2001:4860::8"}), "2001:4860::8");
  EXPECT_EQ(client("::ffff:10.1.1.1", {"198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(client("10.1.1.1", {"10.3.3.3, 10.2.2.2"}), "10.3.3.3");
}

TEST(ClientAddress, IgnoresPorts) {
  EXPECT_EQ(client("10.1.1.1", {"198.51.100.7:4711"}), "198.51.100.7");
  EXPECT_EQ(client("10.1.1.1", {"[2001:4860::8]:443"}), "2001:4860::8");
  EXPECT_EQ(client("10.1.1.1", {"[2001:4860::8]"}), "2001:4860::8");
}

TEST(ClientAddress, AnInvalidEntryEndsTheSearch) {
  EXPECT_EQ(client("10.1.1.1", {"unknown"}), "10.1.1.1");
  EXPECT_EQ(client("10.1.1.1", {"203.0.113.9, , 10.2.2.2"}), "10.2.2.2");
  EXPECT_EQ(client("10.1.1.1", {"203.0.113.9, evil\", 10.2.2.2"}), "10.2.2.2");
  EXPECT_EQ(client("10.1.1.1", {"["}), "10.1.1.1");
  EXPECT_EQ(client("10.1.1.1", {std::string(10'000, ',')}), "10.1.1.1");
}

TEST(ClientGroup, AnIpv6NetworkOf64BitsIsOneClient) {
  EXPECT_EQ(client_group("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(client_group("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(client_group("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(client_group("2001:db8:1:2::"), client_group("2001:db8:1:2:ffff::1"));
  EXPECT_EQ(client_group("nonsense"), "nonsense");
}

}  // namespace
}  // namespace postrider::api
