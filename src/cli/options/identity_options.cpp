// SPDX-License-Identifier: Apache-2.0
#include "cli/options/identity_options.hpp"

#include <absl/strings/str_cat.h>
#include <CLI/CLI.hpp>

#include <utility>

#include "cli/verbs.hpp"

namespace sluice::lib::cli {
namespace {

/// Reads --identity: POLICY, or PREFIX=POLICY.
void set_identities(const std::vector<std::string>& texts, iterate_options& o) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    prefix_identity one;
    if (equals != text.npos) one.prefix = text.substr(0, equals);
    if (!read_file_identity(std::string_view(text).substr(equals == text.npos ? 0 : equals + 1), one.identity))
      throw misuse(
          absl::StrCat("--identity expects size+mtime, etag, content, strict, or automatic, alone or as "
                       "PREFIX=POLICY, and is \"",
                       text, "\""));
    if (equals == text.npos) o.identity = one.identity;
    else o.identities.add(std::move(one));
  }
}

/// Reads --rebase: OLD=NEW, or OLD==NEW.
path_rebases rebases_of(const std::vector<std::string>& texts) {
  path_rebases moves;
  for (const std::string& text : texts) {
    const std::size_t two = text.find("=="), at = two != text.npos ? two : text.find('=');
    const std::size_t behind = at == text.npos ? at : at + (two != text.npos ? 2 : 1);
    const bool is_one =
        at != text.npos && (two != text.npos ? text.find("==", behind) : text.find('=', behind)) == text.npos;
    if (!is_one || at == 0 || behind == text.size())
      throw misuse(
          absl::StrCat("--rebase expects OLD=NEW, two folders (OLD==NEW if a path contains =), and is \"", text, "\""));
    moves.add({text.substr(0, at), text.substr(behind)});
  }
  return moves;
}

}  // namespace

void add_identity_options(CLI::App& verb, identity_arguments& to) {
  verb.add_option(
          "--identity", to.identities,
          "what makes an input file the one of the checkpoint: size+mtime, etag, content (a digest of its first "
          "and last 64 KiB), strict (also the inode), or automatic: etag for http, s3 and gs, size+mtime for "
          "others; content needs a checkpoint of a run with the same option; PREFIX=POLICY is for files whose "
          "paths begin with PREFIX; may be given several times")
      ->type_name("[PREFIX=]POLICY")
      ->allow_extra_args(false);
  verb.add_option("--rebase", to.rebases,
                  "the input files have moved from the folder OLD to NEW, and the plan names the new paths; . is the "
                  "folder of relative paths; OLD==NEW if a path contains =; may be given several times")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
}

void set_identity(const identity_arguments& a, iterate_options& o) {
  set_identities(a.identities, o);
  o.rebase = rebases_of(a.rebases);
}

}  // namespace sluice::lib::cli
