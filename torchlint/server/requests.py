"""What an editor asks: what is known here, what can be done about it, and what exactly an action would change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from lsprotocol import types
from lsprotocol.types import CodeAction, CodeActionKind, Diagnostic, Hover, MarkupContent, MarkupKind, Position, Range
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from torchlint.diagnostics.model import Applicability, Finding
from torchlint.diagnostics.registry import BY_CODE
from torchlint.diagnostics.rule_docs import page as text_of
from torchlint.linter.siblings import joined
from torchlint.output.known_facts import KnownExpression, known_at
from torchlint.output.report import page
from torchlint.output.sarif import what_it_does
from torchlint.server import checks
from torchlint.server.checks import Checked, NotDone, can_be_silenced, is_choice, usable
from torchlint.server.documents import Edits, Open
from torchlint.server.open_texts import Held, OpenTexts
from torchlint.server.published import Drawn, Judged

_TRUST = {Applicability.SAFE: "safe", Applicability.UNSAFE: "unsafe", Applicability.DISPLAY: "your choice"}
"""How far a fix may be trusted, in the words of the actions that apply it."""


def hover(opened: Open, checked: Checked, uri: str, position: Position, markdown: bool) -> Hover | None:
    """Say what there is to say at a place; None where there is nothing."""
    known = checked.known
    source = known.index.source if known is not None else checked.source
    offset = opened.offset(source, uri, position) if source is not None else None
    if source is None or offset is None or not source.is_code(offset):
        return None
    told = known_at(known, offset) if known is not None and known.works_with_torch else []
    found = [each for each in checked.result.findings if each.start <= offset <= each.end]
    parts = [*([_facts(told)] if told else []), *(_told(each, markdown) for each in found)]
    if not parts:
        return None
    text = "\n\n---\n\n".join(parts)
    content = MarkupContent(MarkupKind.Markdown if markdown else MarkupKind.PlainText, text)
    span = (told[-1].start, told[-1].end) if told else (found[0].start, found[0].end)
    where = opened.span(source, *span)
    return Hover(content, where.range if where is not None else None)


def _facts(known: Sequence[KnownExpression]) -> str:
    lines = [line for each in known for line in _lines(each)]
    return "\n".join([*lines, f"grad mode: {known[-1].mode}"])


def _lines(known: KnownExpression) -> Iterator[str]:
    yield f"{_code(known.code)}: {known.value}"
    yield ""
    if known.why:
        yield from (f"- {step}" for step in known.why)
        yield ""


def _told(finding: Finding, markdown: bool) -> str:
    """Say what was found and what its rule is about; the page tells the rest."""
    title = f"{finding.code} {finding.name} ({finding.severity}, {finding.confidence})"
    fix = f"Fix ({_TRUST[finding.fix.applicability]}): {finding.fix.title}" if finding.fix is not None else "No fix."
    parts = (finding.message, what_it_does(text_of(BY_CODE[finding.code])), fix, page(finding.name))
    return "\n\n".join(("### " * markdown + title, *parts))


def _code(text: str) -> str:
    """Quote code, which may hold backticks itself."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence}{text}{fence}" if len(fence) == 1 else f"{fence} {text} {fence}"


FIX_ALL = f"{CodeActionKind.SourceFixAll.value}.torchlint"
FIX_ALL_IN_NOTEBOOK = f"notebook.{FIX_ALL}"
KINDS = (CodeActionKind.QuickFix.value, FIX_ALL, FIX_ALL_IN_NOTEBOOK)

FIX_ALL_TITLE = "Fix all safe torchlint findings"


