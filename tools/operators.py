# SPDX-License-Identifier: Apache-2.0
"""Writes the files that are generated from the list of operators, src/op/operators.def, and from their headers.

  tools/operators.py                    rewrites the includes of operators in include/sluice/sluice.hpp
  tools/operators.py BUILD              that, and docs/operators.md, the reference of all operators
  tools/operators.py [BUILD] --check    exits with 1 if one of them would change

`./dev operators` runs the first, builds the program and runs the second.

An operator's header begins with its contract: "NAME: purpose.", an example indented by two spaces, paragraphs, and labels
("Order:", "Errors:" …). What it takes are the members of NAME_arguments, each with its `///<` comment; those of `options` have names of their own.
`BUILD/sluice ops` lists the operators in their form of plan text, and other names that stand for calls of them.
What is a verb in C++ alone has its contract in the same form, in a header that CPP_VERBS names.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "operators.md"
UMBRELLA = ROOT / "include" / "sluice" / "sluice.hpp"
BLOCK = re.compile(r"(// Operators: [^\n]*\n)(.*?)(// End of operators\.\n)", re.S)
CPP_VERBS = {"write": "pipeline/write.hpp", "broadcast": "pipeline/broadcast.hpp", "at": "pipeline/one_element.hpp",
             "apply": "plan/apply.hpp"}
# How tests/docs/docs_test.py compiles the examples of these verbs; those of other verbs need a program around them.
CPP_BLOCKS = {"write": "```cpp", "at": "```cpp body", "apply": "```cpp body"}
# The headers of other names for operators, which `sluice ops` lists.
SPELLINGS = {"tap": "op/inspect.hpp"}
FUSED = "pipeline/fused.hpp"
LABELS = ["Shape", "Formats", "Shards", "Whole", "Resume", "Padded", "Patterns", "Streams", "Readers", "Order", "Ends", "Errors", "Cancel", "Thread", "Owns", "Units", "State", "Lost", "See"]
REQUIRED = {"count", "integer", "count_or_all", "function", "reader or function", "path", "text", "schema", "time_span", "stages"}
LABEL = re.compile(rf"({'|'.join(LABELS)}):\s+(.*)")
INTRODUCTION = """# Operators

*Written by `./dev operators` from the operators' headers; change those, not this page.*

A plan starts with a source; other operators follow after a bar. Required arguments come first. Options follow by name:
in C++ as a braced list (`shuffle(1000, {.seed = 7})`), in plan text as `shuffle(1000, seed=7)`. An option of type
*knob* may differ between a checkpoint and its resume: it changes speed, never elements. An operator marked *C++ only*
accepts a function that plan text cannot name unless the program registers one (`SLUICE_FUNCTION`).

