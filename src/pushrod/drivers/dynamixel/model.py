"""The models of the X series by the number they answer to a ping with, and the unit of their current.

Sources: model numbers from the e-manual and the maker's SDK (control_table/dynamixel.model); units of current from the e-manual: 1 mA
(XL330, XC330), 2.69 mA (XM, XH-W, XD, XW and all 540), 1.34 mA (XH430-V). The XL-320 shares the name but has another control table, and is not here.
"""

from typing import NamedTuple

LOWEST_FIRMWARE = 38  # Drive Mode and Bus Watchdog are there from this version on


class Model(NamedTuple):
    """`ampere`: current [A] of one raw unit; None where it reports a load instead of a current."""

    name: str
    number: int
    ampere: float | None

    @property
    def has_current(self) -> bool:
        return self.ampere is not None


MODELS = {
    model.number: model
    for model in (
        Model("XH430-W350", 1000, 2.69e-3),
        Model("XD430-T350", 1001, 2.69e-3),
        Model("XH430-W210", 1010, 2.69e-3),
        Model("XD430-T210", 1011, 2.69e-3),
        Model("XM430-W350", 1020, 2.69e-3),
        Model("XM430-W210", 1030, 2.69e-3),
        Model("XH430-V350", 1040, 1.34e-3),
        Model("XH430-V210", 1050, 1.34e-3),
        Model("XL430-W250", 1060, None),
        Model("XC430-W150", 1070, None),
        Model("XC430-W240", 1080, None),
        Model("2XL430-W250", 1090, None),
        Model("XH540-W270", 1100, 2.69e-3),
        Model("XD540-T270", 1101, 2.69e-3),
        Model("XH540-W150", 1110, 2.69e-3),
        Model("XD540-T150", 1111, 2.69e-3),
        Model("XM540-W270", 1120, 2.69e-3),
        Model("XM540-W150", 1130, 2.69e-3),
        Model("XH540-V270", 1140, 2.69e-3),
        Model("XH540-V150", 1150, 2.69e-3),
        Model("2XC430-W250", 1160, None),
        Model("XW540-T260", 1170, 2.69e-3),
        Model("XW540-T140", 1180, 2.69e-3),
        Model("XL330-M077", 1190, 1e-3),
        Model("XL330-M288", 1200, 1e-3),
        Model("XC330-T181", 1210, 1e-3),
        Model("XC330-T288", 1220, 1e-3),
        Model("XC330-M181", 1230, 1e-3),
        Model("XC330-M288", 1240, 1e-3),
        Model("XW430-T333", 1270, 2.69e-3),
        Model("XW540-H260", 1310, 2.69e-3),
    )
}
