"""The estimate of another clock is never wrong by more than it admits."""

from hypothesis import given
from hypothesis import strategies as st

from pushrod.net.offset import DRIFT, KEPT, Estimate

seconds = st.floats(0.0, 2.0)


@given(
    ahead=st.floats(-1e6, 1e6),
    drift=st.floats(-DRIFT, DRIFT),
    ways=st.lists(st.tuples(seconds, seconds, seconds, seconds), min_size=1, max_size=3 * KEPT),
    later=st.floats(0.0, 100.0),
)
def test_the_truth_is_within_the_doubt(ahead, drift, ways, later):
    """Each exchange: a pause, the way there, the time the host takes, the way back; the clocks drift apart meanwhile."""
    now, estimate = 50.0, Estimate()

    def host(t):
        return t + ahead + drift * (t - 50.0)

    for pause, there, taken, back in ways:
        t1 = now + pause
        t2, t3 = t1 + there, t1 + there + taken
        now = t3 + back
        estimate.add(t1, host(t2), host(t3), now)
    told = estimate.at(now + later)
    slack = 1e-9 * max(abs(ahead), 1.0) + 2.0 * DRIFT * 6.0  # rounding; and what drifts during the exchange itself
    assert abs(told.seconds - (host(now + later) - (now + later))) <= told.doubt + slack


def test_the_quickest_of_the_last_exchanges_counts_until_it_is_too_old():
    estimate = Estimate()
    estimate.add(0.0, 100.0 + 0.001, 100.0 + 0.001, 0.002)
    estimate.add(1.0, 101.3, 101.3, 1.4)
    assert estimate.at(1.4).seconds == 100.0
    assert estimate.at(1.4).doubt == 0.001 + DRIFT * (1.4 - 0.002)
    for k in range(KEPT):
        estimate.add(2.0 + k, 102.1 + k, 102.1 + k, 2.2 + k)
    assert estimate.at(20.0).doubt >= 0.1, "it was forgotten"


def test_before_the_first_exchange_nothing_is_known():
    assert Estimate().at(0.0).doubt == float("inf")
