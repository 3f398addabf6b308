"""Which parameters one text may write to: by the words of their attributes, or all of a module in a loop."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from torchlint.syntax.ast_index import AstIndex
from torchlint.syntax.places import is_called_self, word_of
from torchlint.texts.word_index import ProjectFile

LISTING = ("parameters", "named_parameters", "state_dict", "_parameters", "__dict__")
"""What gives all parameters of a module."""
_VIEWS = frozenset(
    "view reshape unsqueeze squeeze expand expand_as view_as t transpose permute T mT H flatten unflatten narrow "
    "select chunk split unbind detach contiguous diagonal swapaxes movedim".split()
)
"""What may give the same memory."""
_READING = frozenset(
    "matmul mm bmm mv dot mul add sub div pow addmm baddbmm einsum append extend print len isinstance str repr float "
    "type id int list sum prod norm info debug format write add_param_group add_histogram is_tensor size".split()
)
"""Functions and methods, by their last words, that write nothing to what they are given."""
_HARMLESS = frozenset({"requires_grad_", "share_memory_", "retain_grad", "register_hook", "requires_grad", "grad"})
_FUNCTIONAL = frozenset({"torch", "F", "functional", "np", "numpy", "math"})
_ALL_GIVEN = ("init", "reset", "xavier", "kaiming", "weights", "map", "vector_to_parameters", "fill", "normal")
_PLAIN = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.Expr, ast.If, ast.While, ast.Assert, ast.FormattedValue),
    *(ast.AugAssign, ast.Delete),
)

_COLLECTING = (ast.Tuple, ast.List, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.Dict)


@dataclass(frozen=True, slots=True)
class Written:
    """What a text may write to."""

    words: frozenset[str]
    """Attributes that are written to, or leave for where that is not seen."""
    is_any: bool
    """Whether it may write to all parameters of a module."""
    own: frozenset[tuple[str, str]] = frozenset()
    """Classes that write to attributes which they bind themselves, with the words of those."""

    def may_hold(self, word: str, lineage: Collection[str]) -> bool:
        """Whether a parameter in an attribute of a class may be written to; with it come the names of its bases."""
        return self.is_any or word in self.words or any((each, word) in self.own for each in lineage)


EVERYTHING = Written(frozenset(), is_any=True)


def written_parameters(index: AstIndex) -> Written:
    """Return what a text may write to."""
    if any(_may_write_to_all(each, index) for each in _all_listed(index)):
        return EVERYTHING
    attributes, own = set(), set()
    for each in index.nodes(ast.Attribute):
        if not _is_written(each, index):
            continue
        owner = index.nearest(each, ast.ClassDef) if is_called_self(each.value) else None
        if owner is not None and each.attr in index.told(_bound, owner):
            own.add((owner.name, each.attr))
        else:
            attributes.add(each.attr)
    texts = (each.value for each in index.nodes(ast.Constant) if isinstance(each.value, str))
    named = {each.rpartition(".")[2] for each in texts if len(each) < 200}
    return Written(frozenset(attributes | named), False, frozenset(own))


def _bound(index: AstIndex, owner: ast.ClassDef) -> frozenset[str]:
    """Return the attributes of ``self`` that a class's methods bind."""
    stores = (each for each in index.inside(owner, ast.Attribute) if isinstance(each.ctx, ast.Store))
    return frozenset(each.attr for each in stores if is_called_self(each.value))


def written_in(file: ProjectFile) -> Written:
    """Return what a file of the project may write to."""
    index = file.tree
    return written_parameters(index) if index is not None else EVERYTHING


# ---------------------------------------------------------------------- one attribute
def _is_written(node: ast.Attribute, index: AstIndex) -> bool:
    if not isinstance(node.ctx, ast.Load):
        return not is_called_self(node.value)
    return _is_written_to(node, index)


def _is_written_to(node: ast.expr, index: AstIndex) -> bool:
    """Whether the memory of a value may be written to, or the value goes where that is not seen."""
    while True:
        above = index.parents.get(node)
        match above:
            case ast.Attribute(attr=word):
                call = index.call_of(above)
                if word == "data" and not isinstance(above.ctx, ast.Load):
                    return True
                if word.endswith("_") and not word.startswith("_") and word not in _HARMLESS:
                    return True
                if word not in _VIEWS and word != "data":
                    return False
                node = call if call is not None else above
            case ast.Subscript(value=value, ctx=ctx) if value is node:
                if not isinstance(ctx, ast.Load):
                    return True
                node = above
            case ast.Call(func=function) if function is node:
                return False  # what is called is a module or a list of them, and no parameter
            case ast.IfExp(test=test) if test is not node:
                node = above
            case ast.AugAssign(target=target) if target is node:
                return True
            case ast.Call():
                return not _only_reads(above)
            case ast.keyword() | ast.List() | ast.Tuple():
                outer = index.parents.get(above)
                return not (isinstance(outer, ast.Call) and outer.func is not above and _only_reads(outer))
            case _:
                return not isinstance(above, _PLAIN)


def _only_reads(call: ast.Call) -> bool:
    """Whether a call writes to nothing that it is given, by its words."""
    if any(each.arg in ("out", None) for each in call.keywords):
        return False
    match call.func:
        case ast.Name(id=word) | ast.Attribute(attr=word) if word in _READING:
            return True
        case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=word):
            return owner in _FUNCTIONAL and not word.endswith("_") and "init" not in word
    return False


# ---------------------------------------------------------------------- all of a module
def _all_listed(index: AstIndex) -> Iterator[ast.expr]:
    """Yield what gives all parameters of a module, also where a name was bound to it."""
    names: set[str] = set()
    for each in index.nodes(ast.Attribute):
        if each.attr not in LISTING:
            continue
        yield each
        statement = index.nearest(each, ast.stmt)
        bound = ast.walk(statement) if isinstance(statement, ast.Assign) else ()
        names.update(one.id for one in bound if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
    yield from (each for each in index.nodes(ast.Name) if each.id in names and isinstance(each.ctx, ast.Load))


def _may_write_to_all(node: ast.expr, index: AstIndex) -> bool:
    """Whether parameters that are listed may be written to: in a loop over them, or by whoever is given them."""
    inner: ast.AST = node
    for above in index.ancestors(node):
        match above:
            case ast.For(target=target, iter=source) if source is inner:
                return _may_write_to_one(target, above, index)
            case ast.comprehension(target=target, iter=source) if source is inner:
                return _may_write_to_one(target, index.parents[above], index)
            case ast.Call(func=function) if function is not inner:
                word = word_of(function)
                if word == "setattr" or any(each in word.lower() for each in _ALL_GIVEN):
                    return True
            case ast.Subscript(value=value) if value is inner:
                return True
            case ast.stmt():
                return False
        inner = above
    return False


def _may_write_to_one(target: ast.expr, loop: ast.AST, index: AstIndex) -> bool:
    """Whether a loop may write to what it is at; what is made a list of is followed no further."""
    names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    uses = [each for each in index.inside(loop, ast.Name) if each.id in names and isinstance(each.ctx, ast.Load)]
    return any(_is_written_to(each, index) for each in uses if not isinstance(index.parents[each], _COLLECTING))