Every call except `ignore_errors` also accepts two arguments by name: `on_error=stop` or `skip`, the policy for elements
that fail there, and with `on_error=skip` also `errors_max=N` (one more ends the run). In C++ they are written around
stages: `on_error(error_policy::skip, map(parse), {.errors_max = N})` ([errors.md](errors.md)).
"""
DEFAULTS_NOTE = """Unless a section says otherwise, a stage keeps the order of its input, ends with it, holds no elements besides the
present block, and yields the same elements in each run of one plan. *State* is what a position contains, and *Owns* is memory
besides the present block.
"""
# The groups of the page, in its order.
GROUPS = {
    "Sources: files": ["list_files", "csv", "jsonl", "lines", "tfrecord", "from_arrow", "load", "from_dataset_id", "parquet", "bagz", "array_record", "mds", "npy", "tar", "webdataset", "zip_members", "sql",
                       "fixed_length"],
    "Sources: numbers and memory": ["range", "counter", "random", "from_elements", "from_tensors", "from_tensor_slices", "generate",
                                    "from_channel"],
    "Rows": ["map", "filter", "flat_map", "interleave", "index_flat_map", "scan", "enumerate", "parse_example", "parse_sequence_example",
             "transform", "inspect"],
    "Choice and order": ["take", "skip", "take_while", "drop_while", "unique", "shard", "shuffle", "global_shuffle", "repeat",
                         "rejection_resample"],
    "Batches and windows": ["batch", "unbatch", "rebatch", "padded_batch", "ragged_batch", "sparse_batch", "batch_by_bytes",
                            "batch_by_tokens", "pack_sequences", "bucket_by_sequence_length", "window", "window_batch"],
    "Groups and totals": ["group_by", "group_by_reducer", "group_by_window", "top", "reduce", "count_elements", "get_single_element"],
    "Several inputs": ["zip", "concatenate", "merge", "round_robin", "sample_from_datasets", "choose_from_datasets", "weighted_flat_map"],
    "Speed, errors and sizes": ["prefetch", "cache", "snapshot", "distribute", "sleep", "rate_limit", "ignore_errors", "with_options", "assert_cardinality",
                                "pad_to_cardinality"],
}
OTHER_NAMES, CPP_ONLY = "Other names", "Verbs only in C++"


def names():
    """The operators, in the order of operators.def."""
    return re.findall(r"^SLUICE_OPERATOR\((\w+)\)$", (ROOT / "src/op/operators.def").read_text(), re.M)


def source_of(name):
    """A file, or the one of that name in a folder of that name."""
    alone = ROOT / "src/op" / f"{name}.cpp"
    return alone if alone.exists() else ROOT / "src/op" / name / f"{name}.cpp"


def umbrella():
    """sluice.hpp with the operators' headers between its marks."""
    includes = "".join(f'#include "sluice/op/{name}.hpp"\n' for name in sorted(names()))
    return BLOCK.sub(lambda m: m[1] + includes + m[3], UMBRELLA.read_text())


def contract_of(text):
    lines = re.search(r"^// SPDX.*\n((?://.*\n)+)#pragma once", text, re.M).group(1).splitlines()
    return [line[2:].removeprefix(" ") for line in lines]


class operator:
    is_in_plans = True

    def __init__(self, name, doc, arguments, needs_program):
        self.name, self.doc, self.arguments, self.needs_program = name, doc, arguments, needs_program
        self.header = f"op/{name}.hpp"
        text = (ROOT / "include/sluice" / self.header).read_text()
        self.contract = contract_of(text)
        self.fields = fields_of(f"{name}_arguments", text)
        self.is_source = re.search(r"\.shape = op_info::(source|combine)", source_of(name).read_text()) is not None


def fields_of(struct, text):
    """[(name, type, default, comment)]: its members, and those of the members `options` and `built` in their place."""
    body = re.search(rf"struct {struct} {{\n(.*?)^}};", text, re.S | re.M)
    fields = []
    for member in parse_members(joined(body.group(1))) if body else []:
        name, options = member[:2]
        if name not in ("options", "built"):
            fields.append(member)
            continue
        shared = ROOT / "include/sluice/engine" / f"{options}.hpp"  # of several operators: map_options
        if not shared.exists():
            shared = ROOT / "include/sluice/op" / f"{options.removesuffix('_options')}.hpp"  # of another one: distribute_options
        where = text if f"struct {options} " in text else shared.read_text()
        fields += fields_of(options, where)
    return fields


def type_of(spelled):
    """Returns a type's name in the table: its own, or the user's word for a function_arg<…>."""
    if spelled.startswith("std::optional<"):
        return "optional " + type_of(spelled.removeprefix("std::optional<").removesuffix(">"))
    if bounded := re.fullmatch(r"(count|knob)_up_to<([\d']+)>", spelled):
        return f"{bounded[1]}, at most {int(bounded[2].replace(chr(39), '')):,}"
    name = spelled.split("<")[0].split("::")[-1]
    return {"function_arg": "function", "inner_plan": "reader or function", "file_path": "path", "later_text": "text",
            "required_text": "text", "stage_plan": "stages", "window_size_function": "function of the key",
            "wait_time": "span of time", "element_sizes": "[before, after]", "example_schema_arg": "schema",
            "context_schema_arg": "features", "sequence_schema_arg": "feature lists"}.get(name, name)


def joined(body):
    """Puts each member on its own line, with the comment after it."""
    return re.sub(r"^( *\w[^/;\n]*)\n +([^/;\n]*;)", r"\1 \2", body, flags=re.M)


