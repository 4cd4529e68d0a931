#include "core/base/letter_case.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace postrider {
namespace {

TEST(LetterCase, IsIgnoredInLatinGreekAndCyrillic) {
  EXPECT_TRUE(equals_ignoring_case("Alice", "aLICE"));
  EXPECT_TRUE(equals_ignoring_case("ÄÖÜ Ÿ Š Ł", "äöü ÿ š ł"));
  EXPECT_TRUE(equals_ignoring_case("ΑΘΉΝΑΣ", "αθήνας"));
  EXPECT_TRUE(equals_ignoring_case("МОСКВА ЁЖ", "москва ёж"));
}

TEST(LetterCase, DistinguishesDifferentLetters) {
  EXPECT_FALSE(equals_ignoring_case("a", "ab"));
  EXPECT_FALSE(equals_ignoring_case("@[`{", "`{@["));
  EXPECT_FALSE(equals_ignoring_case("ä", "ö"));
  EXPECT_FALSE(equals_ignoring_case("×", "÷")) << "signs between the letters";
  EXPECT_FALSE(equals_ignoring_case("ab", "ä"));
  EXPECT_FALSE(equals_ignoring_case("ß", "SS"));
  EXPECT_TRUE(equals_ignoring_case("", ""));
  EXPECT_TRUE(equals_ignoring_case("東京", "東京"));
}

struct Letters {
  std::string_view upper;
  std::string_view lower;
};

// Every two-byte letter of these alphabets whose counterpart in Unicode also has two bytes.
constexpr Letters alphabets[] = {
    // Latin
    {"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĲĴĶĹĻĽ"
     "ĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽ",
     "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĳĵķĺļľ"
     "ŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷÿźżž"},
    // Latin Extended-B
    {"ƁƂƄƆƇƉƊƋƎƏƐƑƓƔƖƗƘƜƝƟƠƢƤƦƧƩƬƮƯƱƲƳƵƷƸƼǄǅǇǈǊǋǍǏǑǓǕǗǙǛǞǠǢǤǦǨǪǬǮǱ"
     "ǲǴǶǷǸǺǼǾȀȂȄȆȈȊȌȎȐȒȔȖȘȚȜȞȠȢȤȦȨȪȬȮȰȲȻȽɁɃɄɅɆɈɊɌɎ",
     "ɓƃƅɔƈɖɗƌǝəɛƒɠɣɩɨƙɯɲɵơƣƥʀƨʃƭʈưʊʋƴƶʒƹƽǆǆǉǉǌǌǎǐǒǔǖǘǚǜǟǡǣǥǧǩǫǭǯǳ"
     "ǳǵƕƿǹǻǽǿȁȃȅȇȉȋȍȏȑȓȕȗșțȝȟƞȣȥȧȩȫȭȯȱȳȼƚɂƀʉʌɇɉɋɍɏ"},
    // Greek
    {"ͰͲͶͿΆΈΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫςϏϘϚϜϞϠϢϤϦϨϪϬϮϴϷϹϺϽϾϿ",
     "ͱͳͷϳάέήίόύώαβγδεζηθικλμνξοπρστυφχψωϊϋσϗϙϛϝϟϡϣϥϧϩϫϭϯθϸϲϻͻͼͽ"},
    // Cyrillic
    {"ЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯѠѢѤѦѨѪѬѮѰѲѴѶ"
     "ѸѺѼѾҀҊҌҎҐҒҔҖҘҚҜҞҠҢҤҦҨҪҬҮҰҲҴҶҸҺҼҾӀӁӃӅӇӉӋӍӐӒӔӖӘӚӜӞӠӢӤӦӨӪӬӮӰӲӴӶ"
     "ӸӺӼӾԀԂԄԆԈԊԌԎԐԒԔԖԘԚԜԞԠԢԤԦԨԪԬԮ",
     "ѐёђѓєѕіїјљњћќѝўџабвгдежзийклмнопрстуфхцчшщъыьэюяѡѣѥѧѩѫѭѯѱѳѵѷ"
     "ѹѻѽѿҁҋҍҏґғҕҗҙқҝҟҡңҥҧҩҫҭүұҳҵҷҹһҽҿӏӂӄӆӈӊӌӎӑӓӕӗәӛӝӟӡӣӥӧөӫӭӯӱӳӵӷ"
     "ӹӻӽӿԁԃԅԇԉԋԍԏԑԓԕԗԙԛԝԟԡԣԥԧԩԫԭԯ"},
};

std::string two_bytes(std::uint32_t point) {
  return {static_cast<char>(0xC0 | point >> 6), static_cast<char>(0x80 | (point & 0x3F))};
}

std::uint32_t point_of(std::string_view letter) {
  return (static_cast<std::uint32_t>(letter[0]) & 0x1Fu) << 6 |
         (static_cast<std::uint32_t>(letter[1]) & 0x3Fu);
}

std::map<std::uint32_t, std::uint32_t> lower_by_upper() {
  std::map<std::uint32_t, std::uint32_t> lower;
  for (const Letters& letters : alphabets) {
    EXPECT_EQ(letters.upper.size(), letters.lower.size());
    for (std::size_t at = 0; at < letters.upper.size(); at += 2) {
      lower[point_of(letters.upper.substr(at))] = point_of(letters.lower.substr(at));
    }
  }
  return lower;
}

TEST(LetterCase, IsFoldedForExactlyTheListedLetters) {
  const std::map<std::uint32_t, std::uint32_t> lower = lower_by_upper();
  const auto fold = [&](std::uint32_t point) {
    const auto found = lower.find(point);
    return found == lower.end() ? point : found->second;
  };
  EXPECT_EQ(lower.size(), 403u);
  for (std::uint32_t a = 0x80; a < 0x800; ++a) {
    const std::string left = two_bytes(a);
    const std::uint32_t folded = fold(a);
    EXPECT_TRUE(equals_ignoring_case(left, two_bytes(folded))) << left;
    for (std::uint32_t b = a + 1; b < 0x800; ++b) {
      if (equals_ignoring_case(left, two_bytes(b)) != (folded == fold(b))) {
        ADD_FAILURE() << left << " and " << two_bytes(b);
      }
    }
  }
}

TEST(LetterCase, InAsciiIsFoldedForLettersOnly) {
  for (char a = 0; a >= 0 && a < 127; ++a) {
    for (char b = 0; b >= 0 && b < 127; ++b) {
      const bool letters =
          (a >= 'A' && a <= 'Z' && b == a + 32) || (b >= 'A' && b <= 'Z' && a == b + 32);
      EXPECT_EQ(equals_ignoring_case({&a, 1}, {&b, 1}), a == b || letters) << a << b;
    }
  }
}

TEST(LetterCase, IsNotFoldedAcrossLengthsOrInOtherAlphabets) {
  EXPECT_FALSE(equals_ignoring_case("\u0130x", "i\u0307")) << "the dotted capital I";
  EXPECT_FALSE(equals_ignoring_case("\u017f", "s")) << "the long s";
  EXPECT_FALSE(equals_ignoring_case("\u212a", "k")) << "the Kelvin sign";
  EXPECT_FALSE(equals_ignoring_case("\u0531", "\u0561")) << "Armenian";
  EXPECT_FALSE(equals_ignoring_case("\U00010400", "\U00010428")) << "Deseret, four bytes";
  EXPECT_TRUE(equals_ignoring_case("\U00010400A", "\U00010400a"));
}

TEST(LetterCase, IsComparedSafelyInTruncatedText) {
  EXPECT_TRUE(equals_ignoring_case("A\xC3", "a\xC3"));
  EXPECT_FALSE(equals_ignoring_case("\xC3", "\xC4"));
  EXPECT_FALSE(equals_ignoring_case("\xC3", "a"));
}

TEST(LetterCase, FoldedTextsAreEqualIfTheTextsAreEqualIgnoringCase) {
  constexpr std::string_view texts[] = {"",  "a", "A", "ab", "aB", "Ä", "ä", "Äb", "äB", "Σ",
                                        "ς", "σ", "Ж", "ж",  "ſ",  "s", "€", "😀", "İ",  "i",
                                        "[", "{", "ÿ", "Ÿ",  "ß",  "ẞ", "1", "÷",  "×",  "Ԯ"};
  for (const std::string_view a : texts) {
    EXPECT_EQ(fold_case(a).size(), a.size()) << a;
    for (const std::string_view b : texts) {
      EXPECT_EQ(fold_case(a) == fold_case(b), equals_ignoring_case(a, b)) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace postrider
