"""`pushrod run` shows what a comparison came to, and fails where it does not hold."""

from pathlib import Path

from pushrod.sim import scenario


def test_the_boat_shows_what_the_feedback_is_worth(pushrod):
    got = pushrod("run", "boat", "--no-log")
    assert got.exit_code == 0, got.stdout
    words = " ".join(got.stdout.split())
    assert "feedback = true" in words
    assert "feedback = false" in words
    assert "second >= 5 times first" in words or "second ≥ 5 times first" in words
    assert "FAILED" not in words


def test_a_comparison_that_does_not_hold_ends_with_1(pushrod, tmp_path: Path):
    text = scenario.shipped()["boat_windup"].read_text()
    (tmp_path / "s.yaml").write_text(text.replace("times: 5", "times: 5000"))
    got = pushrod("run", "boat", tmp_path / "s.yaml", "--no-log")
    assert got.exit_code == 1
    assert "FAILED" in got.stdout


def test_without_the_feedback_the_shipped_scenario_says_so(pushrod):
    got = pushrod("run", "boat", "--no-log", "--set", "feedback=false")
    assert got.exit_code == 1
    assert "held" in got.stdout, "the comparison is of both ways all the same"
