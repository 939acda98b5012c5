// The plugin boundary: what does not fit is refused with a sentence, and leaves nothing behind.
#include <rewright/operator/operator.h>
#include <rewright/optimize/search.h>
#include <rewright/plugin/plugin.h>
#include <rewright/verify/verifier.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace rewright {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kOperators = std::string(REWRIGHT_BUILD_DIR) + "/lib/rewright/operators";

std::string bad(const std::string& name) { return std::string(BAD_PLUGINS) + "/" + name + ".so"; }

/// The sentence that loading `file` gives, "" if it loads.
std::string sentence(Registry& registry, const std::string& file) {
  const Status status = registry.load(file);
  return status ? std::string() : status.error().message;
}
std::string sentence(const std::string& name) {
  Registry registry;
  return sentence(registry, bad(name));
}

std::string canonical(const std::string& file) { return std::filesystem::weakly_canonical(file).string(); }

TEST(Loader, LoadsAPluginAndSaysWhatItProvides) {
  Registry registry;
  ASSERT_EQ(sentence(registry, kOperators + "/relu.so"), "");
  ASSERT_EQ(registry.plugins().size(), 1U);
  const LoadedPlugin& plugin = registry.plugins()[0];
  EXPECT_EQ(plugin.name, "operator.relu");
  EXPECT_EQ(plugin.provides, std::vector<std::string>{"operator relu"});
  ASSERT_NE(registry.find<Operator>("relu"), nullptr);
  EXPECT_EQ(registry.find<Operator>("relu")->name(), "relu");
}

TEST(Loader, LoadsOneFileOnce) {
  Registry registry;
  EXPECT_EQ(sentence(registry, kOperators + "/relu.so"), "");
  EXPECT_EQ(sentence(registry, kOperators + "/../operators/relu.so"), "");
  EXPECT_EQ(registry.plugins().size(), 1U);
}

TEST(Loader, RefusesAnotherAbiBeforeReadingAnythingElse) {
  EXPECT_THAT(sentence("wrong_abi"), AllOf(HasSubstr(canonical(bad("wrong_abi"))), HasSubstr("plugin ABI 999"),
                                           HasSubstr(fmt::format("has ABI {}", kPluginAbiVersion))));
}

TEST(Loader, RefusesAnObjectOfAnotherInterfaceWithoutCallingIt) {
  EXPECT_THAT(sentence("other_interface"), AllOf(HasSubstr("version 999 of the interface of kind 'search'"),
                                                 HasSubstr(fmt::format("has version {}", kAbiVersion<SearchStrategy>)),
                                                 HasSubstr("build it again")));
}

TEST(Loader, RefusesAShortDescriptor) {
  EXPECT_THAT(sentence("short_descriptor"), AllOf(HasSubstr("has 12 bytes"), HasSubstr("build it again")));
}

TEST(Loader, RefusesAnotherCompilerOrStandard) {
  EXPECT_THAT(sentence("other_standard"), AllOf(HasSubstr("'gcc7-cxx201402L'"), HasSubstr(REWRIGHT_BUILD_TAG)));
}

TEST(Loader, RefusesAnEntryPointWithoutADescriptor) {
  EXPECT_THAT(sentence("no_descriptor"), HasSubstr("returned no descriptor"));
}

TEST(Loader, RefusesADescriptorWithoutInit) { EXPECT_THAT(sentence("no_init"), HasSubstr("lacks a name, version")); }

TEST(Loader, RefusesASharedLibraryThatIsNoPlugin) {
  EXPECT_THAT(sentence("no_entry"), AllOf(HasSubstr("no symbol 'rewright_plugin'"), HasSubstr("REWRIGHT_PLUGIN")));
}

TEST(Loader, RefusesAFileThatIsNoLibrary) {
  const std::string file = ::testing::TempDir() + "not_a_library.so";
  std::ofstream(file) << "plain text";
  Registry registry;
  EXPECT_THAT(sentence(registry, file),
              AllOf(HasSubstr("not_a_library.so"), HasSubstr("cannot be loaded as a shared library")));
}

TEST(Loader, RefusesALibraryWithAMissingSymbol) {
  EXPECT_THAT(sentence("unresolved"), HasSubstr("a_symbol_that_nobody_has"));
}

TEST(Loader, RefusesAFileThatIsNotThere) {
  Registry registry;
  EXPECT_THAT(sentence(registry, "/nonexistent/plugin.so"),
              AllOf(HasSubstr("/nonexistent/plugin.so"), HasSubstr("no such file")));
}

