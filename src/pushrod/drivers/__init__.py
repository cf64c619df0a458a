"""Drivers of real hardware. Each names the library it needs as an extra of the same name, and asks for it only when it opens its device."""
