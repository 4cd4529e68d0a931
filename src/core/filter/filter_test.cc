// What filters match: EventBridge's documented examples and edge cases.
#include "core/filter/filter.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace postrider {
namespace {

bool match(std::string_view pattern, const Event& event) {
  const auto filter = Filter::parse(pattern);
  EXPECT_TRUE(filter.has_value()) << pattern << ": " << filter.error().message;
  return filter && filter->matches(event);
}

/// Matches `pattern` against an event's `data`.
bool match_data(std::string_view pattern, std::string_view data) {
  Event event;
  event.data = data;
  return match(R"({"data":)" + std::string{pattern} + "}", event);
}

struct Case {
  std::string_view pattern;
  std::string_view data;
  bool want;
};

template <std::size_t count>
void check(const Case (&cases)[count]) {
  for (const Case& c : cases) {
    EXPECT_EQ(match_data(c.pattern, c.data), c.want) << c.pattern << " on " << c.data;
  }
}

TEST(Filter, MatchesTheDocumentedEc2Example) {
  constexpr std::string_view data = R"({"instance-id":"i-1234567890abcdef0","state":"terminated"})";
  EXPECT_TRUE(match_data(R"({"state":["terminated"]})", data));
  EXPECT_TRUE(match_data(R"({"state":["running","terminated"]})", data));
  EXPECT_FALSE(match_data(R"({"state":["running"]})", data));
  EXPECT_FALSE(match_data(R"({"State":["terminated"]})", data)) << "names are case-sensitive";
  EXPECT_FALSE(match_data(R"({"state":["terminated"],"zone":["a"]})", data));
}

TEST(Filter, ComparesPlainValuesByTypeAndValue) {
  constexpr Case cases[] = {
      {R"({"a":[""]})", R"({"a":""})", true},
      {R"({"a":[""]})", R"({"a":" "})", false},
      {R"({"a":[null]})", R"({"a":null})", true},
      {R"({"a":[null]})", R"({})", false},
      {R"({"a":[null]})", R"({"a":"null"})", false},
      {R"({"a":[""]})", R"({"a":null})", false},
      {R"({"a":[true]})", R"({"a":true})", true},
      {R"({"a":[true]})", R"({"a":"true"})", false},
      {R"({"a":[true]})", R"({"a":false})", false},
      {R"({"a":[300]})", R"({"a":300.0})", true},
      {R"({"a":[300]})", R"({"a":3.0e2})", true},
      {R"({"a":[300]})", R"({"a":"300"})", false},
      {R"({"a":["300"]})", R"({"a":300})", false},
      {R"({"a":[9007199254740993]})", R"({"a":9007199254740992})", false},
      {R"({"a":[0.1,7,-3]})", R"({"a":-3.0})", true},
      {R"({"a":["ä"]})", R"({"a":"\u00e4"})", true},
      {R"({"a":["\u00e4"]})", R"({"a":"ä"})", true},
      {R"({"a":["x"]})", R"({"\u0061":"x"})", true},
      {R"({"a":["z","m","a"]})", R"({"a":"m"})", true},
  };
  check(cases);
}

TEST(Filter, MatchesPrefixesAndSuffixes) {
  constexpr Case cases[] = {
      {R"({"time":[{"prefix":"2017-10-02"}]})", R"({"time":"2017-10-02T18:43:48Z"})", true},
      {R"({"time":[{"prefix":"2017-10-02"}]})", R"({"time":"2017-10-03T18:43:48Z"})", false},
      {R"({"service":[{"prefix":{"equals-ignore-case":"EventB"}}]})",
       R"({"service":"EVENTBridge"})", true},
      {R"({"service":[{"prefix":"EventB"}]})", R"({"service":"EVENTBridge"})", false},
      {R"({"FileName":[{"suffix":".png"}]})", R"({"FileName":"cat.png"})", true},
      {R"({"FileName":[{"suffix":".png"}]})", R"({"FileName":"cat.PNG"})", false},
      {R"({"FileName":[{"suffix":{"equals-ignore-case":".png"}}]})", R"({"FileName":"cat.PNG"})",
       true},
      {R"({"a":[{"prefix":""}]})", R"({"a":"anything"})", true},
      {R"({"a":[{"prefix":""}]})", R"({"a":1})", false},
      {R"({"a":[{"prefix":"1"}]})", R"({"a":12})", false},
      {R"({"a":[{"suffix":"abc"}]})", R"({"a":"bc"})", false},
      {R"({"a":[{"prefix":"\n"}]})", R"({"a":"\nx"})", true},
  };
  check(cases);
}

TEST(Filter, MatchesAnythingBut) {
  constexpr Case cases[] = {
      {R"({"state":[{"anything-but":"initializing"}]})", R"({"state":"running"})", true},
      {R"({"state":[{"anything-but":"initializing"}]})", R"({"state":"initializing"})", false},
      {R"({"state":[{"anything-but":"initializing"}]})", R"({})", false},
      {R"({"x-limit":[{"anything-but":123}]})", R"({"x-limit":123.0})", false},
      {R"({"x-limit":[{"anything-but":123}]})", R"({"x-limit":"123"})", true},
      {R"({"state":[{"anything-but":["stopped","overloaded"]}]})", R"({"state":"overloaded"})",
       false},
      {R"({"state":[{"anything-but":["stopped","overloaded"]}]})", R"({"state":"started"})", true},
      {R"({"x-limit":[{"anything-but":[100,200,300]}]})", R"({"x-limit":200})", false},
      {R"({"x-limit":[{"anything-but":[100,200,300]}]})", R"({"x-limit":250})", true},
      {R"({"state":[{"anything-but":{"equals-ignore-case":["initializing","stopped"]}}]})",
       R"({"state":"STOPPED"})", false},
      {R"({"state":[{"anything-but":{"equals-ignore-case":["initializing","stopped"]}}]})",
       R"({"state":"going"})", true},
      {R"({"state":[{"anything-but":{"prefix":"init"}}]})", R"({"state":"initializing"})", false},
      {R"({"state":[{"anything-but":{"prefix":["init","error"]}}]})", R"({"state":"error-1"})",
       false},
      {R"({"state":[{"anything-but":{"prefix":["init","error"]}}]})", R"({"state":7})", true},
      {R"({"FileName":[{"anything-but":{"suffix":[".txt",".rtf"]}}]})", R"({"FileName":"a.rtf"})",
       false},
      {R"({"FilePath":[{"anything-but":{"wildcard":"*/lib/*"}}]})", R"({"FilePath":"/usr/lib/x"})",
       false},
      {R"({"FilePath":[{"anything-but":{"wildcard":["*/lib/*","*/bin/*"]}}]})",
       R"({"FilePath":"/usr/etc/x"})", true},
      {R"({"a":[{"anything-but":null}]})", R"({"a":null})", false},
      {R"({"a":[{"anything-but":null}]})", R"({"a":0})", true},
  };
  check(cases);
}

TEST(Filter, MatchesNumbersInRanges) {
  constexpr std::string_view all =
      R"({"c-count":[{"numeric":[">",0,"<=",5]}],"d-count":[{"numeric":["<",10]}],)"
      R"("x-limit":[{"numeric":["=",3.018e2]}]})";
  EXPECT_TRUE(match_data(all, R"({"c-count":5,"d-count":9.99,"x-limit":301.8})"));
  EXPECT_FALSE(match_data(all, R"({"c-count":0,"d-count":9.99,"x-limit":301.8})"));
  EXPECT_FALSE(match_data(all, R"({"c-count":5.000001,"d-count":9,"x-limit":301.8})"));
  EXPECT_FALSE(match_data(all, R"({"c-count":1,"d-count":10,"x-limit":301.8})"));
  EXPECT_FALSE(match_data(all, R"({"c-count":1,"d-count":1,"x-limit":301.80001})"));
  constexpr Case cases[] = {
      {R"({"a":[{"numeric":[">=",100]}]})", R"({"a":1e2})", true},
      {R"({"a":[{"numeric":[">",100]}]})", R"({"a":100})", false},
      {R"({"a":[{"numeric":["<",5,">",0]}]})", R"({"a":1})", true},
      {R"({"a":[{"numeric":[">",0]}]})", R"({"a":"1"})", false},
      {R"({"a":[{"numeric":[">",0]}]})", R"({"a":true})", false},
      {R"({"a":[{"numeric":["<=",-0.5]}]})", R"({"a":-5e-1})", true},
      {R"({"a":[{"numeric":[">",9007199254740992]}]})", R"({"a":9007199254740993})", true},
      {R"({"a":[{"numeric":["=",0]}]})", R"({"a":-0})", true},
  };
  check(cases);
}

TEST(Filter, MatchesCaseAndWildcardsAndAddresses) {
  constexpr Case cases[] = {
      {R"({"t":[{"equals-ignore-case":"ec2 instance"}]})", R"({"t":"EC2 Instance"})", true},
      {R"({"t":[{"equals-ignore-case":"ec2"}]})", R"({"t":"EC2 Instance"})", false},
      {R"({"EventBusArn":[{"wildcard":"arn:aws:events:us-east-1:*:event-bus/*"}]})",
       R"({"EventBusArn":"arn:aws:events:us-east-1:1234:event-bus/mine"})", true},
      {R"({"EventBusArn":[{"wildcard":"arn:aws:events:us-east-1:*:event-bus/*"}]})",
       R"({"EventBusArn":"arn:aws:events:us-west-1:1234:event-bus/mine"})", false},
      {R"({"a":[{"wildcard":"\\**"}]})", R"({"a":"*x"})", true},
      {R"({"a":[{"wildcard":"*"}]})", R"({"a":5})", false},
      {R"({"ip":[{"cidr":"10.0.0.0/24"}]})", R"({"ip":"10.0.0.255"})", true},
      {R"({"ip":[{"cidr":"10.0.0.0/24"}]})", R"({"ip":"10.0.1.0"})", false},
      {R"({"ip":[{"cidr":"2001:db8::/32"}]})", R"({"ip":"2001:db8::1"})", true},
      {R"({"ip":[{"cidr":"10.0.0.0/24"}]})", R"({"ip":"no address"})", false},
  };
  check(cases);
}

TEST(Filter, ExistsTestsForValues) {
  constexpr Case cases[] = {
      {R"({"state":[{"exists":true}]})", R"({"state":"running"})", true},
      {R"({"state":[{"exists":true}]})", R"({"state":null})", true},
      {R"({"state":[{"exists":true}]})", R"({"other":1})", false},
      {R"({"state":[{"exists":true}]})", R"({"state":{"a":1}})", false},
      {R"({"state":[{"exists":true}]})", R"({"state":[]})", false},
      {R"({"state":[{"exists":true}]})", R"({"state":[[],[0]]})", true},
      {R"({"state":[{"exists":false}]})", R"({"other":1})", true},
      {R"({"state":[{"exists":false}]})", R"({"state":null})", false},
      {R"({"state":[{"exists":false}]})", R"({"state":[]})", true},
      {R"({"state":[{"exists":false},"x"]})", R"({"state":"x"})", true},
      {R"({"state":[{"exists":false},"x"]})", R"({})", true},
      {R"({"state":[{"exists":false},"x"]})", R"({"state":"y"})", false},
      {R"({"a":{"b":[{"exists":false}]}})", R"({})", true},
      {R"({"a":{"b":[{"exists":false}]}})", R"({"a":5})", true},
      {R"({"a":{"b":[{"exists":false}]}})", R"({"a":{}})", true},
      {R"({"a":{"b":[{"exists":false}]}})", R"({"a":{"b":1}})", false},
      {R"({"a":{"b":[{"exists":false}],"c":[1]}})", R"({})", false},
      {R"({"a":{"b":[{"exists":false}]}})", R"("no object at all")", true},
  };
  check(cases);
}

TEST(Filter, MatchesIfAnyElementOfAnArrayMatches) {
  constexpr Case cases[] = {
      {R"({"tags":["b"]})", R"({"tags":["a","b"]})", true},
      {R"({"tags":["c"]})", R"({"tags":["a","b"]})", false},
      {R"({"tags":["b"]})", R"({"tags":[["a"],[["b"]]]})", true},
      {R"({"tags":[{"anything-but":"a"}]})", R"({"tags":["a","b"]})", true},
      {R"({"tags":[{"anything-but":"a"}]})", R"({"tags":["a","a"]})", false},
      {R"({"tags":[{"anything-but":"a"}]})", R"({"tags":[]})", false},
      {R"({"items":{"sku":["x"]}})", R"({"items":[{"sku":"y"},{"sku":"x"}]})", true},
      {R"({"items":{"sku":["x"],"n":[2]}})", R"({"items":[{"sku":"x","n":1},{"sku":"y","n":2}]})",
       false},
      {R"({"items":{"sku":["x"],"n":[2]}})", R"({"items":[{"sku":"y","n":1},{"sku":"x","n":2}]})",
       true},
      {R"({"items":{"sku":["x"],"n":[2]}})", R"({"items":[{"sku":"x","n":2},{"sku":"y","n":1}]})",
       true},
      {R"({"items":{"n":[{"exists":false}]}})", R"({"items":[{"n":1},{"m":1}]})", true},
      {R"({"items":{"n":[{"exists":false}]}})", R"({"items":[{"n":1},{"n":2}]})", false},
      {R"({"items":{"n":[{"exists":false}]}})", R"({"items":[]})", true},
      {R"({"items":{"p":{"q":[1],"r":[2]}}})",
       R"({"items":[{"p":[{"q":1},{"r":2}]},{"p":[{"q":1,"r":2}]}]})", true},
      {R"({"items":{"p":{"q":[1],"r":[2]}}})",
       R"({"items":[{"p":[{"q":1},{"r":2}]},{"p":{"q":1,"r":3}}]})", false},
  };
  check(cases);
}

TEST(Filter, OrMatchesIfOneAlternativeMatches) {
  constexpr std::string_view documented =
      R"({"$or":[{"c-count":[{"numeric":[">",0,"<=",5]}]},{"d-count":[{"numeric":["<",10]}]},)"
      R"({"x-limit":[{"numeric":["=",3.018e2]}]}]})";
  EXPECT_TRUE(match_data(documented, R"({"c-count":1,"d-count":99})"));
  EXPECT_TRUE(match_data(documented, R"({"c-count":9,"d-count":1})"));
  EXPECT_TRUE(match_data(documented, R"({"x-limit":301.8})"));
  EXPECT_FALSE(match_data(documented, R"({"c-count":9,"d-count":99,"x-limit":0})"));
  constexpr Case cases[] = {
      {R"({"z":[1],"$or":[{"a":[1]},{"b":[2]}]})", R"({"z":1,"b":2})", true},
      {R"({"z":[1],"$or":[{"a":[1]},{"b":[2]}]})", R"({"z":2,"b":2})", false},
      {R"({"$or":[{"a":[1],"b":[1]},{"a":[2],"b":[2]}]})", R"({"a":1,"b":2})", false},
      {R"({"$or":[{"a":[1],"b":[1]},{"a":[2],"b":[2]}]})", R"({"a":2,"b":2})", true},
      {R"({"$or":[{"a":{"b":[1]}},{"a":{"c":[1]}}]})", R"({"a":{"c":1}})", true},
      {R"({"$or":[{"a":{"b":[1]}},{"a":[7]}]})", R"({"a":7})", true},
      {R"({"$or":[{"a":[1]},{"$or":[{"b":[1]},{"c":[1]}]}]})", R"({"c":1})", true},
      {R"({"a":{"$or":[{"b":[1]},{"c":[{"exists":false}]}]}})", R"({})", true},
      {R"({"a":{"$or":[{"b":[1]},{"c":[1]}]}})", R"({"a":[{"b":2},{"c":1}]})", true},
  };
  check(cases);
}

TEST(Filter, MatchesEveryFieldOfAnEvent) {
  Event event;
  event.id = *EventId::parse("evt_01j0000000000000000000000a");
  event.tenant_id = "acme";
  event.type = "order.created";
  event.source = "shop";
  event.metadata = R"({"trace":"t1"})";
  event.data = "42";
  event.timestamp = *parse_rfc3339("2026-01-31T23:59:59.123Z");
  EXPECT_TRUE(match(R"({"id":["evt_01j0000000000000000000000a"]})", event));
  EXPECT_TRUE(match(R"({"tenant_id":["acme"],"source":[{"prefix":"sh"}]})", event));
  EXPECT_TRUE(match(R"({"type":[{"wildcard":"order.*"}],"metadata":{"trace":["t1"]}})", event));
  EXPECT_TRUE(match(R"({"timestamp":[{"prefix":"2026-01-31T"}]})", event));
  EXPECT_TRUE(match(R"({"data":[{"numeric":["=",42]}]})", event));
  EXPECT_TRUE(match(R"({"resource_id":[{"exists":false}]})", event));
  EXPECT_FALSE(match(R"({"resource_id":[{"exists":true}]})", event));
  EXPECT_TRUE(match(R"({"$or":[{"type":["x"]},{"data":[42]}]})", event));
  event.resource_id = "a\"b";
  EXPECT_TRUE(match(R"({"resource_id":["a\"b"]})", event));
  event.tenant_id.clear();
  EXPECT_TRUE(match(R"({"tenant_id":[{"exists":false}]})", event)) << "the default tenant";
}

TEST(Filter, ComparesManyValuesWithManyNumbersQuickly) {
  std::string numbers = "[2";
  for (int i = 0; i < 120'000; ++i) {
    numbers += ",2";
  }
  std::string pattern = R"({"a":[1)";
  for (int i = 0; i < 3'900; ++i) {
    pattern += ",1";
  }
  EXPECT_FALSE(match_data(pattern + "]}", R"({"a":)" + numbers + "]}"));
}

}  // namespace
}  // namespace postrider
