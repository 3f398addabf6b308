"""Who makes errors of all warnings: filters that a text sets for good, and the options of a project's tests."""

from __future__ import annotations

import ast
import configparser
import os
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from torchlint.config.finder import parse_toml
from torchlint.syntax.ast_index import AstIndex

_SETTERS = {"simplefilter": 1, "filterwarnings": 2}
"""Functions that set a filter, and the place of the class of warnings among their arguments."""
_SETTING = (b"simplefilter", b"filterwarnings", b"showwarning", b"warnings.filters")
_SET_AT_ALL = re.compile(
    rb"(?:simplefilter|filterwarnings)(?:\(\s*(?:action\s*=\s*)?(?:[\"']error|[^\"'\s])|\s+as\b|\s*$)|showwarning\s*="
    rb"|warnings\.filters\b[^\n]*\berror\b",
    re.MULTILINE,
)
FILES = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
"""What pytest reads its options from."""
_USER = frozenset({"", "Warning", "UserWarning", "builtins.Warning", "builtins.UserWarning"})
OTHER_WARNINGS = re.compile(r"(?:\w+\.)*(?!(?:User)?Warning$)\w*Warning")
"""Names of classes of warnings that those of torch are none of: they are of ``UserWarning`` itself."""
_MESSAGES = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone()",
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.",
    "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
    "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1",
)
"""What begins those that a fix takes away (torch 2.13)."""
_OPTION = re.compile(r"(?:^|\s)(?:-W\s*|--pythonwarnings[= ])['\"]?([\w:.]+)")


def is_fatal(node: ast.AST, names: Mapping[str, str] = MappingProxyType({})) -> bool:
    """Whether a call, or a mark of pytest, sets a filter that may make errors of torch's warnings.

    ``names`` holds other names that a text gives to what sets one.
    """
    match node:
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=args) if (
            names.get(word, word) in _SETTERS
        ):
            word = names.get(word, word)
            named = {each.arg: each.value for each in node.keywords}
            place = _SETTERS[word]
            action = args[0] if args else named.get("action")
            kind = args[place] if len(args) > place else named.get("category")
            message = args[1:2] if word == "filterwarnings" else []
            is_other = isinstance(kind, ast.Name) and OTHER_WARNINGS.fullmatch(kind.id) is not None
            is_other = is_other or not all(map(_may_be_ours, [*message, *filter(None, [named.get("message")])]))
            if isinstance(action, ast.Constant) and isinstance(action.value, str):
                return not is_other and _is_error(action.value)
            return not is_other
    return False


def _may_be_ours(message: ast.expr) -> bool:
    """Whether the pattern of a message may fit one of those that a fix takes away."""
    if not isinstance(message, ast.Constant) or not isinstance(message.value, str):
        return True
    try:
        return any(re.match(message.value, each, re.IGNORECASE) for each in _MESSAGES)
    except re.error:
        return True


def makes_errors(text: bytes, parse: Callable[[], AstIndex | None]) -> bool:
    """Whether a text sets such a filter for all that runs after it, or keeps the warnings that are shown."""
    if not any(each in text for each in _SETTING) or _SET_AT_ALL.search(text) is None:
        return False
    index = parse()
    if index is None or any(_keeps_shown(each, index) for each in index.nodes(ast.Assign)):
        return True
    if any(_is_put_in(each) for each in index.nodes(ast.Call)):
        return True
    names = dict(_other_names(index))
    return any(is_fatal(each, names) and not _is_for_a_while(each, index) for each in index.nodes(ast.Call))


def _is_put_in(call: ast.Call) -> bool:
    """Whether a filter for errors is put among Python's own: ``warnings.filters.insert(0, ("error", ...))``."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="filters"), attr="insert" | "append"), args=args):
            return any(
                isinstance(each, ast.Constant) and each.value == "error" for arg in args for each in ast.walk(arg)
            )
    return False


def _other_names(index: AstIndex) -> Iterator[tuple[str, str]]:
    """Yield the names that a text gives to what sets a filter, each with that."""
    for statement in index.nodes(ast.ImportFrom):
        yield from ((each.asname, each.name) for each in statement.names if each.asname and each.name in _SETTERS)
    for each in index.nodes(ast.Assign):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr=word)) if word in _SETTERS:
                yield name, word


def _keeps_shown(statement: ast.Assign, index: AstIndex) -> bool:
    """Whether ``warnings.showwarning`` becomes something that keeps warnings or raises; most only print otherwise."""
    if not any(isinstance(each, ast.Attribute) and each.attr == "showwarning" for each in statement.targets):
        return False
    function: ast.AST = statement.value
    if isinstance(function, ast.Name):
        word = function.id
        function = next((each for each in index.nodes(ast.FunctionDef) if each.name == word), function)
    return any(
        isinstance(each, ast.Raise) or (isinstance(each, ast.Attribute) and each.attr == "append")
        for each in ast.walk(function)
    )


def _is_for_a_while(call: ast.Call, index: AstIndex) -> bool:
    """Whether a filter ends with a block, is that of one test, or is set for who calls a function of the same name."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="mark") | ast.Attribute(attr="mark")):
            return True
    around = index.owner(call)
    if around is not None and around.name in _SETTERS:
        return True
    blocks = (each for each in index.ancestors(call) if isinstance(each, ast.With | ast.AsyncWith))
    return any("catch_warnings" in ast.unparse(item.context_expr) for each in blocks for item in each.items)


def file_with_errors(root: str) -> str | None:
    """Return the name of the file that has the tests of a project make errors of torch's warnings."""
    return next((name for name in FILES if _ends_in_error(_filters(os.path.join(root, name)))), None)


def _ends_in_error(filters: Iterator[str]) -> bool:
    """Whether the last filter that fits a warning of torch's makes an error of it, or one that fits some of them."""
    found = False
    for each in filters:
        action, message, kind, *more = [*each.split(":"), "", ""][:5]
        if OTHER_WARNINGS.fullmatch(kind.strip()):
            continue
        if _is_error(action):
            found = True
        elif kind.strip() in _USER and not message and not any(more):
            found = False
    return found


def _filters(path: str) -> Iterator[str]:
    """Yield the filters that a file of options names, those of ``-W`` last."""
    for name, value in _options(path):
        lines = value if isinstance(value, list) else str(value).splitlines()
        if name == "filterwarnings":
            yield from (str(each).strip() for each in lines)
        elif name == "addopts":
            yield from _OPTION.findall(" ".join(map(str, lines)))


def _options(path: str) -> Iterator[tuple[str, object]]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return
    if "filterwarnings" not in text and "addopts" not in text:
        return
    if path.endswith(".toml"):
        yield from _options_of_toml(text)
        return
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for section in ("pytest", "tool:pytest"):
        if parser.has_section(section):
            yield from parser.items(section)


def _options_of_toml(text: str) -> Iterator[tuple[str, object]]:
    try:
        found: object = parse_toml(text)
    except ValueError:
        return
    for word in ("tool", "pytest"):
        found = found.get(word) if isinstance(found, dict) else None
    if isinstance(found, dict):
        for table in (found, found.get("ini_options")):
            yield from table.items() if isinstance(table, dict) else ()


def _is_error(action: str) -> bool:
    return action.strip().startswith("error")
