"""The one-line plot of a run: outputs of one unit share a row, all rows share the time axis."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushrod.compiled.result import Run


def figure(run: "Run", names: tuple[str, ...], instances: int) -> Any:
    from plotly.subplots import make_subplots

    units = run.units
    rows = list(dict.fromkeys(units[name] for name in names if run[name] is not None))
    fig = make_subplots(rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=0.04)
    for name in names:
        values = run[name].reshape(run.data.shape[0], -1)
        for i in range(min(instances, values.shape[1])):
            label = name if run.single else f"{name} [{i}]"
            fig.add_scatter(x=run.t, y=values[:, i], name=label, mode="lines", row=rows.index(units[name]) + 1, col=1)
    for j, unit in enumerate(rows, 1):
        fig.update_yaxes(title_text=f"[{unit}]", row=j, col=1)
    fig.update_xaxes(title_text="time [s]", row=len(rows), col=1)
    fig.update_layout(template="plotly_white", height=180 * len(rows) + 120, title=run.model.name, hovermode="x unified")
    return fig
