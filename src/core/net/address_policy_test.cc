// Which addresses are allowed (P11): both ends of every range, and known bypasses of such checks.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/net/address.h"

namespace postrider {
namespace {

std::string reason(std::string_view text, const AddressPolicy& policy = {}) {
  const std::optional<IpAddress> address = IpAddress::parse(text);
  EXPECT_TRUE(address) << text;
  return address ? forbidden_address(*address, policy).value_or("allowed") : "";
}

std::vector<Cidr> cidrs(std::initializer_list<std::string_view> texts) {
  std::vector<Cidr> parsed;
  for (const std::string_view text : texts) {
    parsed.push_back(Cidr::parse(text).value());
  }
  return parsed;
}

struct RangeCase {
  std::string_view want;
  std::string_view before;  // Public, or empty if another rule forbids the neighbour.
  std::string_view first;
  std::string_view last;
  std::string_view after;
};

TEST(ForbiddenAddress, CoversExactlyEveryIpv4Range) {
  const RangeCase cases[] = {
      {"unspecified (0.0.0.0/32)", "", "0.0.0.0", "0.0.0.0", ""},
      {"this network (0.0.0.0/8)", "", "0.0.0.1", "0.255.255.255", "1.0.0.0"},
      {"private (10.0.0.0/8)", "9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
      {"carrier-grade NAT (100.64.0.0/10)", "100.63.255.255", "100.64.0.0", "100.127.255.255",
       "100.128.0.0"},
      {"loopback (127.0.0.0/8)", "126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
      {"Azure platform service (168.63.129.16/32)", "168.63.129.15", "168.63.129.16",
       "168.63.129.16", "168.63.129.17"},
      {"link-local, cloud metadata (169.254.0.0/16)", "169.253.255.255", "169.254.0.0",
       "169.254.255.255", "169.255.0.0"},
      {"private (172.16.0.0/12)", "172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
      {"IETF protocol assignments (192.0.0.0/24)", "191.255.255.255", "192.0.0.0", "192.0.0.255",
       "192.0.1.0"},
      {"documentation (192.0.2.0/24)", "192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
      {"AS112 (192.31.196.0/24)", "192.31.195.255", "192.31.196.0", "192.31.196.255",
       "192.31.197.0"},
      {"automatic multicast tunnelling (192.52.193.0/24)", "192.52.192.255", "192.52.193.0",
       "192.52.193.255", "192.52.194.0"},
      {"6to4 relay (192.88.99.0/24)", "192.88.98.255", "192.88.99.0", "192.88.99.255",
       "192.88.100.0"},
      {"private (192.168.0.0/16)", "192.167.255.255", "192.168.0.0", "192.168.255.255",
       "192.169.0.0"},
      {"AS112 (192.175.48.0/24)", "192.175.47.255", "192.175.48.0", "192.175.48.255",
       "192.175.49.0"},
      {"benchmarking (198.18.0.0/15)", "198.17.255.255", "198.18.0.0", "198.19.255.255",
       "198.20.0.0"},
      {"documentation (198.51.100.0/24)", "198.51.99.255", "198.51.100.0", "198.51.100.255",
       "198.51.101.0"},
      {"documentation (203.0.113.0/24)", "203.0.112.255", "203.0.113.0", "203.0.113.255",
       "203.0.114.0"},
      {"multicast (224.0.0.0/4)", "223.255.255.255", "224.0.0.0", "239.255.255.255", ""},
      {"reserved (240.0.0.0/4)", "", "240.0.0.0", "255.255.255.254", ""},
      {"broadcast (255.255.255.255/32)", "", "255.255.255.255", "255.255.255.255", ""},
  };
  for (const RangeCase& c : cases) {
    EXPECT_EQ(reason(c.first), c.want);
    EXPECT_EQ(reason(c.last), c.want);
    EXPECT_EQ(c.before.empty() ? "allowed" : reason(c.before), "allowed") << c.before;
    EXPECT_EQ(c.after.empty() ? "allowed" : reason(c.after), "allowed") << c.after;
    // The IPv4-mapped IPv6 address gives the same result.
    EXPECT_EQ(reason("::ffff:" + std::string{c.first}), c.want);
    EXPECT_EQ(reason("::ffff:" + std::string{c.last}), c.want);
  }
}

TEST(ForbiddenAddress, CoversExactlyEveryIpv6Range) {
  const std::string outside = "outside global unicast (2000::/3)";
  const RangeCase cases[] = {
      {"unspecified (::/128)", "", "::", "::", ""},
      {"loopback (::1/128)", "", "::1", "::1", ""},
      {"IPv4-compatible (::/96)", "", "::2", "::ffff:ffff", ""},
      {"IPv4-translated (::ffff:0:0:0/96)", "", "::ffff:0:0:0", "::ffff:0:ffff:ffff", ""},
      {"NAT64 (64:ff9b::/96)", "", "64:ff9b::", "64:ff9b::ffff:ffff", ""},
      {"NAT64 (64:ff9b:1::/48)", "", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", ""},
      {"discard (100::/64)", "", "100::", "100::ffff:ffff:ffff:ffff", ""},
      {outside, "", "100:0:0:1::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"},
      {"Teredo (2001::/32)", "2000:ffff::", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", ""},
      {"IETF protocol assignments (2001::/23)", "",
       "2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
      {"documentation (2001:db8::/32)",
       "2001:db7:ffff::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
      {"6to4 (2002::/16)", "2001:ffff::", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
       "2003::"},
      {"AS112 (2620:4f:8000::/48)", "2620:4f:7fff::", "2620:4f:8000::",
       "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:8001::"},
      {"documentation (3fff::/20)",
       "3ffe:ffff::", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
      {outside, "3fff:ffff::", "4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
      {"segment routing (5f00::/16)", "", "5f00::", "5f00:ffff::", ""},
      {outside, "", "5f01::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
      {"unique local (fc00::/7)", "", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
      {outside, "", "fe00::", "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
      {"link-local (fe80::/10)", "", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
      {"site-local (fec0::/10)", "", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
      {"multicast (ff00::/8)", "", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
  };
  for (const RangeCase& c : cases) {
    EXPECT_EQ(reason(c.first), c.want) << c.first;
    EXPECT_EQ(reason(c.last), c.want) << c.last;
    EXPECT_EQ(c.before.empty() ? "allowed" : reason(c.before), "allowed") << c.before;
    EXPECT_EQ(c.after.empty() ? "allowed" : reason(c.after), "allowed") << c.after;
  }
}

// CVE-2026-22874, CVE-2026-45741 and others: metadata and loopback through IPv6 transition forms.
TEST(ForbiddenAddress, NoTransitionFormReachesMetadata) {
  for (const std::string_view text : {"169.254.169.254",
                                      "::ffff:169.254.169.254",
                                      "::ffff:a9fe:a9fe",
                                      "::169.254.169.254",
                                      "::ffff:0:169.254.169.254",
                                      "64:ff9b::a9fe:a9fe",
                                      "64:ff9b:1::a9fe:a9fe",
                                      "2002:a9fe:a9fe::",
                                      "2001::5601:5601",
                                      "fe80::a9fe:a9fe",
                                      "fd00:ec2::254",
                                      "fd20:ce::254",
                                      "fd00:42::42",
                                      "fec0::1",
                                      "100.100.100.200",
                                      "192.0.0.192",
                                      "168.63.129.16",
                                      "::ffff:168.63.129.16",
                                      "::ffff:0.0.0.0",
                                      "::ffff:127.0.0.1",
                                      "::127.0.0.1",
                                      "2002:7f00:1::"}) {
    EXPECT_NE(reason(text), "allowed") << text;
  }
}

TEST(ForbiddenAddress, AllowsPublicAddresses) {
  for (const std::string_view text : {"1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111",
                                      "2a00:1450:4001:800::200e", "::ffff:8.8.8.8"}) {
    EXPECT_EQ(reason(text), "allowed") << text;
  }
}

// Written as plain numbers, independently of the table, to detect mistakes in the table.
bool is_public_v4(std::uint32_t address) {
  const std::uint32_t first = address >> 24;
  const std::uint32_t two = address >> 16;
  const std::uint32_t three = address >> 8;
  constexpr std::uint32_t small_ranges[] = {0xc00000, 0xc00002, 0xc01fc4, 0xc034c1,
                                            0xc05863, 0xc0af30, 0xc63364, 0xcb0071};
  return first != 0 && first != 10 && first != 127 && first < 224 &&
         (two < 0x6440 || two > 0x647f) && two != 0xa9fe && (two < 0xac10 || two > 0xac1f) &&
         two != 0xc0a8 && two != 0xc612 && two != 0xc613 && address != 0xa83f8110 &&
         std::find(std::begin(small_ranges), std::end(small_ranges), three) ==
             std::end(small_ranges);
}

TEST(ForbiddenAddress, AgreesWithAnIndependentCheckForAllOfIpv4) {
  const AddressPolicy policy;
  constexpr std::uint8_t third_bytes[] = {0, 2, 48, 63, 64, 99, 100, 113, 129, 193, 196, 255};
  for (std::uint32_t two = 0; two < 0x10000; ++two) {
    for (const std::uint8_t third : third_bytes) {
      const std::uint32_t number = two << 16 | static_cast<std::uint32_t>(third) << 8 | 16u;
      IpAddress address;
      for (std::size_t i = 0; i < 4; ++i) {
        address.bytes[i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
      }
      ASSERT_EQ(!forbidden_address(address, policy), is_public_v4(number)) << address.to_string();
    }
  }
}

TEST(ForbiddenAddress, AllowPrivateStillForbidsUnspecifiedAndMulticast) {
  const AddressPolicy policy{.allow_private = true};
  for (const std::string_view text :
       {"127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.1", "240.0.0.1", "::1", "fd00::1",
        "fe80::1", "::ffff:127.0.0.1", "8.8.8.8"}) {
    EXPECT_EQ(reason(text, policy), "allowed") << text;
  }
  EXPECT_EQ(reason("0.0.0.0", policy), "unspecified (0.0.0.0/32)");
  EXPECT_EQ(reason("::", policy), "unspecified (::/128)");
  EXPECT_EQ(reason("::ffff:0.0.0.0", policy), "unspecified (0.0.0.0/32)");
  EXPECT_EQ(reason("224.0.0.1", policy), "multicast (224.0.0.0/4)");
  EXPECT_EQ(reason("ff02::1", policy), "multicast (ff00::/8)");
  EXPECT_EQ(reason("255.255.255.255", policy), "broadcast (255.255.255.255/32)");
}

TEST(ForbiddenAddress, AllowListAllowsExactlyItsRanges) {
  const AddressPolicy policy{.allowed =
                                 cidrs({"10.1.0.0/16", "fd00::/8", "0.0.0.0/8", "224.0.0.0/4"})};
  EXPECT_EQ(reason("10.1.2.3", policy), "allowed");
  EXPECT_EQ(reason("::ffff:10.1.2.3", policy), "allowed");
  EXPECT_EQ(reason("fd00::1", policy), "allowed");
  EXPECT_EQ(reason("10.2.0.0", policy), "private (10.0.0.0/8)");
  EXPECT_EQ(reason("fc00::1", policy), "unique local (fc00::/7)");
  EXPECT_EQ(reason("0.0.0.0", policy), "unspecified (0.0.0.0/32)") << "no list opens this";
  EXPECT_EQ(reason("224.0.0.1", policy), "multicast (224.0.0.0/4)") << "no list opens this";
  const AddressPolicy all_v6{.allowed = cidrs({"::/0"})};
  EXPECT_EQ(reason("::ffff:127.0.0.1", all_v6), "loopback (127.0.0.0/8)")
      << "an IPv4-mapped address counts as IPv4";
}

TEST(ForbiddenAddress, DenyListTakesPrecedence) {
  const AddressPolicy policy{.allow_private = true,
                             .allowed = cidrs({"0.0.0.0/0", "::/0"}),
                             .denied = cidrs({"8.8.8.0/24", "2606:4700::/32"})};
  EXPECT_EQ(reason("8.8.8.8", policy), "denied by the operator (8.8.8.0/24)");
  EXPECT_EQ(reason("::ffff:8.8.8.8", policy), "denied by the operator (8.8.8.0/24)");
  EXPECT_EQ(reason("2606:4700::1", policy), "denied by the operator (2606:4700::/32)");
  EXPECT_EQ(reason("8.8.9.8", policy), "allowed");
  const AddressPolicy mapped{.allow_private = true, .denied = cidrs({"::ffff:0:0/96"})};
  EXPECT_EQ(reason("::ffff:8.8.8.8", mapped), "denied by the operator (::ffff:0.0.0.0/96)");
  EXPECT_EQ(reason("8.8.8.8", mapped), "allowed");
}

struct Nat64Case {
  std::string_view prefix;
  std::string_view documentation;  // RFC 6052, section 2.4: the prefix with 192.0.2.33 inside.
  std::string_view public_one;     // With 8.8.8.8 inside.
  std::string_view private_one;    // With 10.11.12.13 inside.
};

constexpr Nat64Case nat64_cases[] = {
    {"2001:db8::/32", "2001:db8:c000:221::", "2001:db8:808:808::", "2001:db8:a0b:c0d::"},
    {"2001:db8:100::/40", "2001:db8:1c0:2:21::", "2001:db8:108:808:8::", "2001:db8:10a:b0c:d::"},
    {"2001:db8:122::/48",
     "2001:db8:122:c000:2:2100::", "2001:db8:122:808:8:800::", "2001:db8:122:a0b:c:d00::"},
    {"2001:db8:122:300::/56",
     "2001:db8:122:3c0:0:221::", "2001:db8:122:308:8:808::", "2001:db8:122:30a:b:c0d::"},
    {"2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::", "2001:db8:122:344:8:808:800::",
     "2001:db8:122:344:a:b0c:d00::"},
    {"2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33", "2001:db8:122:344::8.8.8.8",
     "2001:db8:122:344::10.11.12.13"},
    {"64:ff9b::/96", "64:ff9b::c000:221", "64:ff9b::808:808", "64:ff9b::a0b:c0d"},
};

TEST(ForbiddenAddress, Nat64AddressesAreCheckedByTheirIpv4Address) {
  for (const Nat64Case& c : nat64_cases) {
    const AddressPolicy policy{.nat64 = cidrs({c.prefix})};
    EXPECT_EQ(reason(c.documentation, policy), "documentation (192.0.2.0/24)") << c.prefix;
    EXPECT_EQ(reason(c.public_one, policy), "allowed") << c.prefix;
    EXPECT_EQ(reason(c.private_one, policy), "private (10.0.0.0/8)") << c.prefix;
    EXPECT_NE(reason(c.public_one), "allowed") << c.prefix << " not declared";
    const AddressPolicy lists{
        .allowed = cidrs({"10.0.0.0/8"}), .denied = cidrs({"8.8.8.8"}), .nat64 = cidrs({c.prefix})};
    EXPECT_EQ(reason(c.private_one, lists), "allowed") << c.prefix;
    EXPECT_EQ(reason(c.public_one, lists), "denied by the operator (8.8.8.8/32)") << c.prefix;
  }
}

TEST(ForbiddenAddress, MalformedNat64IsForbidden) {
  const AddressPolicy odd_length{.nat64 = cidrs({"2a00::/44"})};
  EXPECT_EQ(reason("2a00::808:808", odd_length), "malformed NAT64 (2a00::/44)");
  // Byte 8 is reserved. A translator that does not skip it would use a different address.
  const AddressPolicy policy{.nat64 = cidrs({"2a00::/48"})};
  EXPECT_EQ(reason("2a00:0:0:808:8:800::", policy), "allowed");
  EXPECT_EQ(reason("2a00:0:0:808:108:800::", policy), "malformed NAT64 (2a00::/48)");
}

RC_GTEST_PROP(ForbiddenAddress, MappedAddressGivesTheSameResult,
              (std::array<std::uint8_t, 4> bytes, bool allow_private)) {
  IpAddress plain;
  IpAddress mapped{.is_v6 = true};
  mapped.bytes[10] = mapped.bytes[11] = 0xff;
  std::copy(bytes.begin(), bytes.end(), plain.bytes.begin());
  std::copy(bytes.begin(), bytes.end(), mapped.bytes.begin() + 12);
  const AddressPolicy policy{.allow_private = allow_private};
  RC_ASSERT(forbidden_address(plain, policy) == forbidden_address(mapped, policy));
}

}  // namespace
}  // namespace postrider
