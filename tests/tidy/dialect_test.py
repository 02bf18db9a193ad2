# SPDX-License-Identifier: Apache-2.0
"""The coroutine dialect that g++ 12.2 compiles correctly (docs/internals/hazards.md): what a pattern can see of it."""
import re
import sys

import tree

# Where parentheses must not hold a co_await; `while (auto x = co_await …)` and the same `if` declare, which saves them.
HEADERS = [
    ("co_await in a condition; name the result first", re.compile(r"\b(?:if|while|switch|for)\s*(?:constexpr\s*)?\(")),
    ("co_await inside a test macro, which evaluates it three times",
     re.compile(r"\b(?:REQUIRE|CHECK|SECTION|CAPTURE|INFO|WARN)\w*\s*\(")),
]
DECLARES = re.compile(r"\s*(?:const\s+)?auto\b[^=()]*=\s*co_await\b[^;]*$")
RULES = [
    ("co_await inside ?:; write an if", re.compile(r"\?[^;{}?]*\bco_await\b[^;{}]*:|"
                                                        r"\bco_await\b(?:[^;{}?()]|\((?:[^()]|\([^()]*\))*\))*\?[^;{}:]+:(?!:)")),
    ("co_yield of a braced temporary; name it and move it", re.compile(r"\bco_yield\s+(?:[A-Za-z_][\w:]*(?:<[^;{}()]*>)?)?\s*\{")),
    ("a choice between statuses inside a co_await; name it and move it", re.compile(r"\bco_await\s+fail\s*\([^;]*\?")),
    ("two co_await in one statement", re.compile(r"\bco_await\b[^;{}]*\bco_await\b[^;{}]*;")),
    ("a brace temporary inside a co_await; name the argument and move it",
     re.compile(r"\bco_await\b[^;{}]*[(,]\s*(?:[A-Za-z_][\w:]*(?:<[^;{}()]*>)?)?\s*\{[^;]*\}[^;{}]*;")),
]
# Their braces make a `demand`, which has no destructor to run twice.
DEMANDS = re.compile(r"\b(?:next_block|try_next_block|ready)\s*\(\s*(?:demand\s*)?\{")
CAPTURING = re.compile(r"\[[^\[\]]*[&=\w][^\[\]]*\]\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?[^;{}()\[\]]*\{")


def enclosed(code, opening):
    """The text from the bracket at `opening` to the one that closes it."""
    close = {"{": "}", "(": ")"}[code[opening]]
    depth = 0
    for i in range(opening, len(code)):
        depth += (code[i] == code[opening]) - (code[i] == close)
        if depth == 0:
            return code[opening:i + 1]
    return code[opening:]


def own_words(body):
    """The body without the bodies of lambdas inside it, which are coroutines of their own."""
    lambda_head = re.compile(r"\[[^\[\]]*\]\s*(?:\([^()]*\))?[^;{}()\[\]]*\{")
    at = 1
    while match := lambda_head.search(body, at):
        opening = match.end() - 1
        body = body[:opening] + body[opening + len(enclosed(body, opening)):]
        at = opening
    return body


def complaints(path, text):
    code = tree.code_only(text)
    lines = text.splitlines()
    found = []

    def report(offset, what):
        line = code.count("\n", 0, offset)
        if "dialect: allowed" not in lines[line]:
            found.append(f"{path}:{line + 1}: {what}")

    for what, pattern in HEADERS:
        for match in pattern.finditer(code):
            inside = enclosed(code, match.end() - 1)[1:-1]
            if re.search(r"\bco_await\b", inside) and not DECLARES.match(inside):
                report(match.start(), what)
    harmless = DEMANDS.sub(lambda m: m.group().replace("{", " "), code)
    for what, pattern in RULES:
        for match in pattern.finditer(harmless):
            report(match.start(), what)
    for match in CAPTURING.finditer(code):
        if re.match(r"\w", code[match.start() - 1:match.start()] or " "):
            continue  # an index, not a lambda
        if re.search(r"\bco_(?:await|yield|return)\b", own_words(enclosed(code, match.end() - 1))):
            report(match.start(), "a coroutine lambda with captures; the closure dies before the coroutine does")
    return found


BAD = """if (co_await ready()) go();
if (auto x = co_await a(); x.ok()) go();
while (co_await more()) go();
switch (co_await kind()) { case 1: break; }
for (int i = 0; i < co_await size(); ++i) go();
REQUIRE(co_await answer() == 42);
auto x = flag ? co_await a() : b;
auto x = co_await flag ? a : b;
co_yield sample{a, b};
co_yield {a, b};
auto f = [owned]() -> task<void> { co_await sleep(); };
auto f = [&](int n) -> stream<int> { co_yield n; };
auto x = co_await read(options{1, 2});
auto x = co_await read({1, 2});
co_await fail(is_late ? late_error("x") : got.why());
co_await fail((ok ? a() : b()).in_file(path));
auto x = f(co_await a(), co_await b());""".splitlines()
GOOD = """while (auto x = co_await in.next()) go(*x);
if (auto x = co_await in.next()) go(*x);
auto x = co_await in.next(); if (x) go();
if (!why.ok()) co_await fail(std::move(why));
co_yield std::move(named);
auto f = [](int n) -> task<void> { co_await sleep(n); };
auto f = [&] { return make_task(); };
auto f = [&] { auto g = [](int n) -> task<void> { co_await a(n); }; auto h = [](int n) -> task<int> { co_return n; }; };
// if (co_await ready()) go();
auto s = "REQUIRE(co_await x)";
for (auto& l : split(*r)) co_yield std::move(l);
co_await a(); co_await b();
auto b = co_await in.next_block({0, 1});
auto b = co_await in.next_block({0, flag ? out.a() : out.b(), 3});
int y = table[i]; if (y) { co_await a(); }
task<void> t() { auto name = co_await x(); if (name.empty()) { co_return; } }""".splitlines()


def main():
    check = tree.checks()
    for line in BAD:
        check.expect(complaints("bad", line), f"the checker lets this pass: {line}")
    for line in GOOD:
        found = complaints("good", line)
        check.expect(not found, f"the checker refuses this: {line}: {found}")

    found = []
    for path in tree.files("include", "src", "io", "tests", "bench", "examples"):
        if not tree.name(path).startswith("tests/hazards/"):
            found += complaints(tree.name(path), path.read_text())
    check.clean("outside the dialect", found)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
