// VS Code's own module, as much of it as the extension and the language client touch: the editor itself is not needed.
"use strict";

const { EventEmitter: NodeEmitter } = require("node:events");
const Module = require("node:module");
const path = require("node:path");
const url = require("node:url");

class Disposable {
  constructor(dispose = () => {}) {
    this.dispose = dispose;
  }
}

class EventEmitter {
  constructor() {
    this._emitter = new NodeEmitter();
    this.event = (listener, self, disposables) => {
      const bound = self ? listener.bind(self) : listener;
      this._emitter.on("event", bound);
      const found = new Disposable(() => this._emitter.off("event", bound));
      disposables?.push(found);
      return found;
    };
  }
  fire(value) {
    for (const each of this._emitter.listeners("event")) each(value);
  }
  dispose() {
    this._emitter.removeAllListeners();
  }
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(start, end, ...rest) {
    if (rest.length) [start, end] = [new Position(start, end), new Position(...rest)];
    Object.assign(this, { start, end });
  }
}

class Uri {
  constructor(text) {
    this._text = text;
    const parsed = new URL(text);
    this.scheme = parsed.protocol.slice(0, -1);
    this.path = decodeURIComponent(parsed.pathname);
    this.fragment = "";
  }
  get fsPath() {
    return url.fileURLToPath(this._text);
  }
  toString() {
    return this._text;
  }
  static parse(text) {
    return new Uri(text);
  }
  static file(place) {
    return new Uri(url.pathToFileURL(place).toString());
  }
}

class CancellationTokenSource {
  constructor() {
    this.token = { isCancellationRequested: false, onCancellationRequested: () => new Disposable() };
  }
  cancel() {}
  dispose() {}
}

