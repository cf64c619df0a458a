"""The description of a robot: frozen data, from Python, YAML or URDF."""
