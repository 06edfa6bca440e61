"""Which code a memory means: relevance, contexts, evidence, candidates, hostile input."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolens.core.symbols import SymbolKey
from mnemolens.linking import ALL_KINDS, Rule, evidence_holds, match, names_in
from mnemolens.linking.match import MAX_CANDIDATES

SHOP = {
    "src/pay.py::charge": "function",
    "src/pay.py::Payment": "class",
    "src/pay.py::Payment.retry": "method",
    "src/bank.py::Account": "class",
    "src/bank.py::Account.retry": "method",
    "src/bank.py::urlopen": "function",
    "web/pay.ts::retry_all": "function",
}


def by_id(found):
    return {m.target.id: m for m in found}


def test_each_kind_of_link_has_its_relevance_and_context(listed):
    found = by_id(match("", "charge() of Payment, see web/pay.ts", {"file": "src/bank.py"}, listed(SHOP)))
    got = {id_: (m.relevance, m.context, m.kind, m.candidate) for id_, m in found.items()}
    assert got == {
        "src/bank.py": (1.0, "metadata_file_match", "file", False),
        "src/pay.py::charge": (0.8, "content_name_match", "function", False),
        "src/pay.py::Payment": (0.8, "content_class_match", "class", False),
        "web/pay.ts": (0.8, "content_file_match", "file", False),
    }


def test_evidence_is_the_span_and_the_rule(listed):
    (found,) = match("t", "函数: `charge` twice", {}, listed(SHOP))
    e = found.evidence
    assert (e.field, e.start, e.end, e.rule, e.text) == ("content", 5, 11, "code_span", "charge")


def test_evidence_of_metadata(listed):
    (found,) = match("", "", {"files": "src/gone.py, src/bank.py"}, listed(SHOP))
    e = found.evidence
    assert (e.field, e.start, e.end, e.text) == ("metadata.files", 13, 24, "src/bank.py")


def test_a_name_in_several_places_is_offered_below_one_half(listed):
    found = match("", "`retry` is broken", {}, listed(SHOP))
    assert {m.target.id for m in found} == {"src/pay.py::Payment.retry", "src/bank.py::Account.retry"}
    assert all(m.candidate and m.relevance < 0.5 for m in found)


@pytest.mark.parametrize(
    ("title", "content", "metadata", "origin"),
    [
        ("", "Payment.retry", {}, None),
        ("Payment", "`retry` twice", {}, None),
        ("", "`retry` in src/pay.py", {}, None),
        ("", "src/pay.py: `retry` twice", {}, None),
        ("", "`retry` twice", {"file_path": "pay.py"}, None),
        ("", "`retry` twice", {"file": "/home/x/shop/src/pay.py:12"}, None),
        ("", "charge() before `retry`", {}, None),
        ("", "`retry` twice", {}, "src/pay.py"),
        ("", "payment.retry() twice", {}, None),
        ("", "the_payment: pay.Payment.retry", {}, None),
        ("", "`src/pay.py::Payment.retry`", {}, None),
        ("", "`Payment.retry` first, then `retry` again", {}, None),
    ],
)
def test_what_decides_between_equal_names(listed, title, content, metadata, origin):
    found = by_id(match(title, content, metadata, listed(SHOP, ["lib/pay.js"]), origin))
    assert found["src/pay.py::Payment.retry"].relevance >= 0.5
    assert "src/bank.py::Account.retry" not in found


def test_the_class_decides_within_the_file_of_the_metadata(listed):
    code = listed({**SHOP, "src/pay.py::Refund": "class", "src/pay.py::Refund.retry": "method"})
    found = by_id(match("", "A Refund must not `retry`", {"file": "src/pay.py"}, code))
    assert "src/pay.py::Refund.retry" in found
    assert "src/pay.py::Payment.retry" not in found


@pytest.mark.parametrize(
    ("content", "meant"),
    [
        ("the `send` function is slow", "src/net.py::send"),
        ("the `send` method is slow", "src/net.py::Session.send"),
        ("``send()`` method", "src/net.py::Session.send"),
        ("`send`函数很慢", "src/net.py::send"),
        ("`send`方法很慢", "src/net.py::Session.send"),
    ],
)
def test_what_the_text_calls_it_decides(listed, content, meant):
    code = listed(
        {"src/net.py::send": "function", "src/net.py::Session": "class", "src/net.py::Session.send": "method"}
    )
    assert [m.target.id for m in match("", content, {}, code)] == [meant]
    assert all(m.candidate for m in match("", "`send` is slow", {}, code))


def test_code_is_meant_before_its_tests_but_less_certainly(listed):
    code = listed({"src/net.py::send_all": "function", "tests/test_net.py::send_all": "function"})
    (found,) = match("", "send_all is slow", {}, code)
    assert found.target.id == "src/net.py::send_all"
    assert 0.5 <= found.relevance < 0.8
    (found,) = match("", "send_all is slow", {"file": "tests/test_net.py"}, code)[1:]
    assert found.target.id == "tests/test_net.py::send_all"


def test_a_name_inside_a_function_is_hardly_meant(listed):
    code = listed(
        {"src/a.py::load": "function", "src/b.py::run": "function", "src/b.py::run.load": "function"}
    )
    (found,) = match("", "`load` is slow", {}, code)
    assert (found.target.id, found.relevance) == ("src/a.py::load", 0.8)
    local = listed({"src/b.py::run": "function", "src/b.py::run.load": "function"})
    (found,) = match("", "`load` is slow", {}, local)
    assert found.candidate


def test_a_word_in_a_code_span_may_be_a_variable_rather_than_a_method(listed):
    code = listed({"src/a.py::Job": "class", "src/a.py::Job.state": "method"})
    (found,) = match("", "`state` is stale", {}, code)
    assert 0.5 <= found.relevance < 0.8
    assert by_id(match("", "state() of a `Job`", {}, code))["src/a.py::Job.state"].relevance == 0.8


def test_an_import_names_what_a_module_gives_out_and_no_member(listed):
    text = "import { retry, retry_all } from './pay'"
    code = listed({"web/pay.ts::Bank": "class", "web/pay.ts::Bank.retry": "method", **SHOP})
    assert list(by_id(match("", text, {}, code))) == ["web/pay.ts::retry_all"]


@pytest.mark.parametrize(
    ("frame", "meant"),
    [
        ("    at Object.handleClick [as onClick] (web/button.ts:2:1)", "web/button.ts::handleClick"),
        ("    at module.exports.handleClick (/app/web/button.ts:2:1)", "web/button.ts::handleClick"),
        ("example.com/shop/pkg/server.NewServer(...)", "pkg/server/server.go::NewServer"),
        ("example.com/shop/pkg/server.NewServer.func1.2()", "pkg/server/server.go::NewServer"),
        ("example.com/shop/pkg/server.Server.Stop({0x1, 0x2})", "pkg/server/server.go::Server.Stop"),
        ("example.com/shop/pkg/server.(*Server).Stop(0x1)", "pkg/server/server.go::Server.Stop"),
        ("main.main.func1()", "cmd/shop/start.go::main"),
        ("main.load.func2.1(0xc0)", "cmd/shop/start.go::load"),
    ],
)
def test_frames_of_stack_traces(listed, frame, meant):
    code = listed(
        {
            "web/button.ts::handleClick": "function",
            "web/other.ts::handleClick": "function",
            "pkg/server/server.go::NewServer": "function",
            "pkg/server/server.go::Server": "struct",
            "pkg/server/server.go::Server.Stop": "method",
            "pkg/client/client.go::Client": "struct",
            "pkg/client/client.go::Client.Stop": "method",
            "pkg/client/client.go::load": "function",
            "cmd/shop/start.go::main": "function",
            "cmd/shop/start.go::load": "function",
        }
    )
    sure = {one.target.id for one in match("", frame, {}, code) if one.target.qualname and not one.candidate}
    assert sure == {meant}


def test_a_symbol_that_is_gone_leaves_its_file_or_class(listed):
    assert list(by_id(match("", "src/pay.py::gone is flaky", {}, listed(SHOP)))) == ["src/pay.py"]
    assert list(by_id(match("", "src/pay.py:charge is flaky", {}, listed(SHOP)))) == ["src/pay.py::charge"]
    assert list(by_id(match("", "`Payment.charge` is gone", {}, listed(SHOP)))) == ["src/pay.py::Payment"]


def test_two_files_named_mean_both(listed):
    found = by_id(match("", "`retry` differs: src/pay.py sleeps and src/bank.py does not", {}, listed(SHOP)))
    assert not found["src/pay.py::Payment.retry"].candidate
    assert not found["src/bank.py::Account.retry"].candidate


def test_the_first_ordinal_stands_for_all():
    kinds = {SymbolKey("a.py", "load", n): "overload" for n in (2, 0, 1)}

    class Code:
        keys_named = staticmethod({"load": list(kinds)}.__getitem__)
        files_ending = staticmethod(lambda _suffix: ())
        kind_of = staticmethod(kinds.get)
        has_file = staticmethod(lambda _path: False)

    (found,) = match("", "load()", {}, Code())
    assert found.target == SymbolKey("a.py", "load", 0)
    assert found.relevance == 0.8


def test_a_bare_word_is_less_certain(listed):
    (found,) = match("", "urlopen follows redirects", {}, listed(SHOP))
    assert 0.5 <= found.relevance < 0.8


def test_an_unknown_receiver_is_less_certain(listed):
    found = by_id(match("", "x.retry_all() and x.charge()", {}, listed(SHOP)))
    assert 0.5 <= found["web/pay.ts::retry_all"].relevance < 0.8
    assert found["src/pay.py::charge"].candidate


def test_a_name_in_very_many_places_offers_nothing(listed):
    many = {f"src/m{n}.py::C{n}.__init__": "method" for n in range(MAX_CANDIDATES + 1)}
    assert match("", "`__init__` is slow", {}, listed(many)) == ()


def test_only_the_kinds_asked_for(listed):
    text, metadata = "charge() of Payment, see web/pay.ts", {"file": "src/bank.py"}
    for kind in ALL_KINDS:
        found = match("", text, metadata, listed(SHOP), kinds=frozenset({kind}))
        assert [m.context for m in found] == [kind]
    assert match("", text, metadata, listed(SHOP), kinds=frozenset()) == ()


class TestPaths:
    FILES = ("src/auth.py", "auth/src/auth.py", "a.py", "s.py", "src/日本.py", "src/a b/c#d.py")

    @pytest.mark.parametrize(
        ("written", "file"),
        [
            ("src/auth.py", "src/auth.py"),
            ("./src/auth.py", "src/auth.py"),
            ("src//auth.py", "src/auth.py"),
            ("src/x/../auth.py", "src/auth.py"),
            ("../src/auth.py", "src/auth.py"),
            ("src\\auth.py", "src/auth.py"),
            ("/home/me/proj/src/auth.py", "src/auth.py"),
            ("C:\\proj\\src\\auth.py", "src/auth.py"),
            ("file:///home/me/proj/src/auth.py", "src/auth.py"),
            ("file:///c%3A/proj/src/auth.py", "src/auth.py"),
            ("file:///x/src/%E6%97%A5%E6%9C%AC.py", "src/日本.py"),
            ("proj/src/auth.py", "src/auth.py"),
            ("src/auth.py:42", "src/auth.py"),
            ("src/auth.py:42:7", "src/auth.py"),
            ("src/auth.py#L42", "src/auth.py"),
            ("src/auth.py::Session.load#1", "src/auth.py"),
            (" 'src/auth.py' ", "src/auth.py"),
            ("日本.py", "src/日本.py"),
            ("/home/me/proj/a.py", "a.py"),
            ("src/a b/c#d.py", "src/a b/c#d.py"),
        ],
    )
    def test_ways_to_write_a_path(self, listed, written, file):
        found = match("", "", {"file": written}, listed({}, self.FILES))
        assert [(m.target.id, m.relevance) for m in found] == [(file, 1.0)]

    @pytest.mark.parametrize(
        "written",
        [
            *(
                "src/gone.py",
                "uth.py",
                "rc/auth.py",
                "src",
                "src/",
                "/",
                "",
                ".",
                "..",
                "aa.py",
                "SRC/AUTH.PY",
            ),
            *("https://example.com/src/auth.py", "src/auth.pyc", "x" * 5000, "a/" * 5000, "src/auth\0.py"),
        ],
    )
    def test_no_path_of_ours(self, listed, written):
        assert match("", "", {"file": written}, listed({}, self.FILES)) == ()

    def test_several_files_are_offered(self, listed):
        found = match("", "", {"file": "auth.py"}, listed({}, self.FILES))
        assert {m.target.id for m in found} == {"src/auth.py", "auth/src/auth.py"}
        assert all(m.candidate for m in found)

    def test_a_known_root_tells_ours_from_others(self, listed):
        code = listed({}, self.FILES)
        (ours,) = match("", "", {"file": "/home/me/proj/a.py"}, code, root="/home/me/proj")
        assert ours.relevance == 1.0
        (other,) = match("", "", {"file": "/usr/lib/python3/a.py"}, code, root="/home/me/proj")
        assert other.candidate

    def test_a_file_is_linked_once(self, listed):
        found = match(
            "a.py", "a.py `a.py` ./a.py", {"file": "a.py", "files": ["a.py"]}, listed({}, self.FILES)
        )
        assert [(m.target.id, m.context) for m in found] == [("a.py", "metadata_file_match")]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.text(max_size=30),
    st.text(max_size=80),
    st.dictionaries(st.sampled_from(["file", "file_path", "files", "x"]), anything, max_size=4) | anything,
)
@settings(max_examples=200, deadline=None)
def test_nothing_raises_and_all_matches_are_sound(title, content, metadata):
    code = Small()
    for m in match(title, content, metadata, code):
        assert 0 < m.relevance <= 1
        assert m.candidate == (m.relevance < 0.5)
        assert code.kind_of(m.target) == m.kind


class Small:
    """One file whose functions have the shortest names."""

    def keys_named(self, name):
        return [SymbolKey("a.py", name)] if name in {"A", "a", "aa", "load_x"} else []

    def files_ending(self, suffix):
        return ["a.py"] if suffix == "a.py" else []

    def kind_of(self, key):
        if key == SymbolKey("a.py", ""):
            return "file"
        return "function" if self.keys_named(key.name) else None

    def has_file(self, path):
        return path == "a.py"


def test_a_megabyte_that_names_much(listed):
    code = listed({f"src/m{n}.py::C{n}.do_it_{n % 50}": "method" for n in range(300)})
    text = " ".join(f"`do_it_{n % 50}` in C{n}.do_it_{n % 50} and src/m{n}.py" for n in range(20_000))
    found = match("", text, {"files": [f"src/m{n}.py" for n in range(5000)]}, code)
    assert 0 < len(found) <= 200


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f600",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\x00\x1b[31m\x07",
        "\ufeff",
        "\u202e",
        "`\x00`",
        "`\U0001f600`()",
    ],
)
def test_a_note_of_signs_means_nothing(listed, text):
    assert match(text, text, {"file": text}, listed(SHOP)) == ()
    assert names_in(text) <= {text.strip("`()")}


def test_a_name_beside_signs_is_still_read(listed):
    found = match("", "\x00\U0001f600charge()\U0001f600\x1b", {}, listed(SHOP))
    assert [m.target.id for m in found] == ["src/pay.py::charge"]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*a){20}", "((a*)*)*c", "a{0,600}a{0,600}b"])
def test_a_pattern_that_would_run_for_ever_elsewhere_is_done_at_once(listed, pattern):
    """With backtracking each would take longer than the whole run."""
    rules = (Rule(pattern, "symbol", 0.8),)
    found = match("", "charge() " + "a" * 15_000 + "!", {}, listed(SHOP), rules=rules)
    assert "src/pay.py::charge" in by_id(found)


@pytest.mark.parametrize("pattern", ["", "x*", "(y)?", "()", r"\b"])
def test_a_pattern_that_matches_nothing_at_all_names_nothing(listed, pattern):
    found = match("", "see charge()", {}, listed(SHOP), rules=(Rule(pattern, "symbol", 0.8),))
    assert list(by_id(found)) == ["src/pay.py::charge"]


def test_ten_thousand_places_of_one_name_and_as_many_mentions(listed):
    code = listed({f"src/m{n}.py::C{n}.run_all": "method" for n in range(10_000)})
    assert match("", "`run_all` " * 10_000, {}, code) == ()
    found = match("", "`run_all` in src/m7.py " + "`run_all` " * 10_000, {}, code)
    assert "src/m7.py::C7.run_all" in by_id(found)
    assert len(by_id(match("", "C7.run_all " * 10_000, {}, code))) <= 8


RECEIVERS = {
    "shop/requests.py::FixtureRequest": "class",
    "shop/requests.py::FixtureRequest.getvalue": "method",
    "shop/tmp.py::TempPathFactory": "class",
    "shop/tmp.py::TempPathFactory.mktemp": "method",
    "shop/legacy.py::TempdirFactory": "class",
    "shop/legacy.py::TempdirFactory.mktemp": "method",
    "shop/recorder.py::Warnings": "class",
    "shop/recorder.py::Warnings.pop": "method",
    "shop/lines.py::Lines": "class",
    "shop/lines.py::Lines.str": "method",
    "shop/lines.py::Lines.tolerance": "method",
    "shop/lines.py::Lines.getcolumn": "method",
    "shop/cli.py::shop": "function",
}


@pytest.mark.parametrize(
    ("content", "linked"),
    [
        ("request.getvalue() in a finalizer raises", {"shop/requests.py::FixtureRequest.getvalue"}),
        ("tmp_path_factory.mktemp() is safe", {"shop/tmp.py::TempPathFactory.mktemp"}),
        ("recorder.pop() takes the best one", {"shop/recorder.py::Warnings.pop"}),
        ("box.pop() takes any", set()),
        ("its str() is short, `x = list(map(str, y))` too", set()),
        (
            "We know that the Lines's tolerance is 0",
            {"shop/lines.py::Lines", "shop/lines.py::Lines.tolerance"},
        ),
        ("getcolumn counts from 0", {"shop/lines.py::Lines.getcolumn"}),
        ("tolerance is a virtue", set()),
        ("see shop/legacy and all below it", set()),
        ("Lines.options.verbose is an int", {"shop/lines.py::Lines"}),
        ("os.path.pop and str.pop are not ours", set()),
    ],
)
def test_what_stands_before_a_name_tells_whose_it_is(listed, content, linked):
    found = match("", content, {}, listed(RECEIVERS))
    assert {m.target.id for m in found if not m.candidate} == linked


INHERITING = {
    "web/http.py::Connection": "class",
    "web/http.py::Connection.url_for": "method",
    "web/http.py::Request": "class",
    "web/other.py::Router": "class",
    "web/other.py::Router.url_for": "method",
    "web/other.py::Router.routes": "method",
    "web/other.py::App": "class",
    "web/other.py::App.routes": "method",
}


@pytest.mark.parametrize(
    ("content", "linked", "offered"),
    [
        ("`Request.url_for` breaks", {"web/http.py::Connection.url_for"}, set()),
        ("request.url_for breaks", {"web/http.py::Connection.url_for"}, set()),
        ("the Request's url_for breaks", {"web/http.py::Connection.url_for", "web/http.py::Request"}, None),
        ("`Router.url_for` breaks", {"web/other.py::Router.url_for"}, set()),
        (
            "`Connection.routes` is a list",
            {"web/http.py::Connection"},
            {"web/other.py::App.routes", "web/other.py::Router.routes"},
        ),
    ],
)
def test_a_member_of_a_named_class_is_its_own_or_inherited(listed, content, linked, offered):
    means = {("web/http.py", "Request.url_for"): "web/http.py::Connection.url_for"}
    found = match("", content, {}, listed(INHERITING, means=means))
    assert {m.target.id for m in found if not m.candidate} == linked
    if offered is not None:
        assert {m.target.id for m in found if m.candidate} == offered


@pytest.mark.parametrize(
    "content",
    [
        "`join` in utils is slow",
        "`join()` in utils is slow",
        "join() from utils is slow",
        "pkg.utils: join() is slow",
        "join() of the utils is slow",
    ],
)
def test_a_module_beside_a_bare_name_tells_which_it_is(listed, content):
    code = {"pkg/utils.py::join": "function", "pkg/path.py::join": "function"}
    if "(" in content:  # what has no receiver is no method
        code["pkg/utils.py::Path.join"] = "method"
    found = match("", content, {}, listed(code))
    assert {m.target.id for m in found if not m.candidate and m.kind != "file"} == {"pkg/utils.py::join"}


def test_markdowns_escapes_hide_no_name_and_no_file(listed):
    code = listed({"src/my_pay.py::retry_all": "function", "src/bank.py::charge": "function"})
    found = by_id(match("", "retry\\_all in src/my\\_pay.py", {}, code))
    assert set(found) == {"src/my_pay.py::retry_all", "src/my_pay.py"}
    evidence = found["src/my_pay.py::retry_all"].evidence
    assert (evidence.start, evidence.end, evidence.text) == (0, 10, "retry_all")
    assert evidence_holds(evidence, "", "now retry_all and retry\\_all", {})
    assert {"retry_all", "my_pay.py"} <= names_in("retry\\_all in src/my\\_pay.py")


def test_a_generic_types_member_is_the_types(listed):
    code = listed({**MIXED, "store/queue.go::Queue": "struct", "store/queue.go::Queue.Close": "method"})
    (found,) = match("", "Queue[int].Close waits", {}, code)
    assert (found.target.id, found.relevance) == ("store/queue.go::Queue.Close", 0.8)


MIXED = {
    "api/server.go::Server": "struct",
    "api/server.go::Server.listen": "method",
    "api/server.go::Server.Close": "method",
    "store/store.go::Store": "struct",
    "store/store.go::Store.Close": "method",
    "store/store.go::Order": "struct",
    "web/list.tsx::formatTotal": "function",
    "web/color.ts::Color": "class",
    "web/color.ts::Color.rgb": "method",
    "web/color.ts::Color.file": "method",
}


@pytest.mark.parametrize(
    ("content", "linked"),
    [
        ("(*Store).Close waits", {"store/store.go::Store.Close"}),
        ("func (s *Store) Close(order Order) waits", {"store/store.go::Store.Close"}),
        ("x/store.(*Store).Close(0xc0)\n\t/build/store/store.go:17 +0x1d", {"store/store.go::Store.Close"}),
        ("`srv.listen` holds the port", {"api/server.go::Server.listen"}),
        ("svc.listen holds the port", set()),
        ("c.Close() may block", set()),
        ("    at formatTotal (webpack:///./web/list.tsx:1:2)", {"web/list.tsx::formatTotal"}),
        ("a colour is `rgb(1, 2, 3)` or so", set()),
        ("[the file of themes](store/store.go)", set()),
    ],
)
def test_mentions_of_go_and_of_the_web(listed, content, linked):
    found = match("", content, {}, listed(MIXED))
    assert {m.target.id for m in found if not m.candidate and m.kind != "file"} == linked


def test_a_bundlers_path_is_the_projects_file(listed):
    for url in (
        "webpack:///./web/list.tsx",
        "webpack://shop/./web/list.tsx",
        "webpack-internal:///web/list.tsx",
    ):
        (found,) = match("", f"    at x1 ({url}:1:2)", {}, listed(MIXED))
        assert found.target.id == "web/list.tsx"


def test_a_method_of_several_named_classes_is_on_all_of_them(listed):
    found = match(
        "", "TempPathFactory and TempdirFactory differ in mktemp(): see below", {}, listed(RECEIVERS)
    )
    assert {m.target.id for m in found if not m.candidate} == {
        "shop/tmp.py::TempPathFactory",
        "shop/tmp.py::TempPathFactory.mktemp",
        "shop/legacy.py::TempdirFactory",
        "shop/legacy.py::TempdirFactory.mktemp",
    }


def test_a_module_gives_out_what_it_imports(listed):
    code = listed(
        {"_shop/run.py::main": "function", "_shop/cli.py::main": "function"},
        ["shop/__init__.py"],
        means={("shop/__init__.py", "main"): "_shop/cli.py::main"},
    )
    found = by_id(match("", "`shop.main` never returns", {}, code))
    assert {id_: m.relevance for id_, m in found.items()} == {"_shop/cli.py::main": 0.8}


def test_what_the_cursors_file_imports_decides(listed):
    code = listed(SHOP, means={("src/shop.py", "retry"): "src/bank.py::Account.retry"})
    found = match("", "`retry` is broken", {}, code, "src/shop.py")
    assert {m.target.id for m in found if not m.candidate} == {"src/bank.py::Account.retry"}


def test_where_text_and_cursor_disagree_nothing_is_linked(listed):
    found = match("", "Unlike a Payment, `retry` here waits.", {}, listed(SHOP), "src/bank.py")
    assert {m.target.id for m in found if not m.candidate} == {"src/pay.py::Payment"}


def test_the_header_of_a_trace_is_no_class(listed):
    text = 'Traceback (most recent call last):\n  File "src/pay.py", line 3, in charge'
    found = match("", text, {}, listed({**SHOP, "src/code.py::Traceback": "class"}))
    assert {m.target.id for m in found} == {"src/pay.py", "src/pay.py::charge"}


class TestOwnRules:
    """A project's own ways of naming code: pattern, kind, score."""

    def found(self, listed, text, *rules):
        found = by_id(match("", text, {}, listed(SHOP), rules=rules))
        return {id_: m.relevance for id_, m in found.items()}

    def test_the_first_group_is_the_name(self, listed):
        assert self.found(listed, "ticket 4, owner <charge>", Rule(r"<(\w+)>")) == {"src/pay.py::charge": 0.8}

    def test_without_a_group_the_whole_match_is(self, listed):
        assert self.found(listed, "all of charge is slow", Rule("charge", score=0.9)) == {
            "src/pay.py::charge": 0.9
        }

    def test_the_kind_says_what_may_be_named(self, listed):
        text = "<Payment> <charge> <src/bank.py>"
        assert set(self.found(listed, text, Rule("<(.*?)>", "class"))) == {"src/pay.py::Payment"}
        assert set(self.found(listed, text, Rule("<(.*?)>", "function"))) == {"src/pay.py::charge"}
        assert set(self.found(listed, text, Rule("<(.*?)>", "file"))) == {"src/bank.py"}

    def test_its_score_counts_where_other_rules_would_say_more(self, listed):
        assert self.found(listed, "`charge()`", Rule(r"`(\w+)\(\)`", score=0.3)) == {
            "src/pay.py::charge": 0.3
        }

    def test_a_name_in_several_places_stays_undecided(self, listed):
        found = match("", "<retry>", {}, listed(SHOP), rules=(Rule("<(.*?)>", score=1.0),))
        assert len(found) == 2
        assert all(m.candidate for m in found)

    def test_qualified_names(self, listed):
        assert set(self.found(listed, "<Account.retry>", Rule("<(.*?)>"))) == {"src/bank.py::Account.retry"}

    def test_its_link_keeps_span_and_rule_and_holds_while_the_text_says_so(self, listed):
        rules = (Rule("<(.*?)>"),)
        (found,) = match("", "see <charge>", {}, listed(SHOP), rules=rules)
        assert (found.evidence.start, found.evidence.end, found.evidence.rule) == (5, 11, "custom")
        assert evidence_holds(found.evidence, "", "now <charge> is here", {}, rules)
        assert not evidence_holds(found.evidence, "", "nothing is here", {}, rules)

    def test_a_memory_is_found_under_the_names_of_rules(self):
        assert names_in("owner <get>", (Rule("<(.*?)>"),)) == {"get"}

    def test_a_catastrophic_pattern_takes_no_longer_than_the_text(self, listed):
        assert self.found(listed, "a" * 19_000 + "!", Rule("(a|a)*(a|a)*(a|a)*$")) == {}

    @given(st.text(max_size=80))
    @settings(max_examples=50, deadline=None)
    def test_any_text(self, text):
        names_in(text, (Rule("(.?)"), Rule("")))
