"""What a model reads after an answer."""

from __future__ import annotations

from kgtui.generation.prompts import Prompts


def test_answer_without_a_run_is_not_called_incorrect():
    text = Prompts().feedback(None, extraction="", remark="keep it simple")
    assert text == "Your file was not run.\n\nkeep it simple\n\nAnswer with the whole file in one Python code block.\n"


def test_answer_without_code_gets_reason_in_reply():
    text = Prompts().feedback(None, extraction="the answer is a diff; answer with the whole file")
    assert text.startswith("No file was taken from your answer: the answer is a diff; answer with the whole file.\n")
