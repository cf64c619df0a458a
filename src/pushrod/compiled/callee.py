"""Functions that are only ever inlined: compiled as far as the text of LLVM, and put together and made machine code once, in the entry point.

numba makes machine code for every function it meets, and before that optimises it together with all it calls; but nobody calls a linked function
from Python, and its callers inline it. `njit(pipeline_class=Callee)` leaves that out: the functions of a machine compile in half the time.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class Part(JITCodeLibrary):
    """The code of one function and of all it calls, to be linked into that of its callers; `height` levels of calls."""

    height: int

    def finalize(self) -> None:
        if self._finalized:
            return
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self.height = 1 + max((library.height for library in self._linking_libraries if isinstance(library, Part)), default=0)
        if self.height % 2 == 0:
            # inlined on the way, every second level: all at once, at the end, gives code that is a fifth slower; every level takes longer
            passes, builder = self._codegen._module_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
            passes.run(self._final_module, builder)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = True
        super().run_pass(state)
        # numba knows the function by a built-in that is its entry from Python; this one is none, but no other function has it
        entry = [state.library].copy
        state.cr = state.cr._replace(cfunc=entry)
        state.targetctx.insert_user_function(entry, state.cr.fndesc, [state.library])
        return True


class Callee(Compiler):
    def define_pipelines(self) -> Any:
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [(PartLowering if step is NativeLowering else step, why) for step, why in pipeline.passes]
            pipeline._finalized = False
            pipeline.finalize()
        return pipelines