def default_of(kind, spelled):
    """Returns a default in plan text: for {} the value that the type has, for an enumerator its name."""
    if spelled != "{}":
        return spelled.split("::")[-1]
    if kind == "text" or kind == "string":
        return '""'
    return "[]" if kind == "vector" else "nothing" if kind.startswith("optional ") or kind == "span of time" else spelled


def parse_members(body):
    """[(name, type, default, comment)]"""
    found, above = [], []
    for line in body.splitlines():
        if line.lstrip().startswith("using ") or "///< not an argument" in line:
            continue
        note = re.match(r"\s*///(?!<)\s*(.*)", line)
        if note:
            above.append(note.group(1))
            continue
        member = re.match(r"\s*(\w[\w:<>,' ]*?)\s+(\w+)\s*(?:=\s*(.*?)|(\{\}));\s*(?:///<\s*(.*))?$", line)
        if member:
            kind, name, value, braces, comment = member.groups()
            default = braces or value
            found.append([name, type_of(kind), default, " ".join(above + [comment or ""]).strip()])
            above = []
        elif found and (more := re.match(r"\s*///<\s*(.*)", line)):
            found[-1][3] += " " + more.group(1)
    return found


def listed(build):
    """Parses `sluice ops`: two lines for each operator, and a line for each other name."""
    said = subprocess.run([str(build / "sluice"), "ops"], capture_output=True, text=True, check=True).stdout
    pairs = re.findall(r"^(\w+) +(.*)\n +\((.*)\)( +C\+\+)?$", said, re.M)
    others = [spelling(*found) for found in re.findall(r"^  (\w+)\((.*?)\) is (.*)$", said, re.M)]
    return [operator(name, doc, arguments, bool(mark)) for name, doc, arguments, mark in pairs], others


# The first lines of blocks that are plan text, not C++.
PLAN_TEXT = re.compile(r'parse_(sequence_)?example\(|list_files\("out/part')


def blocks(contract):
    """The contract as ('code' | 'text' | label, lines)."""
    parts, at = [], None
    for line in contract:
        label = LABEL.match(line)
        if not line.strip():
            at = None
        elif line.startswith("  ") and (at is None or at[0] == "code"):
            if at is None:
                at = ("code", [])
                parts.append(at)
            at[1].append(line[2:])
        elif label:
            at = (label.group(1), [label.group(2)])
            parts.append(at)
        elif (item := re.match(r"  (\w+) {2,}(.*)", line)) and at is not None and at[0] in ("text", "item"):
            at = ("item", [f"`{item.group(1)}`: {item.group(2)}"])
            parts.append(at)
        elif at is None or at[0] == "code" or (at[0] == "item" and not line.startswith("  ")):
            at = ("text", [line])
            parts.append(at)
        else:
            at[1].append(line.strip())
    return parts


