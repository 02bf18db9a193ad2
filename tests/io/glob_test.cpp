// SPDX-License-Identifier: Apache-2.0
// Patterns: what they match, where matches may lie, and the same of folders on a disk.
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>

#include "io/each_backend.hpp"
#include "io/paths/glob.hpp"
#include "sluice/io/simulated_file_system.hpp"

namespace sluice::lib::glob_test {
using namespace sluice::lib::testing;
using detail::glob_pattern;

namespace {

using names = std::vector<std::string>;

bool matches(const char* pattern, const char* path) { return glob_pattern(pattern).matches(path); }

/// A pattern or a path of a few characters, so that they meet.
std::string drawn(std::mt19937_64& random, std::string_view characters, std::size_t most) {
  std::string text(random() % (most + 1), '\0');
  for (char& c : text) c = characters[random() % characters.size()];
  return text;
}

/// What fnmatch(3) has another opinion of, or none: sets over slashes or without an end, and escapes at the end of a name.
bool is_plain_shell(const std::string& pattern) {
  bool in_set = false;
  for (std::size_t i = 0; i != pattern.size(); ++i) {
    if (pattern[i] == '[' && in_set) return false;
    if (pattern[i] == '/' && in_set) return false;
    if (pattern[i] == '\\' && (i + 1 == pattern.size() || pattern[++i] == '/')) return false;
    else if (pattern[i] == '[') in_set = true;
    else if (pattern[i] == ']' && i != 0 && pattern[i - 1] != '[' && pattern[i - 1] != '!' && pattern[i - 1] != '^')
      in_set = false;
  }
  return !in_set;
}

bool has_empty_name(const std::string& path) {
  return path.empty() || path.front() == '/' || path.back() == '/' || path.find("//") != path.npos;
}

}  // namespace

TEST_CASE("folders without a name, which keys of stores may have, are taken in by ** alone") {
  CHECK(matches("a/**", "a//b"));
  CHECK(matches("a/**", "a/b//c"));
  CHECK(matches("a/**/c", "a//b/c"));
  CHECK(matches("**", "/a"));
  CHECK(matches("a//*", "a//b"));
  CHECK(glob_pattern("a/**").may_match_in("a//"));
  CHECK_FALSE(matches("a/*/b", "a//b"));
  CHECK_FALSE(matches("a/*", "a//b"));
  CHECK_FALSE(matches("a/**", "a/b/"));
}

TEST_CASE("a name's patterns") {
  CHECK(matches("a*c", "abbc"));
  CHECK(matches("a*c", "ac"));
  CHECK_FALSE(matches("a*c", "a/c"));
  CHECK(matches("a?c", "abc"));
  CHECK_FALSE(matches("a?c", "a/c"));
  CHECK(matches("[a-c]x", "bx"));
  CHECK_FALSE(matches("[!a-c]x", "bx"));
  CHECK(matches("[^a-c]x", "dx"));
  CHECK(matches("[]a]", "]"));
  CHECK(matches("[a-]", "-"));
  CHECK(matches("[[:digit:][:upper:]]", "7"));
  CHECK(matches("[[:digit:][:upper:]]", "Q"));
  CHECK_FALSE(matches("[[:digit:][:upper:]]", "q"));
  CHECK(matches("[a", "[a"));
  CHECK(matches("a\\*", "a*"));
  CHECK_FALSE(matches("a\\*", "ab"));
  CHECK(matches("[\\]]", "]"));
  CHECK(matches("a\\", "a\\"));
  CHECK(matches("a\\/b", "a/b"));
  CHECK_FALSE(matches("*", ".hidden"));
  CHECK_FALSE(matches("?hidden", ".hidden"));
  CHECK_FALSE(matches("[.]hidden", ".hidden"));
  CHECK(matches(".*", ".hidden"));
  CHECK_FALSE(matches("a/*", "a/"));
  CHECK(matches("\xc3*", "\xc3\xa4"));
}

TEST_CASE("two stars are any number of folders, and at the end every file in them") {
  for (const char* path : {"a/x", "a/b/x", "a/b/c/x"}) CHECK(matches("a/**/x", path));
  for (const char* path : {"x", "b/a/x", "a/x/y", "a/bx", "a/.b/x"}) CHECK_FALSE(matches("a/**/x", path));
  for (const char* path : {"x", "b/x", "b/c/x"}) CHECK(matches("**/x", path));
  CHECK(matches("**/x", "/x"));  // a key; no path that is told relative to a folder begins with a /
  for (const char* path : {"a/b", "a/b/c"}) CHECK(matches("a/**", path));
  for (const char* path : {"a", "a/", "ab", "a/.b", "a/.b/c", "a/b/"}) CHECK_FALSE(matches("a/**", path));
  CHECK(matches("a/**/b/**/c", "a/b/b/c"));
  CHECK(matches("a/**/**/c", "a/c"));
  CHECK(matches("a**b", "axxb"));
  CHECK_FALSE(matches("a**b", "ax/b"));
  CHECK(matches("a/***", "a/b"));
  CHECK_FALSE(matches("a/***", "a/b/c"));
}

TEST_CASE("the prefix of all matches, and the folders that may contain matches") {
  auto prefix = [](const char* pattern) { return glob_pattern(pattern).prefix(); };
  CHECK(prefix("data/train-*.csv") == "data/train-");
  CHECK(prefix("data/**/x") == "data/");
  CHECK(prefix("**") == "");
  CHECK(prefix("a\\*b/c?") == "a*b/c");
  CHECK(prefix("a/b") == "a/b");
  CHECK(glob_pattern("a\\*b/[c").is_plain());
  CHECK_FALSE(glob_pattern("a/[c]").is_plain());
  CHECK(glob_pattern("a/**/b").is_deep());
  CHECK_FALSE(glob_pattern("a/**b").is_deep());
  glob_pattern p("a/*/c/**/x-*");
  for (const char* folder : {"", "a/", "a/b/", "a/b/c/", "a/b/c/d/e/"}) CHECK(p.may_match_in(folder));
  for (const char* folder : {"b/", "a/b/d/", "a/.b/", "/a/", "a/b/c/.d/"}) CHECK_FALSE(p.may_match_in(folder));
}

TEST_CASE("patterns within names match as in fnmatch(3)") {
  std::mt19937_64 random(11);
  int compared = 0, matched = 0;
  for (int i = 0; i != 300'000; ++i) {
    const std::string pattern = drawn(random, "ab*?[]!-/.\\", 8), path = drawn(random, "ab]-/.!", 6);
    if (!is_plain_shell(pattern) || has_empty_name(path) || pattern.find("**") != pattern.npos) continue;
    CAPTURE(pattern, path);
    const bool is_match = ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
    ++compared;
    matched += is_match;
    if (glob_pattern(pattern).matches(path) != is_match) REQUIRE(glob_pattern(pattern).matches(path) == is_match);
  }
  CHECK(compared > 50'000);
  CHECK(matched > 500);
}

TEST_CASE("a match begins with the prefix, and each of its folders may have matches") {
  std::mt19937_64 random(12);
  int matched = 0;
  for (int i = 0; i != 200'000; ++i) {
    const glob_pattern pattern(drawn(random, "ab**?/.", 8));
    const std::string path = drawn(random, "ab/.", 7);
    if (!pattern.matches(path)) continue;
    ++matched;
    CAPTURE(pattern.text(), path);
    REQUIRE(path.starts_with(pattern.prefix()));
    for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
      REQUIRE(pattern.may_match_in(path.substr(0, slash + 1)));
  }
  CHECK(matched > 3'000);
}

TEST_CASE("a pattern of many stars takes time proportional to its length") {
  std::string stars, folders;
  for (int i = 0; i != 200; ++i) {
    stars += "a*";
    folders += "**/a/";
  }
  std::string as(20'000, 'a'), deep;
  for (int i = 0; i != 1'000; ++i) deep += "a/";
  CHECK_FALSE(glob_pattern(stars + "b").matches(as));
  CHECK_FALSE(glob_pattern(folders + "b").matches(deep + "c"));
  CHECK(glob_pattern(folders + "c").matches(deep + "c"));
}

namespace {

/// A tree of folders, files and links; its files' names, and which of its folders are links.
void make_tree(temporary_folder& folder) {
  for (const char* name : {"t/x", "t/a/x", "t/a/y", "t/a/b/x", "t/a-b/x", "t/a0/x", "t/.h/x", "t/c/.x", "t/c/d/e/f/x"})
    folder.write(name, "");
  namespace fs = std::filesystem;
  fs::create_directory_symlink("..", folder.path("t/a/up"));  // a circle
  fs::create_directory_symlink("a", folder.path("t/link"));   // to a folder
  fs::create_symlink("nothing", folder.path("t/dangling"));   // to nothing
  fs::create_symlink("self", folder.path("t/self"));          // to itself
  fs::create_directories(folder.path("t/empty/below"));
}

names listed(fixture& f, const std::string& pattern) {
  auto found = f.run(glob(*f.files, f.folder.path(pattern)));
  if (!found.ok()) return {found.why().to_string()};
  names all = *found;
  CHECK(std::is_sorted(all.begin(), all.end()));
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
  const std::size_t root = f.folder.path("").size();
  for (std::string& name : all) name.erase(0, root);
  return all;
}

/// What bash prints, line by line; folders that a ** at the end has found are left out, and what it says twice is said once.
names of_bash(const temporary_folder& folder, const std::string& pattern) {
  const std::string command = "cd '" + folder.path("") + "' && bash -c 'shopt -s globstar nullglob; for f in " +
                              pattern + "; do printf \"%s\\n\" \"$f\"; done'";
  FILE* said = ::popen(command.c_str(), "r");
  REQUIRE(said);
  std::string text;
  for (int c = std::fgetc(said); c != EOF; c = std::fgetc(said)) text += static_cast<char>(c);
  ::pclose(said);
  names all;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    all.push_back(text.substr(at, text.find('\n', at) - at));
  if (pattern.ends_with("/**") || pattern == "**")
    std::erase_if(all, [&](const std::string& name) {
      std::error_code unknown;
      return std::filesystem::is_directory(folder.path(name), unknown);
    });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

TEST_CASE("two stars find files at any depth, sorted by bytes, and no circle of links holds it up") {
  FOR_EACH_BACKEND(f);
  make_tree(f.folder);
  CHECK(listed(f, "t/**/x") ==
        names{"t/a-b/x", "t/a/b/x", "t/a/up/x", "t/a/x", "t/a0/x", "t/c/d/e/f/x", "t/link/x", "t/x"});
  CHECK(listed(f, "t/a/**") == names{"t/a/b/x", "t/a/x", "t/a/y"});
  CHECK(listed(f, "t/link/**") == names{"t/link/b/x", "t/link/x", "t/link/y"});  // what the pattern names is followed
  CHECK(listed(f, "t/*/b/x") == names{"t/a/b/x", "t/link/b/x"});
  CHECK(listed(f, "t/*/") == names{"t/a-b/", "t/a/", "t/a0/", "t/c/", "t/empty/", "t/link/"});
  CHECK(listed(f, "t/**/.x") == names{"t/c/.x"});
  CHECK(listed(f, "t/.*") == names{"t/.h"});
  CHECK(listed(f, "t/**/c/../x") == names{"t/a/up/c/../x", "t/c/../x"});
  CHECK(listed(f, "t/**/nothing/*")[0].ends_with("t/**/nothing/*\""));
  CHECK(listed(f, "t/x/**")[0].starts_with("not_found"));
  CHECK(listed(f, "t/self/*")[0].find("t/self") != std::string::npos);
}

TEST_CASE("patterns find the same names as bash") {
  fixture f(io_backend::threads);
  make_tree(f.folder);
  int some = 0;
  for (const char* pattern :
       {"t/*",       "t/**",      "**",          "./**/x",       "t/**/x",      "t/**/",     "t/*/*",   "t/*/**",
        "t/**/b/**", "t/**/*",    "t/**/d/**/x", "t/[ac]*",      "t/[!a]*/*",   "t/a?/x",    "t/.*/x",  "t/**/[xy]",
        "t/a/./x",   "t/a/../x",  "t/dang*",     "t/s*",         "t/**/e/**/x", "*/**/*0/x", "t/**//x", "**//x",
        "t//**///x", "**//**//x", "t/**//*",     "t/**/a/**//x", "t/c/**//",    "t//**"}) {
    CAPTURE(pattern);
    names ours = listed(f, pattern), theirs = of_bash(f.folder, pattern);
    CHECK(ours == theirs);
    some += !theirs.empty();
  }
  CHECK(some > 23);
  // A walk that goes round in a // names a path that no file system takes.
  CHECK(listed(f, "t/**/a//x") == names{"t/a//x", "t/a/up/a//x"});
}

TEST_CASE("a folder that cannot be read is named, wherever a walk meets it") {
  if (::geteuid() == 0) return;  // who may read everything
  FOR_EACH_BACKEND(f);
  f.folder.write("d/a/x", "");
  f.folder.write("d/closed/x", "");
  ::chmod(f.folder.path("d/closed").c_str(), 0);
  auto found = f.run(glob(*f.files, f.folder.path("d/**/x")));
  ::chmod(f.folder.path("d/closed").c_str(), 0755);
  REQUIRE_FALSE(found.ok());
  CHECK(found.why().code() == status_code::permission_denied);
  CHECK(found.why().where().file == f.folder.path("d/closed/"));
}

TEST_CASE("files in memory are found by the same patterns") {
  simulation world(3);
  simulated_file_system files(world);
  for (const char* name : {"t/x", "t/a/x", "t/a-b/x", "t/.h/x", "u/x"}) files.put(name, "");
  CHECK(sync_wait(world, glob(files, "t/**/x")) == names{"t/a-b/x", "t/a/x", "t/x"});
  CHECK(sync_wait(world, glob(files, "**")) == names{"t/a-b/x", "t/a/x", "t/x", "u/x"});
  CHECK(sync_wait(world, glob(files, "t/x")) == names{"t/x"});
}

}  // namespace sluice::lib::glob_test
