"""The command `pushrod`: one file per verb."""