class WorkspaceEdit {
  constructor() {
    this.changes = [];
  }
  replace(uri, range, newText) {
    this.changes.push({ uri: uri.toString(), range, newText });
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class CodeActionKind {
  constructor(value) {
    this.value = value;
  }
  append(part) {
    return new CodeActionKind(this.value ? `${this.value}.${part}` : part);
  }
}
CodeActionKind.Empty = new CodeActionKind("");
for (const each of ["QuickFix", "Refactor", "RefactorExtract", "RefactorInline", "RefactorRewrite", "Source", "SourceOrganizeImports"]) {
  CodeActionKind[each] = new CodeActionKind(each);
}

class TextDocument {
  constructor(uri, text) {
    Object.assign(this, { uri, languageId: "python", version: 1, isClosed: false, fileName: uri.fsPath, _text: text });
  }
  getText() {
    return this._text;
  }
  get lineCount() {
    return this._text.split("\n").length;
  }
}

/** What a test sees of the editor, and how it plays the user. */
class Editor {
  /**
   * @param {string} folder the folder that is open
   * @param {Record<string, unknown>} settings those of `torchlint`
   */
  constructor(folder, settings) {
    Object.assign(this, { folder, settings, isTrusted: true, complaints: [], statusBar: [], log: [], shown: new Map() });
    this.commands = new Map();
    this.edits = [];
    this.opened = new EventEmitter();
    this.changed = new EventEmitter();
    this.configured = new EventEmitter();
    this.published = new EventEmitter();
    this.answer = undefined;
    this.module = named("vscode", this._module());
  }

  /** Open a Python file. */
  open(name, text) {
    const document = new TextDocument(Uri.file(path.join(this.folder, name)), text);
    this.module.workspace.textDocuments.push(document);
    this.module.window.activeTextEditor = { document };
    this.module.window.visibleTextEditors.push({ document });
    this.opened.fire(document);
    return document;
  }

  /** Wait until the diagnostics of a document are as wanted. */
  until(document, wanted) {
    return new Promise((done, failed) => {
      const late = setTimeout(() => failed(new Error(`not shown in 10 s: ${this.log.join("\n")}`)), 10_000);
      const look = () => {
        const found = this.shown.get(document.uri.toString());
        if (!found || !wanted(found)) return;
        clearTimeout(late);
        listening.dispose();
        done(found);
      };
      const listening = this.published.event(look);
      look();
    });
  }

  /** Change a setting, as the user does in the settings' page. */
  async set(key, value) {
    this.settings[key] = value;
    const told = { affectsConfiguration: (section) => "torchlint".startsWith(section) || section.startsWith("torchlint") };
    this.configured.fire(told);
  }

  run(command) {
    return this.commands.get(command)();
  }

  _module() {
    const folder = { uri: Uri.file(this.folder), name: "project", index: 0 };
    const channel = { appendLine: (line) => this.log.push(line), append: (text) => this.log.push(text), show() {}, dispose() {}, name: "torchlint" };
    const settings = (section) => ({
      get: (key, otherwise) => (section === "torchlint" && key in this.settings ? this.settings[key] : otherwise),
    });
    const editor = this;
    const known = {
      version: "1.95.0",
      Disposable, EventEmitter, Position, Range, Uri, CancellationTokenSource, WorkspaceEdit, Diagnostic, CodeActionKind,
      env: { appName: "Visual Studio Code", language: "en", uiKind: 1 },
      workspace: {
        get isTrusted() {
          return editor.isTrusted;
        },
        name: "project", rootPath: this.folder, workspaceFolders: [folder], textDocuments: [], notebookDocuments: [],
        getConfiguration: settings,
        getWorkspaceFolder: () => folder,
        onDidOpenTextDocument: this.opened.event,
        onDidChangeTextDocument: this.changed.event,
        onDidChangeConfiguration: this.configured.event,
        applyEdit: async (edit) => (this.edits.push(edit), true),
        fs: { isWritableFileSystem: () => true },
      },
      window: {
        activeTextEditor: undefined, visibleTextEditors: [], tabGroups: { all: [], onDidChangeTabs: () => new Disposable() },
        createOutputChannel: () => channel,
        showErrorMessage: async (message) => (this.complaints.push(message), this.answer),
        setStatusBarMessage: (message) => this.statusBar.push(message),
      },
      languages: {
        match: (selector, document) => (selector.some((each) => each.language === document.languageId) ? 10 : 0),
        createDiagnosticCollection: () => ({
          set: (uri, found) => (this.shown.set(uri.toString(), found), this.published.fire()),
          delete: (uri) => this.shown.delete(uri.toString()),
          clear: () => this.shown.clear(),
          dispose: () => this.shown.clear(),
        }),
      },
      commands: {
        registerCommand: (name, work) => (this.commands.set(name, work), new Disposable(() => this.commands.delete(name))),
        executeCommand: async (...given) => this.log.push(given.join(" ")),
      },
      extensions: { getExtension: () => this.python },
    };
    for (const each of ["workspace", "window", "languages", "commands"]) known[each] = named(each, known[each]);
    return known;
  }
}

/** Stand in for what is not named above: a class to inherit from, a number of an enumeration, an event, a registration. */
function named(name, known) {
  return new Proxy(known, {
    get(target, key) {
      if (key in target || typeof key === "symbol" || key === "then" || key === "prototype") return target[key];
      const place = `${name}.${String(key)}`;
      if (/^(onDid|onWill|register|create)/.test(key)) target[key] = () => new Disposable();
      else if (/^vscode\.[A-Z]/.test(place)) target[key] = named(place, class {});
      else target[key] = name === "vscode" ? named(place, {}) : Object.keys(target).length;
      return target[key];
    },
  });
}

/** Have `require("vscode")` give an editor's module, and load the extension anew. */
function loaded(editor, built) {
  const load = Module._load;
  Module._load = function (request, ...more) {
    return request === "vscode" ? editor.module : load.call(this, request, ...more);
  };
  try {
    delete require.cache[require.resolve(built)];
    return require(built);
  } finally {
    Module._load = load;
  }
}

module.exports = { Editor, loaded };
