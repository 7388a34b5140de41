"""Logs of language models: what their tools wrote, read as those tools count it, and what is refused."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calcert
from calcert.sources.files import inspect_log, model_logs
from calcert.sources.files.inspect_log import LogArchive
from calcert.sources.rows_in_memory import read_rows

WRITTEN = Path(__file__).parent / "model_logs"
"""Logs that the tools wrote themselves: lm-evaluation-harness 0.4.13 and inspect_ai 0.3.285."""

CHOICES = WRITTEN / "samples_choices_lm_eval_0.4.13.jsonl"
FILTERS = WRITTEN / "samples_two_filters_lm_eval_0.4.13.jsonl"
EPOCHS = WRITTEN / "inspect_ai_0.3.285.eval"
AS_JSON = WRITTEN / "inspect_ai_0.3.285.json"
SCORERS = WRITTEN / "inspect_ai_two_scorers.eval"

Write = Callable[..., Path]


def refusal(source: Any, **said: Any) -> str:
    with pytest.raises((ValueError, TypeError)) as caught:
        calcert.Rows(source, **said).summary()
    return str(caught.value)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file, and say where."""

    def to(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to


def members(path: Path = EPOCHS) -> dict[str, bytes]:
    with LogArchive(str(path), "log") as archive:
        return {member.filename: archive._content(member) for member in archive._members}


def archived(content: dict[str, bytes], path: Path, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return path


def changed(path: Path, change: Callable[[dict[str, Any]], Any], which: str = "samples/q0_epoch_1.json") -> Path:
    """The log of inspect_ai with one sample, or its header, changed."""
    found = members()
    value = json.loads(found[which])
    value = change(value) or value
    return archived(found | {which: json.dumps(value).encode()}, path)


# lm-evaluation-harness


def test_the_confidence_in_a_choice_is_the_softmax_of_its_log_likelihood() -> None:
    rows = calcert.Rows(CHOICES)
    records = [json.loads(line) for line in CHOICES.read_text().splitlines()]
    softmax = []
    for record in records:
        ll = np.array([float(pair[0]) for pair in record["filtered_resps"]])
        softmax.append(float((np.exp(ll) / np.exp(ll).sum()).max()))
    scores, labels = read_rows(rows.source.value, rows.score, rows.label)
    assert scores == pytest.approx(softmax, rel=1e-12)
    assert labels.tolist() == [record["acc"] for record in records]
    assert rows.clusters is None
    assert (rows.score, rows.label) == ("choice_confidence", "acc")


def test_a_choice_that_is_certain_has_confidence_one_and_no_more() -> None:
    values = {"filtered_resps": [["-0.0", "True"], ["-inf", "False"], ["-800", "False"]]}
    assert model_logs._choice_confidence(values, "") == 1.0


def test_log_likelihoods_without_the_question_are_no_choices() -> None:
    pairs = [["-1.0", "True"], ["-1.0", "False"]]
    values = {"filtered_resps": [*pairs, ["-0.1", "True"], ["-9", "True"]], "metrics": ["acc", "acc_mutual_info"]}
    assert model_logs._choice_confidence(values, "") == 0.5


def test_the_metric_must_judge_the_choice_whose_confidence_is_taken() -> None:
    assert "label must be 'acc' where the score is 'choice_confidence'" in refusal(CHOICES, label="acc_norm")
    assert "got 'acc_norm'" in refusal(CHOICES, score="choice_confidence", label="acc_norm")


def test_several_filters_are_refused_until_one_is_named(write: Write) -> None:
    said: dict[str, Any] = {"score": "said", "label": "exact_match"}
    records = [json.loads(line) | {"said": 0.5} for line in FILTERS.read_text().splitlines()]
    path = write("samples_x.jsonl", "\n".join(map(json.dumps, records)))
    assert "got 'strict-match' and 'flexible-extract' on line 7" in refusal(path, **said)
    assert "Pass Reading(filter='strict-match')." in refusal(path, **said)
    found = calcert.Rows(path, reading=calcert.Reading(filter="flexible-extract"), **said).summary()
    assert found.n == 6
    wanted = sum(record["exact_match"] for record in records if record["filter"] == "flexible-extract")
    assert found.positives == wanted
    wrong = refusal(path, reading=calcert.Reading(filter="none"), **said)
    assert "filter must be one of" in wrong
    assert "It has 'strict-match', 'flexible-extract'." in wrong


@pytest.mark.parametrize(("name", "text"), [("rows.jsonl", '{"p": 0.5, "y": 1}\n'), ("rows.csv", "p,y\n0.5,1\n")])
def test_a_filter_of_other_files_is_refused(write: Write, name: str, text: str) -> None:
    path = write(name, text)
    assert "Reading(filter=...) must come with samples" in refusal(path, reading=calcert.Reading(filter="none"))


def test_answers_without_log_likelihoods_need_a_score() -> None:
    assert "Pass the path of the confidence, such as score='filtered_resps.0'" in refusal(FILTERS)


def test_items_of_lists_are_columns_by_their_place(write: Write) -> None:
    records = [json.loads(line) for line in CHOICES.read_text().splitlines()]
    for number, record in enumerate(records):
        record["filtered_resps"] = [f"0.{number + 10}"]
    path = write("samples_x.jsonl", "\n".join(map(json.dumps, records)))
    rows = calcert.Rows(path, score="filtered_resps.0")
    assert rows.summary() == calcert.summarize([(k + 10) / 100 for k in range(12)], [r["acc"] for r in records])
    plain = write("plain.jsonl", '{"a": [{"p": [0.25, 0.75]}], "y": 1}\n{"a": [{"p": [0.5, 0.5]}], "y": 0}\n')
    found = calcert.Rows(plain, score="a.0.p.1", label="y").summary()
    assert found == calcert.summarize([0.75, 0.5], [1, 0])
    assert "score must be a column of" in refusal(plain, score="a.1.p.1", label="y")


def test_a_document_twice_is_refused(write: Write) -> None:
    text = CHOICES.read_text()
    path = write("samples_x.jsonl", text + text.splitlines()[3] + "\n")
    assert "every doc_id must be there once for each filter; got 3 again on line 13" in refusal(path)


def test_one_benchmark_asked_of_two_models_has_questions_for_clusters(write: Write, caplog: Any) -> None:
    first, second = (write(f"{name}/samples_x.jsonl", CHOICES.read_text()) for name in ("a", "b"))
    both = calcert.Rows([first, second])
    assert both.clusters == "question"
    assert "24 rows in 12 clusters" in repr(both.summary())
    assert "independent=True (--independent)" in caplog.text
    alone = calcert.Rows(first).summary()
    assert calcert.Rows([first, second], independent=True).summary() == alone + alone
    assert calcert.Rows([first, second], clusters="doc_id").clusters == "doc_id"


def test_totals_are_no_rows(write: Write) -> None:
    path = write("results_x.json", json.dumps({"results": {"x": {"acc": 0.5}}}, indent=2))
    assert "got the totals of lm-evaluation-harness. Pass samples_*.jsonl" in refusal(path)


@pytest.mark.parametrize("wrong", ["nan", "0.5", "-inf"])
def test_log_likelihoods_must_be_some(write: Write, wrong: str) -> None:
    record = json.loads(CHOICES.read_text().splitlines()[0])
    record["filtered_resps"] = [[wrong, "True"]] * 4
    assert "log-likelihoods in filtered_resps must be at most 0" in refusal(
        write("samples_x.jsonl", json.dumps(record))
    )


# inspect_ai


@pytest.mark.parametrize("path", [EPOCHS, AS_JSON])
def test_a_log_of_inspect_is_read_as_it_was_scored(path: Path, caplog: Any) -> None:
    rows = calcert.Rows(path)
    assert (rows.score, rows.label) == ("scores.said.metadata.confidence", "scores.said.value")
    assert rows.clusters == "question"
    samples = (
        json.loads(AS_JSON.read_text())["samples"]
        if path == AS_JSON
        else [json.loads(text) for name, text in members().items() if name.startswith("samples/")]
    )
    said = [sample["scores"]["said"] for sample in samples]
    scores, labels = [one["metadata"]["confidence"] for one in said], [one["value"] == "C" for one in said]
    questions = [sample["id"] for sample in samples]
    assert rows.summary() == calcert.Rows(scores, labels, clusters=questions).summary()
    assert calcert.Rows(path, independent=True).summary() == calcert.summarize(scores, labels)
    assert "(C is 1, I and N are 0)" in caplog.text
    assert "questions were asked several times" in caplog.text


def test_several_scorers_are_refused_until_one_is_named() -> None:
    assert "'scores.said.value', 'scores.match.value'. Pass label='...' (--label)." in refusal(SCORERS)
    assert calcert.Rows(SCORERS, label="scores.match.value").summary().n == 2


def test_one_epoch_has_no_clusters_and_two_logs_of_a_task_have(tmp_path: Path) -> None:
    assert calcert.Rows(SCORERS, label="scores.said.value").clusters is None
    other = tmp_path / "other.eval"
    other.write_bytes(SCORERS.read_bytes())
    assert calcert.Rows([SCORERS, other], label="scores.said.value").clusters == "question"


def test_groups_are_nested_fields_or_files(tmp_path: Path) -> None:
    topics = calcert.Rows(EPOCHS, groups="metadata.topic").by_group().summaries
    assert {name: part.rows for name, part in topics.items()} == {"small": 8}
    folder = tmp_path / "b"
    folder.mkdir()
    for path in (tmp_path / "a.jsonl", folder / "a.jsonl"):
        path.write_text(CHOICES.read_text())
    files = calcert.Rows([tmp_path / "a.jsonl", folder / "a.jsonl"], groups="file_name").by_group().summaries
    assert {name: part.rows for name, part in files.items()} == {"a.jsonl": 12, "b/a.jsonl": 12}


def test_a_column_called_like_files_is_that_column(write: Write) -> None:
    path = write("rows.csv", "p,y,file_name\n0.5,1,u\n0.5,0,v\n")
    assert {*calcert.Rows(path, groups="file_name").by_group().summaries} == {"u", "v"}


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archives_are_read_however_they_are_compressed(tmp_path: Path, method: int) -> None:
    assert calcert.Rows(archived(members(), tmp_path / "x.eval", method)).summary() == calcert.Rows(EPOCHS).summary()


def test_no_answer_counts_as_wrong_and_a_partial_one_as_half(tmp_path: Path) -> None:
    def graded(value: Any) -> Path:
        return changed(tmp_path / "x.eval", lambda sample: sample["scores"]["said"].update(value=value))

    wrong = calcert.Rows(graded("I"), independent=True).summary()
    assert calcert.Rows(graded("N"), independent=True).summary() == wrong
    assert calcert.Rows(graded(0), independent=True).summary() == wrong
    assert calcert.Rows(graded("C"), independent=True).summary().positives == wrong.positives + 1
    assert "labels must be 0 or 1 (or bool); got 0.5 in sample 'q0', epoch 1," in refusal(graded("P"))
    assert calcert.Rows(graded("P"), soft_labels=True).summary().n
    assert "got 'X' in sample 'q0', epoch 1, of" in refusal(graded("X"))


def test_what_was_not_scored_is_missing(tmp_path: Path) -> None:
    path = changed(tmp_path / "x.eval", lambda sample: sample.update(scores={}))
    said: dict[str, Any] = {"score": "scores.said.metadata.confidence", "label": "scores.said.value"}
    assert "in sample 'q0', epoch 1, of" in refusal(path, **said)
    assert calcert.Rows(path, reading=calcert.Reading(drop_missing=True), **said).summary().rows == 7


def test_unfinished_logs_and_invalid_samples_are_refused_or_left_out_on_purpose(tmp_path: Path) -> None:
    partial = calcert.Reading(drop_missing=True)
    path = changed(tmp_path / "a.eval", lambda header: header.update(status="cancelled"), "header.json")
    assert "must be a finished log; got one of status 'cancelled'." in refusal(path)
    assert calcert.Rows(path, reading=partial).summary() == calcert.Rows(EPOCHS).summary()
    begun = {name: text for name, text in members().items() if name != "header.json"}
    assert "got one of status 'started'" in refusal(archived(begun, tmp_path / "b.eval"))
    path = changed(tmp_path / "c.eval", lambda sample: sample.update(invalidation={"author": "x"}))
    assert "got one marked invalid in sample 'q0', epoch 1," in refusal(path)
    assert calcert.Rows(path, reading=partial).summary().rows == 7


def test_a_log_must_hold_as_many_samples_as_it_counts(tmp_path: Path) -> None:
    """A sample whose name was damaged is not left out in silence."""
    found = members()
    found["sampled/q0_epoch_1.json"] = found.pop("samples/q0_epoch_1.json")
    path = archived(found, tmp_path / "x.eval")
    assert "must hold all samples that it counts; got 7 of 8." in refusal(path)
    assert calcert.Rows(path, reading=calcert.Reading(drop_missing=True)).summary().rows == 7


# Hostile files


def hostile(tmp_path: Path) -> dict[str, tuple[Path, str]]:
    """Archives that are not as they should be, and a part of what is said of each."""
    whole, found = EPOCHS.read_bytes(), members()
    begun = {name: text for name, text in found.items() if name != "samples/q0_epoch_1.json"}
    one = json.loads(found["samples/q0_epoch_1.json"])

    def cut(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    def sample(name: str, text: str | bytes) -> Path:
        content = text if isinstance(text, bytes) else text.encode()
        return archived(begun | {"samples/q0_epoch_1.json": content}, tmp_path / name)

    flipped = bytearray(whole)
    flipped[whole.index(b"samples/q0_epoch_1.json") + 60] ^= 0xFF
    again = json.dumps(one | {"id": "q1"})
    return {
        "cut": (cut("cut.eval", whole[:-30]), "must be a whole log of inspect_ai"),
        "half": (cut("half.eval", whole[: len(whole) // 2]), "must be a whole log of inspect_ai"),
        "flipped": (cut("flipped.eval", bytes(flipped)), "must be a whole log of inspect_ai"),
        "no archive": (cut("text.eval", b"p,y\n0.5,1\n"), "must be a whole log of inspect_ai"),
        "no header": (archived({"a": b"{}"}, tmp_path / "none.eval"), "neither 'header.json' nor"),
        "no eval": (archived(found | {"header.json": b'{"status": "success"}'}, tmp_path / "x.eval"), "object 'eval'"),
        "list": (archived(found | {"header.json": b"[]"}, tmp_path / "list.eval"), "'header.json' is not an object"),
        "no samples": (archived({"header.json": found["header.json"]}, tmp_path / "empty.eval"), "got 0 of 8"),
        "number": (sample("number.eval", "3"), "must be a JSON object; got 3"),
        "no id": (sample("id.eval", "{}"), "must have an id and an epoch; got None and None"),
        "text": (sample("text2.eval", "{"), "'samples/q0_epoch_1.json': Expecting"),
        "bytes": (sample("bytes.eval", b"\xff\xfe"), "'samples/q0_epoch_1.json': "),
        "deep": (sample("deep.eval", "[" * 200_000), "nested too deeply"),
        "long number": (sample("long.eval", '{"id": ' + "9" * 5000 + "}"), "'samples/q0_epoch_1.json': "),
        "twice": (sample("twice.eval", again), "every sample must be there once for each epoch"),
        "chunks": (archived(found | {"samples/a_epoch_1/sample.json": b"{}"}, tmp_path / "c.eval"), "in chunks"),
        "scores": (sample("scores.eval", json.dumps(one | {"scores": 3})), "in sample 'q0', epoch 1,"),
        "list of scores": (sample("scores2.eval", json.dumps(one | {"scores": [[]]})), "in sample 'q0', epoch 1,"),
    }


def test_hostile_archives_end_in_words(tmp_path: Path) -> None:
    for name, (path, words) in hostile(tmp_path).items():
        said = refusal(path)
        assert words in said, (name, said)


def test_a_member_that_would_be_huge_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = members()
    bomb = archived(found | {"samples/q9_epoch_1.json": b" " * (1 << 22)}, tmp_path / "bomb.eval")
    monkeypatch.setattr(inspect_log, "LARGEST", 1 << 21)
    assert "it would have 4,194,304 bytes, and 2,097,152 are read at most" in refusal(bomb)
    monkeypatch.setattr(inspect_log, "SMALL_ARCHIVE", 1 << 20)
    monkeypatch.setattr(inspect_log, "MOST_EXPANSION", 50)
    assert "bytes would become" in refusal(bomb)


def test_a_member_that_says_it_is_small_is_unpacked_no_further(tmp_path: Path) -> None:
    """The sizes in the directory are lies; no more than they say is unpacked."""
    path = archived(members() | {"samples/q9_epoch_1.json": b" " * (1 << 22)}, tmp_path / "lie.eval")
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"samples/q9_epoch_1.json") - 46
    content[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    assert "it does not have its size and checksum" in refusal(path)


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = archived(members(), tmp_path / "overlap.eval", zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"samples/q0_epoch_1.json") - 46
    content[entry + 20 : entry + 24] = (len(content)).to_bytes(4, "little")
    path.write_bytes(content)
    assert "its members overlap" in refusal(path)


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    path = archived(members(), tmp_path / "x.eval")
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("samples/q0_epoch_1.json", "{}")
    assert "it holds 'samples/q0_epoch_1.json' twice" in refusal(path)


def test_names_of_members_lead_nowhere(tmp_path: Path) -> None:
    """Nothing is written, and a name is only a name."""
    found = members()
    inside = found.pop("samples/q0_epoch_1.json")
    path = archived(found | {"samples/../../../q0\x1b[2J_epoch_1.json": inside}, tmp_path / "x.eval")
    assert calcert.Rows(path).summary() == calcert.Rows(EPOCHS).summary()
    assert [path.name for path in tmp_path.iterdir()] == ["x.eval"]
    path = archived(found | {"samples/../../../q0\x1b[2J_epoch_1.json": b"{"}, tmp_path / "x.eval")
    assert "\x1b" not in refusal(path)


def test_a_json_log_that_is_cut_or_has_no_samples_is_refused(write: Write) -> None:
    text = AS_JSON.read_text()
    assert "must be a log of inspect_ai" in refusal(write("cut.json", text[: len(text) // 2]))
    assert "must be a log of inspect_ai" in refusal(write("early.json", text[:600]))
    value = json.loads(text)
    said: dict[str, Any] = {"score": "scores.said.metadata.confidence", "label": "scores.said.value"}
    for samples in (None, []):
        path = write("none.json", json.dumps(value | {"samples": samples}))
        assert "none.json" in refusal(path, **said)


def test_logs_of_two_tools_are_not_mixed(write: Write) -> None:
    path = write("rows.jsonl", '{"p": 0.5, "y": 1}\n')
    assert "all files must be logs of one tool" in refusal([CHOICES, path])
    assert "all files must be logs of one tool" in refusal([EPOCHS, CHOICES])


def test_independent_rows_are_said_of_logs_alone(write: Write) -> None:
    path = write("rows.jsonl", '{"p": 0.5, "y": 1}\n')
    assert "independent must come with logs" in refusal(path, independent=True)
    assert "without clusters; got clusters='id'" in refusal(EPOCHS, independent=True, clusters="id")
    with pytest.raises(TypeError, match="independent must come with logs"):
        calcert.Rows([0.5], [1], independent=True)


def test_a_pretty_printed_file_is_told_the_way_out(write: Write) -> None:
    path = write("rows.json", json.dumps({"rows": [{"p": 0.5, "y": 1}]}, indent=2))
    assert "jq -c '.key[]' rows.json > rows.jsonl" in refusal(path)
    array = write("array.json", json.dumps([{"p": 0.5, "y": 1}, {"p": 0.25, "y": 0}], indent=2))
    assert calcert.Rows(array).summary() == calcert.summarize([0.5, 0.25], [1, 0])


# 95%, 95 and 0.95 in one column


def test_percentages_and_shares_may_stand_in_one_column(write: Write) -> None:
    written: list[Any] = ["95%", 95, "95", 0.95, "0.95", "100", 1.0, "1.0", "1%", 0, "0.5%", "7.5 %"]
    scores = [0.95, 0.95, 0.95, 0.95, 0.95, 1, 1, 1, 0.01, 0, 0.005, 0.075]
    text = "\n".join(json.dumps({"p": value, "y": k % 2}) for k, value in enumerate(written))
    path = write("rows.jsonl", text)
    mixed = calcert.Reading(mixed_percent=True)
    found = calcert.Rows(path, score="p", label="y", reading=mixed).summary()
    assert found == calcert.summarize(scores, [k % 2 for k in range(12)])
    assert "scores must be numbers in [0, 1]" in refusal(path, score="p", label="y")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1, "1 without a sign may be 1%, 1.0 or 100%"),
        ("1", "1 without a sign may be 1%, 1.0 or 100%"),
        (101, "percentages from 0 to 100, or shares from 0 to 1; got 101"),
        ("-3%", "percentages from 0 to 100"),
        (True, "percentages from 0 to 100"),
        ("sure", "percentages from 0 to 100"),
        (math.inf, "percentages from 0 to 100"),
        ([0.5], "percentages from 0 to 100"),
    ],
)
def test_what_may_be_either_is_refused(write: Write, value: Any, words: str) -> None:
    path = write("rows.jsonl", json.dumps({"p": value, "y": 1}))
    assert words in refusal(path, score="p", label="y", reading=calcert.Reading(mixed_percent=True))


def test_scores_are_percentages_in_one_way_or_in_both() -> None:
    with pytest.raises(ValueError, match="percent must be left out where mixed_percent is True"):
        calcert.Reading(percent=True, mixed_percent=True)
