// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>

#include <CLI/CLI.hpp>

#include "cli/reports/description.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

/// Escapes text: a minus does not become a hyphen, and no line begins with a request of roff.
std::string escaped(std::string_view text) {
  std::string out = absl::StrReplaceAll(absl::string_view(text.data(), text.size()), {{"\\", "\\e"}, {"-", "\\-"}});
  out = absl::StrReplaceAll(out, {{"\n.", "\n\\&."}, {"\n'", "\n\\&'"}});
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

void add_options(const CLI::App& verb, std::string& out) {
  for (const CLI::Option* o : verb.get_options()) {
    if (o->get_name() == "--help" || o->get_description().empty()) continue;
    std::string value =
        o->get_items_expected_max() > 0 && !o->get_positional() ? " \\fI" + escaped(o->get_type_name()) + "\\fR" : "";
    std::string fallback = o->get_default_str().empty() ? "" : " (" + o->get_default_str() + ")";
    absl::StrAppend(&out, ".TP\n\\fB", escaped(o->get_name(false, true)), "\\fR", value, "\n",
                    escaped(o->get_description() + fallback), "\n");
  }
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
  std::string out =
      absl::StrCat(".TH SLUICE 1 \"\" \"sluice ", version, "\" \"User Commands\"\n",
                   ".SH NAME\nsluice \\- pipelines from files to ready elements\n",
                   ".SH SYNOPSIS\n.B sluice\n.I VERB\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n",
                   ".SH DESCRIPTION\nA plan is written as its stages, with bars between them:\n.PP\n.RS\n.nf\n",
                   escaped("tfrecord(\"a.tfrecord\") | shuffle(1000, seed=7) | batch(32)"),
                   "\n.fi\n.RE\n.PP\n\\fBsluice ops\\fR lists the operators.\n", ".SH VERBS\n");
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    absl::StrAppend(&out, ".SS ", escaped(verb->get_name()), "\n", escaped(verb->get_description()), "\n");
    add_options(*verb, out);
    if (!verb->get_footer().empty()) absl::StrAppend(&out, ".PP\n.nf\n", escaped(verb->get_footer()), "\n.fi\n");
  }
  absl::StrAppend(&out, ".SH STAGES\n");
  for (const op_info* op : operators())
    absl::StrAppend(&out, ".TP\n\\fB", escaped(op->name), "\\fR\n", escaped(op->doc), "\n");
  absl::StrAppend(
      &out,
      ".SH ENVIRONMENT\n"
      ".TP\n\\fBSLUICE_IO\\fR\nhow files are read: auto, uring or threads\n"
      ".TP\n\\fBSLUICE_PRIVATE_REDIRECTS\\fR\n1: servers with public addresses may redirect to private ones\n"
      ".TP\n\\fBCOLUMNS\\fR\nthe width of help and tables that are not printed on a terminal; 80 by default\n"
      ".TP\n\\fBNO_COLOR\\fR\nif it is set and not empty, output has no colors and no bold text\n"
      ".SH EXIT STATUS\n"
      ".TP\n0\nsuccess; a reader of the output that leaves early is no error\n"
      ".TP\n1\nthe data or a file failed: damage, a file that does not exist, a full disk, an element that a stage "
      "refuses\n"
      ".TP\n2\nthe arguments are wrong: an option, a plan, a format that is not read or written\n"
      ".TP\n75\na server did not answer, or another process writes the file: the same command may succeed later\n"
      ".TP\n128+n\nended by signal n: 129 hung up (the terminal was closed), 130 interrupted, 143 terminated; a run's "
      "output and checkpoint contain the elements before\n"
      ".PP\nOf several errors, 1 wins over 2, and 2 over 75.\n");
  return out;
}

}  // namespace sluice::lib::cli
