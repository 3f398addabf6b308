"""How the texts of the editor come to be known here: opened, changed in ranges, saved, closed, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.workspace import Workspace

from torchlint.server.documents import Cells, Document, Script
from torchlint.server.editor_text import Text
from torchlint.server.open_texts import OpenTexts


class Protocol(LanguageServerProtocol):
    """The protocol with texts of our own.

    The library's texts end a row at form feeds and other characters at which neither the protocol nor Python ends one,
    and move places that an editor gives behind the end of a row, so that an edit would land elsewhere.
    """

    session: OpenTexts

    # ------------------------------------------------------------------ messages that are out of place
    def structure_message(self, data: dict[str, Any]) -> Any:
        """Read a message; a question that cannot be read is answered all the same."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        """Heed a message; what comes before the beginning or after the end is refused, as the protocol asks."""
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if method == types.EXIT or ((self._workspace is None) == (method == types.INITIALIZE) and not self._shutdown):
            super().handle_message(message)
        elif method is not None and number is not None:
            self._send_response(number, error=_out_of_place(self._workspace is None))

    # ------------------------------------------------------------------ texts
    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take a document."""
        self.session.open(Script(self._document(params.text_document)))

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take changes of a document."""
        script = self.session.script(params.text_document.uri)
        if script is None:
            raise ValueError(f"{params.text_document.uri} was changed but not opened: close it and open it again")
        _change(script.document, params.text_document.version, params.content_changes)
        self.session.touched(script.uri)

    @lsp_method(types.TEXT_DOCUMENT_DID_SAVE)
    def lsp_text_document__did_save(self, params: types.DidSaveTextDocumentParams) -> None:
        """Look at what rests on the saved file; the text itself is known already."""
        del params
        self.session.look_around()

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a document."""
        self.session.close(params.text_document.uri)

    # ------------------------------------------------------------------ notebooks
    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Take a notebook."""
        given = params.notebook_document
        texts = {each.uri: self._document(each) for each in params.cell_text_documents}
        self.session.open(Cells(given.uri, given.version, [(each.kind, each.document) for each in given.cells], texts))

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Take changes of a notebook: its cells come, go, move or change."""
        uri = params.notebook_document.uri
        notebook = self.session.notebook(uri)
        if notebook is None:
            raise ValueError(f"{uri} was changed but not opened: close it and open it again")
        notebook.version = params.notebook_document.version
        changes = params.change.cells
        if changes is None:
            return
        before = {each.uri for each in notebook.documents}
        if changes.structure is not None:
            self._restructure(notebook, changes.structure)
        kinds = {each.document: each.kind for each in changes.data or ()}
        notebook.kinds = [(kinds.get(cell, kind), cell) for kind, cell in notebook.kinds]
        for each in changes.text_content or ():
            if each.document.uri in notebook.texts:
                _change(notebook.texts[each.document.uri], each.document.version, each.changes)
        for gone in sorted(before - {each.uri for each in notebook.documents}):
            self.session.clear(gone)
        self.session.touched(uri, 0 if changes.structure is not None else None)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def lsp_notebook_document__did_save(self, params: types.DidSaveNotebookDocumentParams) -> None:
        """Look at what rests on saved files."""
        del params
        self.session.look_around()

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """Forget a notebook."""
        self.session.close(params.notebook_document.uri)

    def _restructure(self, notebook: Cells, change: types.NotebookDocumentCellChangeStructure) -> None:
        array = change.array
        new = [(each.kind, each.document) for each in array.cells or ()]
        notebook.kinds[array.start : array.start + array.delete_count] = new
        for opened in change.did_open or ():
            notebook.texts[opened.uri] = self._document(opened)
        for closed in change.did_close or ():
            notebook.texts.pop(closed.uri, None)

    def _document(self, given: types.TextDocumentItem) -> Document:
        language = given.language_id
        name = language.value if isinstance(language, types.LanguageKind) else language
        return Document(given.uri, name, given.version, Text(given.text, encoding(self.workspace)))


def encoding(workspace: Workspace) -> str:
    """Return the units in which the editor counts columns."""
    return str(types.PositionEncodingKind(workspace.position_encoding).value)


def _out_of_place(too_early: bool) -> types.ResponseError:
    if too_early:
        return types.ResponseError(types.ErrorCodes.ServerNotInitialized.value, "the server has not been initialised")
    return types.ResponseError(types.ErrorCodes.InvalidRequest.value, "the server has begun, or has been shut down")


def _change(document: Document, version: int, changes: Iterable[types.TextDocumentContentChangeEvent]) -> None:
    for each in changes:
        where = each.range if isinstance(each, types.TextDocumentContentChangePartial) else None
        document.text = document.text.replaced(where, each.text)
    document.version = version
