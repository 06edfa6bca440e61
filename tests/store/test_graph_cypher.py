"""Only reading passes the guard, and what passes reads nothing but the graph."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mnemolens.core.errors import InvalidArgument
from mnemolens.store.graph_cypher import MAX_QUERY, check_query, tokens_of
from mnemolens.store.graph_schema import NODE_TABLES, REL_TABLES

REFUSED = [
    *("CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "DROP", "ALTER", "COPY", "LOAD", "EXPORT"),
    *("IMPORT", "ATTACH", "INSTALL", "USE", "CALL", "BEGIN", "COMMIT", "ROLLBACK", "CHECKPOINT"),
]


def refusal(cypher, parameters=None):
    with pytest.raises(InvalidArgument) as caught:
        check_query(cypher, parameters)
    return caught.value


class TestReading:
    @pytest.mark.parametrize(
        "cypher",
        [
            "MATCH (n) RETURN n",
            "match (n:CodeFile) return count(*)",
            "OPTIONAL MATCH (n) RETURN n",
            "UNWIND [1, 2] AS x RETURN x",
            "WITH 1 AS x RETURN x",
            "RETURN 'CREATE (n)'",
            "RETURN \"LOAD FROM '/etc/passwd'\"",
            "RETURN 'it\\'s; DROP TABLE x'",
            "MATCH (n) RETURN n.set, n.`call`, `load`.x",
            "// CREATE nothing\nMATCH (n) /* DELETE */ RETURN n // DROP",
            "MATCH (n)\r\n// a\r\nRETURN n",
            "MATCH (a)-[r:CALLS*1..3]->(b) WHERE a.x =~ '.*' AND b.y <> 1.5e-3 RETURN a, b LIMIT 10;",
            "RETURN '\\u00e9\\n', \"\\\\\"",
            "MATCH (n) WHERE n.name = 'дом' RETURN n.имя",
            "MATCH (created), (loader), (n:Settings) RETURN created.callers",
            "RETURN range(1, 10), range(-5, 5), lpad('x', 10, ' ')",
        ],
    )
    def test_passes(self, cypher):
        assert check_query(cypher) == {}

    def test_gives_the_parameters_back(self):
        given_ = {"id": "m-1", "n": 3, "x": 1.5, "b": True, "none": None, "list": ["a", None]}
        query = "RETURN $id, $n, $x, $b, $none, $list"
        assert check_query(query, given_) == given_


class TestRefused:
    @pytest.mark.parametrize("word", REFUSED)
    @pytest.mark.parametrize(
        "shape", ["{} (n)", "MATCH (n) {} n", "MATCH (n) RETURN n {}", "MATCH (n)/**/{}/**/n"]
    )
    def test_every_keyword_in_every_case(self, word, shape):
        for written in (word, word.lower(), word.title(), word[0].lower() + word[1:]):
            error = refusal(shape.format(written))
            assert error.field == "cypher"

    @pytest.mark.parametrize("word", REFUSED)
    def test_names_the_keyword(self, word):
        assert word in str(refusal(f"MATCH (n) {word.lower()} n"))

    @pytest.mark.parametrize(
        "cypher",
        [
            "LOAD FROM '/etc/passwd' (HEADER=false) RETURN *",
            "MATCH (n) WITH n LOAD FROM '/etc/passwd' RETURN *",
            "UNWIND [1] AS x LOAD WITH HEADERS (a STRING) FROM 'x.csv' RETURN a",
            "COPY (MATCH (n) RETURN n) TO '/tmp/x.csv'",
            "COPY CodeFile FROM '/etc/passwd'",
            "EXPORT DATABASE '/tmp/x'",
            "IMPORT DATABASE '/tmp/x'",
            "ATTACH '/tmp/x.db' AS x (dbtype sqlite)",
            "INSTALL httpfs",
            "LOAD EXTENSION httpfs",
            "CALL show_tables() RETURN *",
            "CALL force_checkpoint_on_close=false",
            "MATCH (n) CALL table_info('CodeFile') RETURN *",
            "MATCH (n) SET n.title = 'x'",
            "MATCH (n) DETACH DELETE n",
            "MATCH (n) MERGE (m:Session {session_id: 'x'}) RETURN m",
            "USE other MATCH (n) RETURN n",
            "EXPLAIN MATCH (n) RETURN n",
            "PROFILE MATCH (n) RETURN n",
            "COMMENT ON TABLE CodeFile IS 'x'",
            "ANALYZE",
            "(MATCH (n) RETURN n)",
            "`MATCH` (n) RETURN n",
            "BEGIN TRANSACTION",
            "COMMIT",
        ],
    )
    def test_other_statements(self, cypher):
        assert refusal(cypher).field == "cypher"

    @pytest.mark.parametrize(
        "cypher",
        [
            "MATCH (n) RETURN n; MATCH (m) RETURN m",
            "RETURN 1; COMMIT; BEGIN TRANSACTION; CREATE (n:Session {session_id: '1'})",
            "RETURN 1;/**/;RETURN 2",
            ";RETURN 1",
        ],
    )
    def test_several_statements(self, cypher):
        assert refusal(cypher).field == "cypher"

    @pytest.mark.parametrize(
        "cypher",
        [
            "MATCH (n) RETURN 'not closed",
            'MATCH (n) RETURN "not closed',
            "MATCH (n) RETURN `not closed",
            "MATCH (n) /* not closed",
            "MATCH (n) RETURN 'x\\' LOAD FROM 'y'",
            "MATCH (n) RETURN '\\q'",
            "MATCH (n) RETURN '\\u12'",
            "RETURN 1 // a comment that ends with a bare CR\rLOAD FROM 'x' RETURN *",
            "RETURN 1\u200b LOAD",
            "RETURN 1 \ufeff",
            "RETURN \\u0043REATE",
            "",
            "   ",
            ";",
            "// only a comment",
            "RETURN 1 " + " " * MAX_QUERY,
            "RETURN " + "(" * 50 + "1" + ")" * 50,
        ],
    )
    def test_what_can_not_be_read(self, cypher):
        assert refusal(cypher).field == "cypher"

    @pytest.mark.parametrize("word", ["ＬＯＡＤ", "ſet", "ＣＡＬＬ", "\u212aERNEL CALL"])
    def test_look_alikes_of_keywords(self, word):
        assert refusal(f"MATCH (n) {word} n").field == "cypher"

    @pytest.mark.parametrize("cypher", [None, 5, b"RETURN 1", ["RETURN 1"], {}, "RETURN '\ud800'"])
    def test_what_is_no_text(self, cypher):
        assert "text" in str(refusal(cypher))

    @pytest.mark.parametrize(
        "cypher",
        [
            "RETURN range(1, 1000000000)",
            "UNWIND range(1, 1000 * 1000 * 1000) AS x RETURN x",
            "RETURN RANGE(1, size('x') * 100000000)",
            "RETURN `range`(1, 1000000000)",
            "RETURN range /* */ (1, 1000000000)",
            "RETURN lpad('x', 1000000000, 'y')",
            "RETURN rpad('x', 999999999, ' ')",
            "RETURN repeat('x', 10000000000)",
            "RETURN repeat(repeat('a', 1000), 5 + 100000000)",
            "RETURN range(0, $many)",
        ],
    )
    def test_amounts_that_nothing_could_stop(self, cypher):
        parameters = {"many": 10**9} if "$" in cypher else None
        assert "plain numbers" in str(refusal(cypher, parameters))


class TestParameters:
    def test_a_missing_value_is_named(self):
        assert str(refusal("RETURN $id")) == "parameters: no value for $id"

    def test_an_unknown_name_is_named(self):
        assert str(refusal("RETURN 1", {"id": 1})) == "parameters: the query has no $id"

    @pytest.mark.parametrize("parameters", [[], "x", 5, [("a", 1)]])
    def test_they_are_an_object(self, parameters):
        assert refusal("RETURN $a", parameters).field == "parameters"

    @pytest.mark.parametrize("name", ["", "1a", "a b", "a;b", 5, "é"])
    def test_names_are_names(self, name):
        assert refusal("RETURN 1", {name: 1}).field == "parameters"

    @pytest.mark.parametrize(
        "value",
        [
            object(),
            b"x",
            {1, 2},
            2**63,
            -(2**63) - 1,
            "\ud800",
            {"\udfff": 1},
            {"a": {1: 2}},
            [[object()]],
            1j,
        ],
    )
    def test_values_are_json(self, value):
        assert refusal("RETURN $a", {"a": value}).field == "parameters.a"

    def test_values_nested_endlessly(self):
        value = []
        value.append(value)
        assert "nested" in str(refusal("RETURN $a", {"a": value}))

    @pytest.mark.parametrize(
        "value",
        [["a", 1], [1, True], [[1], ["a"]], {"in": [1, "a"]}, [{"a": 1}, {"b": 1}], [{"a": 1}, {"a": "x"}]],
    )
    def test_values_of_several_kinds_in_one_list(self, value):
        error = refusal("RETURN $a", {"a": value})
        assert error.field == "parameters.a"
        assert "of one kind" in str(error)

    @pytest.mark.parametrize(
        "value",
        [[1, 2.5], [None, "a"], [[], [1]], [[1], [2.5]], [{"a": 1, "b": []}, {"b": ["x"], "a": None}]],
    )
    def test_numbers_of_all_kinds_and_nothing_go_together(self, value):
        assert check_query("RETURN $a", {"a": value}) == {"a": value}

    def test_too_many_values(self):
        assert "more than" in str(refusal("RETURN $a", {"a": [0] * 100_000}))

    @pytest.mark.parametrize(
        ("cypher", "value", "says"),
        [
            ("MATCH (m:EpisodicMemory {memory_id: $a}) RETURN m", 5, "memory_id is a text"),
            ("MATCH (m:EpisodicMemory) WHERE m.memory_id = $a RETURN m", 5, "memory_id is a text"),
            ("MATCH (f:CodeFunction) WHERE f.start_line >= $a RETURN f", "5", "start_line is a whole number"),
            ("MATCH ()-[r:RELATES_TO_FILE_EPISODIC {relevance_score: $a}]->() RETURN r", "x", "is a number"),
            ("MATCH (m:EpisodicMemory) WHERE m.pinned = $a RETURN m", 1, "pinned is true or false"),
            ("MATCH (m:EpisodicMemory) WHERE m.created_at > $a RETURN m", "soon", "created_at is a time"),
        ],
    )
    def test_a_value_of_another_kind_than_the_property(self, cypher, value, says):
        error = refusal(cypher, {"a": value})
        assert error.field == "parameters.a"
        assert says in str(error)

    def test_a_time_is_given_as_text(self):
        query = "MATCH (m:EpisodicMemory) WHERE m.created_at > $since RETURN m"
        found = check_query(query, {"since": "2026-03-01T12:00:00+02:00"})["since"]
        assert found.isoformat() == "2026-03-01T10:00:00"

    def test_a_list_to_look_in(self):
        query = "MATCH (m:EpisodicMemory) WHERE m.memory_id IN $ids RETURN m"
        assert check_query(query, {"ids": ["a"]}) == {"ids": ["a"]}


@given(st.text(alphabet="MATCHRETURNLOADfrom'\"`\\;/*-(){}[]$.,: \n\r1x", max_size=40))
@example("RETURN '\\\\' LOAD")
@settings(deadline=None, max_examples=200)
def test_any_text_is_cut_or_refused_and_nothing_is_lost(text):
    try:
        tokens = tokens_of(text)
    except InvalidArgument:
        return
    rest = text
    for token in tokens:
        before, found, rest = rest.partition(token.text)
        assert found
        assert not before.strip() or before.lstrip().startswith(("/*", "//"))


def test_a_value_in_a_map_is_no_property():
    assert check_query("RETURN {count: $a}", {"a": "many"}) == {"a": "many"}
    assert check_query("RETURN size([{count: $a}])", {"a": "many"}) == {"a": "many"}


def test_properties_of_one_name_are_of_one_type():
    columns = {c for table in NODE_TABLES.values() for c in table}
    columns |= {c for table in REL_TABLES.values() for c in table.columns}
    assert len(columns) == len({column.name for column in columns})
