"""A machine of `sim`, live: its world moves behind the runtime, whose drivers are ports into it."""
