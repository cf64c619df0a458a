"""Ready-made layouts for Foxglove and PlotJuggler: what of a machine is looked at together."""
