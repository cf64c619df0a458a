"""The dashboard: a page in the browser that shows a robot and commands it through the gate, as one more operator at the far end of the bus.

It runs in a process of its own (`python -m pushrod.dash`), which `pushrod serve MACHINE --dash` starts beside the robot and `pushrod dash` for one
that is served elsewhere. What it shows comes over the bus; what it commands passes the same gate as everybody's.
"""
