"""The language server on standard input and output: what it tells an editor, and how it begins and ends."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Coroutine
from contextlib import redirect_stdout
from functools import partial

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter
from pygls.uris import to_fs_path

from torchlint.server.documents import PYTHON
from torchlint.server.folders import CONFIGURATIONS, IGNORES, FolderOptions, Folders
from torchlint.server.open_texts import OpenTexts
from torchlint.server.requests import offer
from torchlint.server.sync import Protocol, encoding
from torchlint.version import VERSION

_WATCHED = ("**/*.py", *(f"**/{name}" for name in (*CONFIGURATIONS, IGNORES)))


class Server(LanguageServer):
    """Answers an editor, and is what the session tells it through."""

    protocol: Protocol

    def __init__(self, given: FolderOptions, verbose: bool) -> None:
        """Begin; ``verbose`` writes each check into the editor's log."""
        super().__init__(
            "torchlint",
            VERSION,
            types.TextDocumentSyncKind.Incremental,
            types.NotebookDocumentSyncOptions([_python_cells()], save=True),
            protocol_cls=Protocol,
            converter_factory=default_converter,
        )
        self.folders = Folders(given)
        self.session = self.protocol.session = OpenTexts(self.folders, self)
        self.ended_by_request = False
        self._verbose = verbose
        self._tasks: set[asyncio.Task[None]] = set()
        self._watch()
        offer(self, self.session)

    # ------------------------------------------------------------------ what the session says
    @property
    def encoding(self) -> str:
        """The units in which the editor counts columns."""
        return encoding(self.workspace)

    @property
    def trail(self) -> bool:
        """Whether the editor shows places related to a diagnostic."""
        documents = self.client_capabilities.text_document
        shown = documents.publish_diagnostics if documents is not None else None
        return bool(shown is not None and shown.related_information)

    def publish(self, uri: str, version: int | None, diagnostics: list[types.Diagnostic]) -> None:
        """Show the diagnostics of a document."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics, version))

    def complain(self, message: str) -> None:
        """Tell the user what went wrong."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"torchlint: {message}"))

    def log(self, message: str) -> None:
        """Write down what was done, where that is wanted."""
        if self._verbose:
            self.window_log_message(types.LogMessageParams(types.MessageType.Log, message))

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """Tell the user of a message that could not be heeded; a request is answered with the error instead."""
        if source is JsonRpcException:
            self.complain(f"a message of the editor could not be read and was passed over: {error}")
        elif source is not FeatureRequestError:
            self.complain(f"a notice of the editor could not be heeded: {error}")

    # ------------------------------------------------------------------ beginning, folders, files, end
    def _watch(self) -> None:
        # The library marks what it is given, and methods cannot be marked.
        self.feature(types.INITIALIZE)(partial(self._initialize))
        self.feature(types.INITIALIZED)(partial(self._initialized))
        self.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(partial(self._folders_changed))
        self.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(partial(self._files_changed))
        self.feature(types.SHUTDOWN)(partial(self._shut_down))

    def _initialize(self, params: types.InitializeParams) -> None:
        del params
        self.folders.open = self._open_folders()

    def _initialized(self, params: types.InitializedParams) -> None:
        del params
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            self._begin(self._ask_to_watch())
        else:
            self._begin(self.session.look_around_for_ever())

    async def _ask_to_watch(self) -> None:
        options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(each) for each in _WATCHED])
        wanted = types.Registration("torchlint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        try:
            await self.client_register_capability_async(types.RegistrationParams([wanted]))
        except JsonRpcException:  # it said that it would, but it does not
            await self.session.look_around_for_ever()

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # else it might be forgotten before it is done
        task.add_done_callback(self._tasks.discard)

    def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        del params
        self.folders.open = self._open_folders()
        self.session.look_around(everything=True)

    def _files_changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        del params
        self.session.look_around()

    def _shut_down(self, params: None) -> None:
        del params
        self.ended_by_request = True
        self.session.end()

    def _open_folders(self) -> list[str]:
        uris = [each.uri for each in self.workspace.folders.values()] or [self.workspace.root_uri]
        return [os.path.normpath(path) for uri in uris if uri and (path := to_fs_path(uri))]


def serve(given: FolderOptions, verbose: bool) -> int:
    """Serve until the editor ends it or is gone; return the exit status: 0 where it asked for the end, else 1."""
    logging.getLogger("pygls").setLevel(logging.ERROR)  # it warns of every message that it has no use for
    server = Server(given, verbose)
    # The library closes its output at the end, and nothing else may write there.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, redirect_stdout(sys.stderr):
        server.start_io(sys.stdin.buffer, out)
    return 0 if server.ended_by_request else 1


def _python_cells() -> types.NotebookDocumentFilterWithCells:
    return types.NotebookDocumentFilterWithCells([types.NotebookCellLanguage(PYTHON)])