@dataclass(frozen=True, slots=True)
class Offer:
    """An action: what is shown, and what it would do, which is worked out when it is wanted."""

    title: str
    kind: str
    what: str
    finding: Finding | None = None
    diagnostic: Diagnostic | None = None

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells this offer from others of the same check."""
        found = self.finding
        return (self.what, found.start, found.code) if found is not None else (self.what, 0, "")

    def action(self) -> CodeAction:
        """Return it as the protocol has it, without its edits."""
        fix = self.finding.fix if self.finding is not None and self.what == "fix" else None
        preferred = fix is not None and fix.applicability is Applicability.SAFE
        shown = [self.diagnostic] if self.diagnostic is not None else None
        return CodeAction(self.title, self.kind, shown, is_preferred=True if preferred else None)


def offers(judged: Judged, uri: str, where: Range | None = None, only: Sequence[str] | None = None) -> list[Offer]:
    """Return the actions for a range of a document, or for all of it, of the kinds that are asked for."""
    checked, drawn = judged.checked, judged.drawn
    if checked is None or drawn is None:
        return []
    every = [*_quick(checked, drawn, uri, where), *_all(checked, only)]
    return [each for each in every if _asked(each.kind, only)]


def _quick(checked: Checked, drawn: Drawn, uri: str, where: Range | None) -> Iterator[Offer]:
    here = [(each, shown) for at, each, shown in drawn.found if at == uri and _meet(shown.range, where)]
    kind = CodeActionKind.QuickFix.value
    for finding, shown in here:
        if finding.fix is not None and usable(checked, finding):
            unsafe = " (unsafe)" if finding.fix.applicability is Applicability.UNSAFE else ""
            yield Offer(f"{finding.fix.title}{unsafe}", kind, "fix", finding, shown)
        elif finding.fix is not None and is_choice(checked, finding):
            yield Offer(f"{finding.fix.title} (your choice)", kind, "fix", finding, shown)
            if finding.fix.otherwise is not None:
                other = replace(finding, fix=finding.fix.otherwise)
                yield Offer(f"{finding.fix.otherwise.title} (your choice)", kind, "otherwise", other, shown)
    for finding, shown in here:
        if can_be_silenced(finding) and checked.source is not None and checked.source.lossless:
            yield Offer(f"Silence {finding.code} on this line (# noqa)", kind, "silence", finding, shown)


def _all(checked: Checked, only: Sequence[str] | None) -> Iterator[Offer]:
    if checks.safe(checked):
        in_notebook = only is not None and any(each.startswith("notebook") for each in only)
        yield Offer(FIX_ALL_TITLE, FIX_ALL_IN_NOTEBOOK if in_notebook else FIX_ALL, "fix-all")


def _asked(kind: str, only: Sequence[str] | None) -> bool:
    """Return whether a kind is among those asked for: a kind stands for all that are below it."""
    return only is None or any(kind == each or kind.startswith(f"{each}.") or not each for each in only)


def _meet(one: Range, other: Range | None) -> bool:
    """Return whether two ranges have a place in common, their ends included; None stands for everywhere."""
    if other is None:
        return True
    first, last = (one.start.line, one.start.character), (one.end.line, one.end.character)
    begin, end = (other.start.line, other.start.character), (other.end.line, other.end.character)
    return first <= end and begin <= last


def edits(offer: Offer, opened: Open, checked: Checked) -> Edits:
    """Work out what an action does.

    :raises NotDone: where it cannot be done; the text says why.
    """
    finding, source = offer.finding, checked.source
    if offer.what == "fix-all":
        return opened.rewritten(checks.repaired(checked))
    if finding is None or source is None:
        raise NotDone(f"{checked.wanted.name}: there is nothing to do any more")
    if offer.what == "silence":
        return opened.rewritten(checks.silenced(checked, finding))
    return opened.repaired(source, joined(source, finding, checked.result.findings))


def offer(server: LanguageServer, session: OpenTexts) -> None:
    """Let the server answer these questions."""
    answers = _Answers(server, session)
    kinds: list[types.CodeActionKind | str] = list(KINDS)
    server.feature(types.TEXT_DOCUMENT_HOVER)(partial(answers.hover))
    options = types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(partial(answers.actions))
    server.feature(types.CODE_ACTION_RESOLVE)(partial(answers.resolved))


class _Answers:
    def __init__(self, server: LanguageServer, session: OpenTexts) -> None:
        self._server = server
        self._session = session

    # ------------------------------------------------------------------ questions
    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        found = self._session.holding(uri)
        checked = (await self._session.judged(found[0])).checked if found is not None else None
        if found is None or checked is None:
            return None
        held, revision = found[0], found[0].revision
        opened = held.opened.kept()
        told = await self._session.beside(partial(hover, opened, checked, uri, params.position, self._markdown))
        return told if held.revision == revision else None

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        found = self._session.holding(uri)
        if found is None:
            return []
        held, document = found
        judged = await self._session.judged(held)
        only = None if params.context.only is None else [_kind(each) for each in params.context.only]
        made = []
        for each in offers(judged, uri, params.range, only):
            action = each.action()
            if self._resolves:
                action.data = {"uri": uri, "version": document.version, "key": list(each.key)}
            else:
                action.edit = await self._edit(held, judged, each)
            made.append(action)
        return made

    async def resolved(self, action: types.CodeAction) -> types.CodeAction:
        data = action.data
        if not isinstance(data, Mapping) or not {"uri", "version", "key"} <= set(data):
            raise JsonRpcException("this action is none of torchlint's", types.ErrorCodes.InvalidParams.value)
        found = self._session.holding(str(data["uri"]))
        if found is None:
            raise _outdated()
        held, document = found
        judged = await self._session.judged(held)
        every = offers(judged, document.uri) if document.version == data["version"] else []
        wanted = next((each for each in every if list(each.key) == list(data["key"])), None)
        if wanted is None:
            raise _outdated()
        action.edit = await self._edit(held, judged, wanted)
        return action

    async def _edit(self, held: Held, judged: Judged, wanted: Offer) -> types.WorkspaceEdit:
        if judged is not held.judged or held.done != held.revision or judged.checked is None:
            raise _outdated()
        revision = held.revision
        try:
            made = await self._session.beside(partial(edits, wanted, held.opened.kept(), judged.checked))
        except NotDone as reason:
            raise JsonRpcException(f"torchlint: {reason}", types.LSPErrorCodes.RequestFailed.value) from None
        if held.revision != revision:
            raise _outdated()
        return self._workspace_edit(held, made)

    def _workspace_edit(self, held: Held, made: Edits) -> types.WorkspaceEdit:
        if not self._versioned:
            return types.WorkspaceEdit(changes=dict(made))
        versions = {each.uri: each.version for each in held.opened.documents}
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), list(each))
                for uri, each in made.items()
            ]
        )

    # ------------------------------------------------------------------ what the editor can do
    @property
    def _markdown(self) -> bool:
        asked = self._documents.hover if self._documents is not None else None
        formats = asked.content_format if asked is not None else None
        return formats is None or types.MarkupKind.Markdown in formats

    @property
    def _resolves(self) -> bool:
        """Whether the editor asks for the edits of an action when it is chosen, and not before."""
        asked = self._documents.code_action if self._documents is not None else None
        support = asked.resolve_support if asked is not None else None
        return bool(asked is not None and asked.data_support and support is not None and "edit" in support.properties)

    @property
    def _versioned(self) -> bool:
        workspace = self._server.client_capabilities.workspace
        able = workspace.workspace_edit if workspace is not None else None
        return bool(able is not None and able.document_changes)

    @property
    def _documents(self) -> types.TextDocumentClientCapabilities | None:
        return self._server.client_capabilities.text_document


def _kind(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind


def _outdated() -> JsonRpcException:
    return JsonRpcException("the text has changed meanwhile", types.LSPErrorCodes.ContentModified.value)