TEST(Loader, RefusesWhatAnybodyMayReplace) {
  namespace fs = std::filesystem;
  const std::string folder = ::testing::TempDir() + "anybodys";
  const std::string file = folder + "/relu.so";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::copy(kOperators + "/relu.so", file);
  Registry registry;
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(sentence(registry, file),
              AllOf(HasSubstr("every user"), HasSubstr("write to it"), HasSubstr("chmod o-w")));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(sentence(registry, file), AllOf(HasSubstr("its folder"), HasSubstr("chmod o-w " + folder)));
  EXPECT_EQ(registry.find<Operator>("relu"), nullptr);
  fs::permissions(folder, fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_EQ(sentence(registry, file), "");
}

TEST(Loader, RefusesALinkThatAnybodyMayTurnElsewhere) {
  namespace fs = std::filesystem;
  const std::string folder = ::testing::TempDir() + "anybodys_links";
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::create_symlink(kOperators + "/relu.so", folder + "/link.so");
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  Registry registry;
  EXPECT_THAT(sentence(registry, folder + "/link.so"),
              AllOf(HasSubstr("its folder"), HasSubstr("chmod o-w " + folder)));
  EXPECT_EQ(registry.find<Operator>("relu"), nullptr);
}

TEST(Loader, TakesNothingFromFoldersInWhichAnybodyMayPutFiles) {
  namespace fs = std::filesystem;
  const std::string folder = ::testing::TempDir() + "anybodys_folder", inner = folder + "/inner";
  fs::remove_all(folder);
  fs::create_directories(inner);
  fs::create_symlink(kOperators + "/relu.so", inner + "/link.so");
  fs::permissions(inner, fs::perms::others_write | fs::perms::sticky_bit, fs::perm_options::add);
  Registry registry;
  const Status status = registry.load_folder(folder);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("every user"), HasSubstr("chmod o-w " + inner)));
  EXPECT_EQ(registry.find<Operator>("relu"), nullptr);
  fs::permissions(inner, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(registry.load_folder(folder));
  EXPECT_NE(registry.find<Operator>("relu"), nullptr);
}

TEST(Loader, TurnsExceptionsOfInitIntoASentence) {
  EXPECT_THAT(sentence("throwing_init"),
              AllOf(HasSubstr("bad.throwing_init"), HasSubstr("the licence server is on fire")));
  EXPECT_THAT(sentence("throwing_number"), HasSubstr("not a std::exception"));
  EXPECT_THAT(sentence("throwing_past_the_macro"), HasSubstr("threw an exception"));
}

TEST(Loader, TakesNothingOverFromAPluginThatFailsHalfWay) {
  Registry registry;
  EXPECT_THAT(sentence(registry, bad("half_registered")), HasSubstr("nothing of it was taken over"));
  EXPECT_EQ(registry.find<Operator>("half_registered"), nullptr);
  EXPECT_TRUE(registry.plugins().empty());
}

TEST(Loader, NamesBothFilesWhereAnObjectsNameIsTaken) {
  Registry registry;
  ASSERT_EQ(sentence(registry, kOperators + "/relu.so"), "");
  EXPECT_THAT(sentence(registry, bad("taken_name")),
              AllOf(HasSubstr(canonical(bad("taken_name"))), HasSubstr(canonical(kOperators + "/relu.so"))));
  EXPECT_EQ(registry.find<Operator>("fresh_name"), nullptr) << "the other object was taken over all the same";
}

TEST(Loader, NamesBothFilesWhereAPluginsNameIsTaken) {
  Registry registry;
  ASSERT_EQ(sentence(registry, kOperators + "/relu.so"), "");
  EXPECT_THAT(sentence(registry, bad("taken_plugin_name")), HasSubstr(canonical(kOperators + "/relu.so")));
}

TEST(Loader, RefusesOneNameTwiceInOnePlugin) {
  EXPECT_THAT(sentence("twice"), HasSubstr("registers the operator 'twice' twice"));
}

TEST(Loader, LoadsAFolderInSortedOrder) {
  Registry registry;
  ASSERT_TRUE(registry.load_folder(kOperators));
  ASSERT_GT(registry.plugins().size(), 10U);
  for (std::size_t i = 1; i < registry.plugins().size(); ++i) {
    EXPECT_LT(registry.plugins()[i - 1].file, registry.plugins()[i].file);
  }
}

TEST(Loader, FindsPluginsInTheEnvironmentsPath) {
  const std::string folder = ::testing::TempDir() + "plugin_path";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::filesystem::copy(bad("no_entry"), folder + "/no_entry.so");
  ::setenv("REWRIGHT_PLUGIN_PATH", ("/nonexistent:" + folder).c_str(), 1);
  Registry registry;
  const Status status = registry.load_default();
  ::unsetenv("REWRIGHT_PLUGIN_PATH");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("plugin_path/no_entry.so"));
}

TEST(Registry, SaysWhichNamesThereAre) {
  Registry registry;
  ASSERT_EQ(sentence(registry, kOperators + "/relu.so"), "");
  const auto missing = registry.get<Operator>("rellu");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, AllOf(HasSubstr("'rellu'"), HasSubstr("there are: relu")));
  EXPECT_THAT(registry.get<Verifier>("z3").error().message, HasSubstr("no plugin of this kind is loaded"));
}

TEST(Registry, TakesThePlaceOfAnother) {
  Registry registry, other;
  ASSERT_EQ(sentence(registry, kOperators + "/relu.so"), "");
  ASSERT_EQ(sentence(other, kOperators + "/matmul.so"), "");
  other = std::move(registry);
  EXPECT_TRUE(other.get<Operator>("relu"));
  EXPECT_FALSE(other.get<Operator>("matmul"));
}

}  // namespace
}  // namespace rewright
