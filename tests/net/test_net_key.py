"""Any word can be a robot, an operator or part of a topic; a key says where it belongs and comes back as it was."""

import pytest
import zenoh
from hypothesis import given
from hypothesis import strategies as st

from pushrod.net import key

words = st.text(st.characters(blacklist_categories=("Cs",)), max_size=8)


@given(words)
def test_a_word_comes_back_as_it_was(word):
    assert key.text(key.word(word)) == word


@given(words, words)
def test_two_words_are_two_keys(one, other):
    assert (key.word(one) == key.word(other)) == (one == other)


@given(words.filter(bool), st.lists(words, min_size=1, max_size=3), words)
def test_zenoh_takes_every_key_and_wildcards_find_it(robot, topic, kind):
    name = key.topic(robot, key.TOPIC, (key.word(kind), key.NONE), topic)
    assert str(zenoh.KeyExpr(name)) == name
    assert key.topic_of(name) == (robot, kind, tuple(topic))
    assert zenoh.KeyExpr(key.topic("", key.TOPIC, (key.ANY, key.ANY), topic[:1], key.BELOW)).includes(name)
    assert zenoh.KeyExpr(key.of(robot, "topic", key.BELOW)).includes(name)


@pytest.mark.parametrize("word", ["*", "**", "a/b", "$*", "@x", "", "%", "a?b#c", "%2A", " ", "ä"])
def test_what_a_key_may_not_hold_is_no_wildcard_and_no_border(word):
    name = key.ask("arm", word, "arm")
    assert zenoh.KeyExpr(key.of("", "ask", key.ANY, "arm")).includes(name)
    assert not zenoh.KeyExpr(name).includes(key.ask("arm", "ann", "arm"))
    assert key.below(name, "arm") == ("ask", word, "arm")