def in_markdown(text):
    """Stars and angle brackets as themselves, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*<])", r"\\\1", p) for p in parts)


def section(op):
    out = [f"### {op.name}", ""]
    first, *rest = blocks(op.contract)
    purpose = " ".join(first[1]).split(": ", 1)[1].strip()
    out += [purpose[0].upper() + purpose[1:], ""]
    text = f"{op.name}({op.arguments})" if op.arguments or op.is_source else op.name
    mark = " · *C++ only*" if op.needs_program else ""
    shown = f"`{text}`" if op.is_in_plans else "A verb only in C++"
    out += [f"{shown}{mark} · [header](../include/sluice/{op.header})", ""]
    labels = []
    for kind, lines in rest:
        if kind == "code" and PLAN_TEXT.match(lines[0]):
            out += ["```", *lines, "```", ""]
        elif kind == "code" and not op.is_in_plans:
            out += [CPP_BLOCKS.get(op.name, "```c++"), *lines, "```", ""]
        elif kind == "code":
            out += ["```cpp example", *lines, "```", ""]
        elif kind == "text":
            out += [in_markdown(" ".join(lines)), ""]
        elif kind == "item":
            if out[-1] == "" and out[-2].startswith("- "):
                out.pop()
            out += ["- " + in_markdown(" ".join(lines)), ""]
        else:
            labels.append(f"- **{kind}**: {in_markdown(' '.join(lines))}")
    if op.is_in_plans and determinism(op) != "yes":
        labels.append(f"- **Deterministic**: {determinism(op)}")
    out += labels + ([""] if labels else [])
    if op.fields:
        out += ["Arguments:", ""]
    for name, kind, default, comment in op.fields:
        value = "required" if kind in REQUIRED and default == "{}" else f"default `{default_of(kind, default)}`"
        out.append(f"- `{name}` ({kind}, {value}){': ' + in_markdown(comment) if comment else ''}")
    if op.fields:
        out.append("")
    return out


class cpp_verb:
    """A function that is no operator: it runs plans, or builds one."""
    is_in_plans = is_source = needs_program = False
    fields, arguments = [], ""

    def __init__(self, name, header):
        self.name, self.header = name, header
        self.contract = contract_of((ROOT / "include/sluice" / header).read_text())
        self.doc = " ".join(blocks(self.contract)[0][1]).split(": ", 1)[1].rstrip(".")


class spelling:
    """A name that stands for calls of operators."""
    def __init__(self, name, arguments, calls):
        self.name, self.arguments, self.calls = name, arguments, calls
        self.header = SPELLINGS.get(name, FUSED)

    def section(self):
        of = " and ".join(f"[{name}](#{name})" for name in re.findall(r"(\w+)\(", self.calls))
        return [f"### {self.name}", "", f"Another name: `{self.name}({self.arguments})` stands for `{self.calls}`, which plans print. Its contract is that of {of}.",
                "", f"[header](../include/sluice/{self.header})", ""]

    def line(self):
        return f"- [{self.name}](#{self.name}): stands for `{self.calls}`"


# The determinism of operators whose arguments do not show it.
DETERMINISM = {"merge": "no: in order of arrival", "from_channel": "in order of the pushes", "from_elements": "yes", "batch": "yes, without timeout",
               "flat_map": "if its function is", "interleave": "if its function is, unless order=sloppy"}


def determinism(op):
    if op.name in DETERMINISM:
        return DETERMINISM[op.name]
    names = {f[0] for f in op.fields}
    said = ["if its function is"] if any(kind == "function" for _, kind, *_ in op.fields) else []
    if "order" in names:
        said.append("unless order=sloppy")
    if "seed" in names:
        said.append("by seed")
    return ", ".join(said) or "yes"


def line(op):
    doc = op.doc[0].lower() + op.doc[1:] if op.doc[:2].istitle() else op.doc
    return f"- [{op.name}](#{op.name}): {in_markdown(doc)}"


def grouped(ops):
    """[(title, operators)]. A build may lack some operators."""
    known = {op.name: op for op in ops}
    groups = {title: [known[name] for name in names if name in known] for title, names in GROUPS.items()}
    for op in ops:
        if not any(op.name in names for names in GROUPS.values()):
            sys.exit(f"{op.name} is in no group of docs/operators.md: add it to GROUPS in tools/operators.py")
    return list(groups.items())


def page(build):
    ops, others = listed(build)
    verbs = [cpp_verb(name, header) for name, header in CPP_VERBS.items()]
    groups = grouped(ops)
    out = [INTRODUCTION, DEFAULTS_NOTE, "## All verbs", ""]
    for title, members in [*groups, (OTHER_NAMES, others), (CPP_ONLY, verbs)]:
        out += [f"**{title}**", ""]
        out += [one.line() if isinstance(one, spelling) else line(one) for one in members] + [""]
    for title, members in [*groups, (CPP_ONLY, verbs)]:
        out += [f"## {title}", ""]
        for op in members:
            out += section(op)
    out += [f"## {OTHER_NAMES}", ""]
    for other in others:
        out += other.section()
    return "\n".join(out).rstrip() + "\n"


def main():
    builds = [a for a in sys.argv[1:] if a != "--check"]
    written = {UMBRELLA: umbrella()}
    if builds:
        written[PAGE] = page(pathlib.Path(builds[0]))
    stale = [path for path, text in written.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date with src/op/operators.def and the headers: run ./dev operators")
        return 1 if stale else 0
    for path in stale:
        path.write_text(written[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
