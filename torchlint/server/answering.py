"""What an editor asks: what is known here, what can be done about it, and what exactly an action would change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from torchlint.server.actions import KINDS, Offer, edits, offers
from torchlint.server.checks import NotDone
from torchlint.server.documents import Edits
from torchlint.server.hover import hover
from torchlint.server.judging import Judged
from torchlint.server.session import Held, Session


def offer(server: LanguageServer, session: Session) -> None:
    """Let the server answer these questions."""
    answers = _Answers(server, session)
    kinds: list[types.CodeActionKind | str] = list(KINDS)
    server.feature(types.TEXT_DOCUMENT_HOVER)(partial(answers.hover))
    options = types.CodeActionOptions(code_action_kinds=kinds, resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(partial(answers.actions))
    server.feature(types.CODE_ACTION_RESOLVE)(partial(answers.resolved))


class _Answers:
    def __init__(self, server: LanguageServer, session: Session) -> None:
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
        only = None if params.context.only is None else [_plain(each) for each in params.context.only]
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


def _plain(kind: types.CodeActionKind | str) -> str:
    return kind.value if isinstance(kind, types.CodeActionKind) else kind


def _outdated() -> JsonRpcException:
    return JsonRpcException("the text has changed meanwhile", types.LSPErrorCodes.ContentModified.value)
