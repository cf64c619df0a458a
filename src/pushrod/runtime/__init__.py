"""The live side: every command passes one gate, gets one typed answer, and reaches a supervised driver. asyncio and threads live here."""
