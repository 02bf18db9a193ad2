# SPDX-License-Identifier: Apache-2.0
"""What a compiler says to the usual mistakes: its first lines name what is wrong, in words of ours, on either compiler."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILERS = [c for c in ("clang++-19", "g++-12") if shutil.which(c)]
FLAGS = ["-std=c++20", "-fsyntax-only", "-DASIO_STANDALONE", "-DASIO_HAS_CO_AWAIT", "-I", str(ROOT / "include")]
PRELUDE = "#include <sluice/sluice.hpp>\nusing namespace sluice;\n"
LINES = 12          # that a reader sees before scrolling
AWAIT = "co_await is missing"

# What is wrong: (the program, words that stand in the first lines). Clang's first error line has all of them.
MISTAKES = {
    "an awaited element as a condition": ("task<> f(stream<int> s) { if (s.next()) {} co_return; }", [AWAIT]),
    "a loop without co_await": ("task<> f(stream<int> s) { while (auto x = s.next()) {} co_return; }", [AWAIT]),
    "an awaited element as a value": ("task<> f(stream<int> s) { int n = *s.next(); (void)n; co_return; }", [AWAIT]),
    "an attempt as a condition": ("task<> f(stream<int> s) { if (s.try_next()) {} co_return; }", [AWAIT]),
    "a task as its result": ("task<int> size(); task<> f() { int n = size(); (void)n; co_return; }", [AWAIT]),
    "a task as a condition": ("task<bool> there(); task<> f() { if (there()) {} co_return; }", [AWAIT]),
    "a member of a task's result":
        ("task<std::string> name(); task<> f() { auto n = name()->size(); (void)n; co_return; }", [AWAIT]),
    "a source after a bar": ("auto ds = range(3) | range(4);", ["a source stands first and takes no input", "long"]),
    "a source after a stage": ("auto ds = take(3) | range(4);", ["a source stands first and takes no input"]),
    "a reader after a bar": ("auto ds = range(3) | tfrecord;", ["a source takes no input: give it its path", "tfrecord_arguments"]),
    "map's function takes another type":
        ("auto ds = range(5) | map([](const std::string& s) { return s; });", ["map: the function must take the element", "long"]),
    "map's function returns nothing":
        ("auto ds = range(5) | map([](std::int64_t) {});", ["map: the function returns void", "long"]),
    "map's coroutine returns nothing":
        ("task<> log(std::int64_t); auto ds = range(5) | map(&log);", ["map: the function returns void", "long"]),
    "map by an expression whose values have no type":
        ('auto ds = range(5) | map(expr("it % 3"));', ["map: an expression needs the type of its values here", "expr<std::int64_t>", "long"]),
    "filter's function takes another type":
        ("auto ds = range(5) | filter([](const std::string& s) { return s.empty(); });",
         ["a predicate: the function must take const T& and return bool", "long"]),
    "inspect's function takes another type":
        ("auto ds = range(5) | inspect([](const std::string&) {});", ["inspect: the function must take const T&", "long"]),
    "inspect's function is awaited":
        ("task<> log(std::int64_t); auto ds = range(5) | inspect(&log);", ["inspect: the function cannot be awaited", "long"]),
    "apply's function takes another dataset":
        ("auto ds = range(5) | apply([](const dataset<std::string>& in) { return in; });", ["apply: the function must take the dataset", "long"]),
    "broadcast of elements that cannot be copied":
        ("std::vector<stream<std::unique_ptr<int>>> all(runtime& rt, dataset<std::unique_ptr<int>> ds) { return broadcast(ds, rt, 2); }",
         ["broadcast: each consumer gets a copy"]),
    "flat_map's function makes no dataset":
        ("auto ds = range(5) | flat_map([](std::int64_t x) { return x; });", ["must take the element and return a dataset", "long"]),
    "scan's state cannot be saved":
        ("auto ds = range(5) | scan(std::make_unique<int>(), [](auto&, std::int64_t x) { return x; });",
         ["scan: a checkpoint must be able to hold the state"]),
    "scan's function takes its state by value":
        ("auto ds = range(5) | scan([](std::int64_t sum, std::int64_t x) { return sum + x; });",
         ["scan: the function must take S& and the element", "long"]),
    "scan's function returns nothing":
        ("auto ds = range(5) | scan([](std::int64_t& sum, std::int64_t x) { sum += x; });", ["return the new element", "long"]),
    "reduce's function returns the state":
        ("auto ds = range(5) | reduce([](std::int64_t& sum, std::int64_t x) { return sum + x; });",
         ["reduce: the function must take S& and the element", "return nothing", "long"]),
    "reduce's second function takes something else":
        ("auto ds = range(5) | reduce(0, [](std::int64_t& sum, std::int64_t x) { sum += x; }, [](const std::string& s) { return s; });",
         ["reduce: the second function must take the state", "long"]),
    "reduce's second function takes something else, without an initial state":
        ("auto ds = range(5) | reduce([](std::int64_t& sum, std::int64_t x) { sum += x; }, [](const std::string& s) { return s; });",
         ["reduce: the second function must take the state", "long"]),
    "reduce's function with auto parameters stands first":
        ("auto ds = range(5) | reduce([](auto& sum, auto x) { sum += x; }, [](std::int64_t sum) { return sum; });",
         ["reduce: the initial state must convert to the state that the function changes", "no parameter of it is auto"]),
    "group_by_reducer's last function takes something else, without an initial state":
        ("auto ds = range(5) | group_by_reducer([](std::int64_t x) { return x; }, [](std::int64_t& sum, std::int64_t x) { sum += x; }, [](const std::string& s) { return s; });",
         ["group_by_reducer: the last function must take the state", "long"]),
    "group_by_reducer's key is a fraction":
        ("auto ds = range(5) | group_by_reducer([](std::int64_t x) { return x / 2.0; }, [](std::int64_t& sum, std::int64_t x) { sum += x; });",
         ["group_by_reducer: the first function must take const T& and return a key", "long"]),
    "group_by_reducer's function returns the state":
        ("auto ds = range(5) | group_by_reducer([](std::int64_t x) { return x; }, [](std::int64_t& sum, std::int64_t x) { return sum + x; });",
         ["group_by_reducer: the function must take S& and the element", "return nothing", "long"]),
    "group_by_reducer's states begin as something else":
        ("auto ds = range(5) | group_by_reducer([](std::int64_t x) { return x; }, [](std::int64_t x) { return std::to_string(x); }, [](std::int64_t& sum, std::int64_t x) { sum += x; });",
         ["group_by_reducer: the function of the key must return the state that f changes"]),
    "group_by_window's reduce is no stage":
        ("auto ds = range(5) | group_by_window([](std::int64_t x) { return x; }, [](std::int64_t x) { return x; }, 5);",
         ["group_by_window: reduce is a stage, as batch(5), or takes a dataset<T> and returns a dataset", "long"]),
    "group_by_window's size is of another key":
        ("auto ds = range(5) | group_by_window([](std::int64_t x) { return x; }, batch(5), [](const std::string& s) { return s.size(); });",
         ["group_by_window: the size is a number, or a function that takes the key and returns one", "long"]),
    "pack_sequences of numbers": ("auto ds = range(5) | pack_sequences(9);", ["pack_sequences: sequences are lists of whole numbers", "long"]),
    "sparse_batch of numbers": ("auto ds = range(5) | sparse_batch(2, {3});", ["sparse_batch: rows are lists of numbers or texts", "long"]),
    "saved<S> of what cannot be saved":
        ("stream<int> f(saved<int*> at, stream<int> in) { while (auto x = co_await in.next()) co_yield *x; }",
         ["a position cannot hold this value"]),
    "transform's function is no coroutine":
        ("auto ds = range(5) | transform([](std::int64_t x) { return x; });", ["must take stream<T> and return stream<U>", "long"]),
    "a member that does not stack":
        ("struct inner { int size; void (*hook)(); }; struct sample { int label; inner worker; };\n"
         "auto ds = range(5) | map([](std::int64_t) { return sample{}; }) | batch(3);", ["batch: this member cannot be stacked", "hook"]),
    "unbatch of what is no batch": ("auto ds = range(5) | unbatch();", ["unbatch: the element is not a batch", "long"]),
    "elements that are not batches, as an Arrow stream":
        ("#include <sluice/arrow.hpp>\nvoid f(runtime& rt, ArrowArrayStream* out) { (void)export_stream(rt, range(5), out); }",
         ["export_stream takes batches: end the plan with batch(n)"]),
    "a nest with a pointer":
        ("#include <sluice/element/structure.hpp>\nstruct inner { int size; int* data; }; struct sample { int label; inner worker; };\n"
         "auto p = structure<sample>::paths();", ["structure: this member is no number", "data"]),
    "a nest with a reference":
        ("#include <sluice/element/structure.hpp>\nstruct inner { int size; int& data; }; struct sample { int label; inner worker; };\n"
         "auto p = structure<sample>::paths();", ["structure: this member (from 0) is a reference", "inner, 1"]),
    "a tuple with a reference":
        ("#include <sluice/element/structure.hpp>\nauto p = structure<std::tuple<int, int&>>::paths();",
         ["structure: this part (from 0) is a reference", "1"]),
    "a tensor of texts":
        ("#include <sluice/dlpack.hpp>\nstruct sample { std::string text; };\nauto f(batched<sample>& b) { return to_dlpack(b, &sample::text); }",
         ["to_dlpack takes members that are numbers, or arrays of numbers"]),
    "a one-to-one stage of two streams":
        ("lib::erased_stream both(lib::outlet out, one_to_one, lib::erased_stream a, lib::erased_stream b) {\n"
         "  while (auto x = co_await a.next_block({})) co_yield x;\n}",
         ["a stage with the tag one_to_one has one stream as a parameter"]),
    "a user asks for what is the engine's": ("task<> f(stream<int> s) { s.pass_over(3); co_return; }", ["pass_over"]),
    "a user takes a typed stream for the engine's":
        ("lib::stream_base& f(stream<int>& s) { return s; }", ["stream_base"]),
    "a user takes an untyped stream for the engine's":
        ("task<> f(any_stream s) { co_await s.ready({}); }", ["ready"]),
    "a user names the engine's stream": ("task<> f(erased_stream s) { co_return; }", ["erased_stream"]),
    "inputs of two types, one after the other":
        ("auto ds = concatenate(range(3), lines(\"a\"));", ["concatenate: the inputs must have one type", "long"]),
    "inputs of two types, as they come":
        ("auto ds = merge(range(3), lines(\"a\"));", ["merge: the inputs must have one type", "long"]),
    "batch's option without braces":
        ("auto ds = range(5) | batch(4, true);", ["batch: options stand in braces, with their names: batch(4, {.drop_remainder = true})"]),
    "shuffle's seed without braces":
        ("auto ds = range(5) | shuffle(4, 7);", ["shuffle: options stand in braces, with their names: shuffle(1000, {.seed = 7})"]),
    "range's start without braces":
        ("auto ds = range(5, 10);", ["range: options stand in braces", "{.start = 2}"]),
    "map's parallelism without braces":
        ("auto ds = range(5) | map([](std::int64_t x) { return x; }, 4);", ["map: options stand in braces", "{.parallelism = 4}"]),
    "interleave's cycle length without braces":
        ("auto ds = list_files(\"*\") | interleave(lines, 4);", ["interleave: options stand in braces", "{.cycle_length = 4}"]),
    **{f"an option of {call} without braces": (f"struct row {{ std::int64_t a; }};\nauto ds = {call};", ["options stand in braces, with their names", example])
       for call, example in (
           ('csv<row>("a.csv", true)', "{.header = true}"),
           ('csv<row>("a.csv", "a: int64", true)', "{.header = true}"),
           ('jsonl<row>("a.jsonl", 4096)', "{.read_bytes = 1 << 20}"),
           ('from_arrow<row>("a.arrow", 4096)', "{.read_bytes = 1 << 20}"),
           ('tfrecord("a", 4096)', "{.read_bytes = 1 << 20}"),
           ('lines("a", 4096)', "{.read_bytes = 1 << 20}"),
           ('list_files("*", true)', "{.shuffle = true}"),
           ("counter(1)", "{.start = 1}"),
           ("random(7)", "{.seed = 7}"),
           ("range(5) | enumerate(1)", "{.start = 1}"),
           ("range(5) | global_shuffle(7)", "{.seed = 7}"),
           ("range(5) | rate_limit(100)", "{.elements_per_second = 100}"),
           ("range(5) | unique(true)", "{.spill = "),
           ("range(5) | with_options(true)", "{.optimize = false}"),
           ('range(5) | filter(expr("it > 1"), 7)', "{.seed = 7}"),
           ("range(5) | filter([](const std::int64_t& x) { return x > 1; }, 7)", "{.seed = 7}"),
           ('range(5) | take_while(expr("it > 1"), 7)', "{.seed = 7}"),
           ('range(5) | drop_while(expr("it > 1"), 7)', "{.seed = 7}"),
           ("range(5) | ignore_errors([](const status&, std::uint64_t) {}, 7)", "{.errors_max = 10}"),
           ("range(5) | map([](std::int64_t x) { return std::vector<std::int64_t>(3, x); }) | pack_sequences(512, 4)", "{.open_rows = 4}"),
           ("range(5) | map([](std::int64_t x) { return row{x}; }) | pad_to_cardinality(10, true)", "{.mask_key = "),
           ("range(5) | batch(2) | rebatch(4, true)", "{.drop_remainder = true}"),
           ("range(5) | window(4, 2)", "{.shift = 2}"),
           ("range(5) | map([](std::int64_t x) { return std::vector<std::int64_t>(3, x); }) | sparse_batch(4, {10}, true)", "{.drop_remainder = true}"),
           ("range(5) | rejection_resample([](const std::int64_t&) { return 0; }, {0.5, 0.5}, 7)", "{.seed = 7}"),
           ('tfrecord("a") | parse_example<row>(4)', "{.parallelism = 4}"),
           ("sample_from_datasets({range(5), range(5)}, 7)", "{.weights = {1, 2}}"),
           ("round_robin({range(5), range(5)}, 7)", "{.stop_on_empty_dataset = true}"),
           ("weighted_flat_map({range(5), range(5)}, 7)", "{.weights = {1, 2}}"),
           ("choose_from_datasets({range(5), range(5)}, range(2), false)", "{.stop_on_empty_dataset = false}"))},
    "a structure with a base class":
        ("struct base { std::int64_t a; }; struct derived : base { std::int64_t b; }; auto ds = csv<derived>(\"a.csv\");",
         ["a structure with a base class cannot be an element"]),
    "transform's coroutine takes other arguments":
        ("stream<std::int64_t> f(stream<std::int64_t> in, std::string s); auto ds = range(5) | transform(f, 5);",
         ["transform: the coroutine must take stream<T> and return stream<U>; further arguments of transform follow", "long"]),
    # A misspelt designator makes the braces fit nothing; the compilers name the struct, not the word.
    "a misspelt option of a named struct":
        ("auto ds = range(5) | shuffle(10, shuffle_options{.sead = 7});", ["shuffle_options", "sead"]),
    "a misspelt option": ("auto ds = range(5) | shuffle(10, {.sead = 7});", ["shuffle_options"]),
}
RIGHT = """task<int> one() { co_return 1; }
task<> f(stream<int> s) {
  while (auto x = co_await s.next()) (void)*x;
  auto t = one();
  int n = co_await t;
  (void)n;
  auto r = co_await s.try_next();
  if (r) (void)*r;
  if (s) (void)s;
  s.request_stop();
  checkpoint here = s.position();
  stream<int> u = std::move(s);
  s = std::move(u);
}
task<> g(any_stream s) {
  while (auto b = co_await s.next_block({.skip = 1, .elements = 2})) (void)b.size();
  auto r = co_await s.try_next_block({});
  if (r.why.ok() && s.type().size) (void)r.view;
  checkpoint here = s.position();
}
auto ds = range(5) | map([](std::int64_t x) { return x; }) | batch(3) | unbatch() | shuffle(10, {.seed = 7});
struct row { std::int64_t a; };
csv_options given{.header = true};
auto r1 = csv<row>("a.csv", {.header = true});
auto r2 = csv<row>("a.csv", given);
auto r3 = csv<row>("a.csv", std::string("a: int64"), given);
auto r4 = csv<row>("a.csv", "a: int64");
auto r5 = csv<row>(std::string("a.csv"));
auto r6 = tfrecord("a", {.read_bytes = 4096});
auto r7 = list_files("*", {.shuffle = true}) | interleave(csv<row>({.header = true}), {.cycle_length = 4});
auto r8 = range(5) | filter(expr("it > 1"), {.seed = 7}) | unique() | enumerate() | global_shuffle({.seed = 7});
auto r9 = counter({.start = 2}) | rate_limit({.elements_per_second = 5}) | with_options({.optimize = false}) | window(4, {.shift = 2});
auto r10 = round_robin({range(5), range(5)}, {.stop_on_empty_dataset = true});
auto r11 = sample_from_datasets({range(5), range(5)}, {.weights = {1, 2}});
auto r12 = choose_from_datasets({range(5), range(5)}, range(2), {.stop_on_empty_dataset = false});
auto r13 = tfrecord("a") | parse_example<row>() | ignore_errors();
"""


def precompiled(compiler, folder):
    """The flags that include PRELUDE, compiled once: 140 programs start with it."""
    header = pathlib.Path(folder) / compiler / "prelude.hpp"
    header.parent.mkdir()
    header.write_text(PRELUDE)
    flags = [flag for flag in FLAGS if flag != "-fsyntax-only"]
    subprocess.run([compiler, *flags, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return ["-include-pch", f"{header}.gch"] if compiler.startswith("clang") else ["-include", str(header)]


def refusal(compiler, prelude, text):
    done = subprocess.run([compiler, *FLAGS, *prelude, "-x", "c++", "-"], input=text, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def complaint(compiler, words, output):
    if not output:
        return "compiles"
    lines = [line for line in output.splitlines() if not line.lstrip().startswith(("In file included", "from "))]
    errors = [line for line in lines if " error: " in line]
    head = "\n".join(lines[:LINES])
    missing = [w for w in words if w not in head]
    if missing:
        return f"the first {LINES} lines do not say {missing}:\n{head}"
    # "a misspelt option" is the compiler's own error; its note names the struct.
    if compiler.startswith("clang") and words != ["shuffle_options"] and any(w not in errors[0] for w in words):
        return f"the first error does not say {words}: {errors[0]}"
    return ""


def main():
    passed = failed = 0
    cases = [(compiler, what) for compiler in COMPILERS for what in MISTAKES]
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(int(os.environ.get("SLUICE_JOBS", os.cpu_count()))) as pool):
        prelude = dict(zip(COMPILERS, pool.map(lambda compiler: precompiled(compiler, folder), COMPILERS)))
        right = [pool.submit(refusal, compiler, prelude[compiler], RIGHT) for compiler in COMPILERS]
        outputs = [pool.submit(refusal, compiler, prelude[compiler], MISTAKES[what][0]) for compiler, what in cases]
        verdicts = [("right programs", c, f.result()) for c, f in zip(COMPILERS, right)]
        verdicts += [(what, c, complaint(c, MISTAKES[what][1], f.result())) for (c, what), f in zip(cases, outputs)]
    for what, compiler, why in verdicts:
        passed, failed = passed + (not why), failed + bool(why)
        if why:
            print(f"{what}, {compiler}: {why}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
