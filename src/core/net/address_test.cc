#include "core/net/address.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace postrider {
namespace {

std::string canonical(std::string_view text) {
  const std::optional<IpAddress> address = IpAddress::parse(text);
  return address ? address->to_string() : "refused";
}

TEST(IpAddress, ParsesCanonicalDottedQuads) {
  for (const std::string_view text : {"0.0.0.0", "1.2.3.4", "127.0.0.1", "255.255.255.255"}) {
    EXPECT_EQ(canonical(text), text);
    EXPECT_FALSE(IpAddress::parse(text)->is_v6);
  }
  const IpAddress address = IpAddress::parse("1.2.3.255").value();
  EXPECT_EQ(address.bytes, (std::array<std::uint8_t, 16>{1, 2, 3, 255}));
}

// CVE-2025-24354 and similar: other forms that inet_aton accepts as an address.
TEST(IpAddress, RejectsOtherFormsOfIpv4) {
  for (const std::string_view text : {"",           ".",
                                      "1",          "1.2",
                                      "1.2.3",      "1.2.3.",
                                      ".1.2.3",     "1.2.3.4.",
                                      "1.2.3.4.5",  "1..2.3",
                                      "256.1.1.1",  "1.1.1.256",
                                      "1.1.1.999",  "01.2.3.4",
                                      "1.2.3.04",   "00.0.0.0",
                                      "0177.0.0.1", "0x7f.0.0.1",
                                      "0x7f.1",     "0x7f000001",
                                      "2130706433", "017700000001",
                                      "127.1",      "1.2.3.4 ",
                                      " 1.2.3.4",   "+1.2.3.4",
                                      "-1.2.3.4",   "1.2.3.a",
                                      "1,2,3,4",    "1.2.3.4/32",
                                      "1.2.3.4:80", "1.2.3.4%eth0",
                                      "1.2.3.0004"}) {
    EXPECT_EQ(canonical(text), "refused") << text;
  }
  EXPECT_FALSE(IpAddress::parse(std::string_view{"1.2.3.4\0", 8}));
}

TEST(IpAddress, ParsesIpv6AndFormatsRfc5952) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  const Case cases[] = {
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"0:0:0:0:0:0:0:0", "::"},
      {"2001:DB8::0001", "2001:db8::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
      {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
      {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
      {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
      {"::1.2.3.4", "::102:304"},
      {"::ffff:1.2.3.4", "::ffff:1.2.3.4"},
      {"::FFFF:0102:0304", "::ffff:1.2.3.4"},
      {"64:ff9b::10.0.0.1", "64:ff9b::a00:1"},
      {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(canonical(c.text), c.want) << c.text;
  }
}

TEST(IpAddress, RejectsMalformedIpv6) {
  for (const std::string_view text : {":",
                                      ":::",
                                      "::::",
                                      "1:::2",
                                      "1::2::3",
                                      "1:2:3:4:5:6:7",
                                      "1:2:3:4:5:6:7:8:9",
                                      "1:2:3:4:5:6:7:8::",
                                      "::1:2:3:4:5:6:7:8",
                                      "1:2:3:4::5:6:7:8",
                                      ":1:2:3:4:5:6:7",
                                      "1:2:3:4:5:6:7:",
                                      ":1::",
                                      "1::2:",
                                      "12345::",
                                      "g::",
                                      "::g",
                                      "[::1]",
                                      "::1%eth0",
                                      "fe80::1%1",
                                      "::1/128",
                                      "::1.2.3",
                                      "::1.2.3.4.5",
                                      "::01.2.3.4",
                                      "1.2.3.4::",
                                      "::1.2.3.4:5",
                                      "1:2:3:4:5:6:7:1.2.3.4",
                                      "::0x1",
                                      "::-1",
                                      "::+1",
                                      " ::1",
                                      "::1 ",
                                      "1:2:3:4:5:6:7:8:1.2.3.4"}) {
    EXPECT_EQ(canonical(text), "refused") << text;
  }
}

RC_GTEST_PROP(IpAddress, AnyIpv4AddressRoundTrips, (std::array<std::uint8_t, 4> bytes)) {
  IpAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  RC_ASSERT(IpAddress::parse(address.to_string()) == address);
}

RC_GTEST_PROP(IpAddress, AnyIpv6AddressRoundTrips,
              (std::array<std::uint8_t, 16> bytes, std::uint8_t zeros)) {
  IpAddress address{.is_v6 = true, .bytes = bytes};
  for (std::size_t group = 0; group < 8;
       ++group) {  // Random bytes alone would never have zero groups.
    if ((zeros >> group & 1) != 0) {
      address.bytes[2 * group] = address.bytes[2 * group + 1] = 0;
    }
  }
  RC_ASSERT(IpAddress::parse(address.to_string()) == address);
}

TEST(IpAddress, UnmapsOnlyIpv4InsideIpv6) {
  EXPECT_EQ(IpAddress::parse("::ffff:1.2.3.4")->unmapped(), IpAddress::parse("1.2.3.4"));
  EXPECT_FALSE(IpAddress::parse("::1.2.3.4")->unmapped());
  EXPECT_FALSE(IpAddress::parse("::ffff:0:1.2.3.4")->unmapped());
  EXPECT_FALSE(IpAddress::parse("1.2.3.4")->unmapped());
}

TEST(Cidr, ParsesRangesAndSingleAddresses) {
  for (const std::string_view text : {"0.0.0.0/0", "10.0.0.0/8", "192.168.1.128/25", "1.2.3.4/32",
                                      "::/0", "fc00::/7", "::1/128"}) {
    ASSERT_TRUE(Cidr::parse(text)) << text;
    EXPECT_EQ(Cidr::parse(text)->to_string(), text);
  }
  EXPECT_EQ(Cidr::parse("1.2.3.4"), Cidr::parse("1.2.3.4/32"));
  EXPECT_EQ(Cidr::parse("::1"), Cidr::parse("::1/128"));
  for (const std::string_view text :
       {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/+8",
        "10.0.0.0/8/8", "10.0.0.1/8", "10.0.0.0/8 ", "10/8", "::1/64", "::/129", "::/1000",
        "192.168.1.128/24"}) {
    EXPECT_FALSE(Cidr::parse(text)) << text;
  }
}

TEST(Cidr, ContainsExactlyItsRange) {
  struct Case {
    std::string_view cidr, before, first, last, after;
  };
  const Case cases[] = {
      {"172.16.0.0/12", "172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
      {"192.168.1.128/25", "192.168.1.127", "192.168.1.128", "192.168.1.255", "192.168.2.0"},
      {"1.2.3.4/32", "1.2.3.3", "1.2.3.4", "1.2.3.4", "1.2.3.5"},
      {"2001:db8::/33", "2001:db7:ffff::", "2001:db8::", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff",
       "2001:db8:8000::"},
      {"::2/127", "::1", "::2", "::3", "::4"},
  };
  for (const Case& c : cases) {
    const Cidr cidr = Cidr::parse(c.cidr).value();
    EXPECT_FALSE(cidr.contains(IpAddress::parse(c.before).value())) << c.before;
    EXPECT_TRUE(cidr.contains(IpAddress::parse(c.first).value())) << c.first;
    EXPECT_TRUE(cidr.contains(IpAddress::parse(c.last).value())) << c.last;
    EXPECT_FALSE(cidr.contains(IpAddress::parse(c.after).value())) << c.after;
  }
  EXPECT_TRUE(Cidr::parse("0.0.0.0/0")->contains(IpAddress::parse("255.255.255.255").value()));
  EXPECT_FALSE(Cidr::parse("0.0.0.0/0")->contains(IpAddress::parse("::").value()));
  EXPECT_FALSE(Cidr::parse("::/0")->contains(IpAddress::parse("0.0.0.0").value()));
}

}  // namespace
}  // namespace postrider
