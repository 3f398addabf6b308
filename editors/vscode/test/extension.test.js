// The extension as it is built, with the real server behind it.
"use strict";

const assert = require("node:assert/strict");
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { afterEach, beforeEach, test } = require("node:test");

const { ofFolder } = require("../src/command");
const { Editor, loaded } = require("./editor");

const BUILT = path.join(__dirname, "..", "dist", "extension.js");
const PROGRAM = [ofFolder(path.join(__dirname, "..", "..", "..")) ?? "torchlint"];
if (spawnSync(PROGRAM[0], ["--version"]).status !== 0) {
  throw new Error(`${PROGRAM[0]} does not run: install torchlint into .venv at the top of the repository, or on the path`);
}
const MODEL = `import torch

net = torch.nn.Linear(2, 2)
plain = net.weight.numpy()
old = torch.autograd.Variable(torch.ones(2))
`;

let folder;
let extension;

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "torchlint-"));
});

afterEach(async () => {
  await extension.deactivate();
  fs.rmSync(folder, { recursive: true });
});

async function started(settings = {}, prepare = () => {}) {
  const editor = new Editor(folder, { command: PROGRAM, ...settings });
  prepare(editor);
  extension = loaded(editor, BUILT);
  await extension.activate({ subscriptions: [] });
  return editor;
}

function applied(text, edits) {
  const starts = text.split("\n").reduce((known, line) => [...known, known.at(-1) + line.length + 1], [0]);
  const offset = (at) => starts[at.line] + at.character;
  const last = (one, other) => offset(other.range.start) - offset(one.range.start);
  for (const { range, newText } of [...edits].sort(last)) {
    text = text.slice(0, offset(range.start)) + newText + text.slice(offset(range.end));
  }
  return text;
}

const codes = (found) => found.map((each) => each.code?.value ?? each.code).sort();

test("what the server finds is shown", async () => {
  const editor = await started();
  const document = editor.open("model.py", MODEL);
  const found = await editor.until(document, (each) => each.length > 0);
  assert.deepEqual(codes(found), ["TNS101", "TNS401"]);
  assert.match(found.find((each) => codes([each])[0] === "TNS101").message, /requires grad/);
  assert.deepEqual(editor.complaints, []);
});

test("a preset is handed on, and a change of it counts at once", async () => {
  const editor = await started({ preset: "hazards" });
  const document = editor.open("model.py", MODEL);
  assert.deepEqual(codes(await editor.until(document, (each) => each.length > 0)), ["TNS101"]);
  await editor.set("preset", "all");
  assert.deepEqual(codes(await editor.until(document, (each) => each.length > 1)), ["TNS101", "TNS401"]);
});

test("all safe fixes are applied by one command", async () => {
  const editor = await started();
  const document = editor.open("model.py", MODEL);
  await editor.until(document, (each) => each.length > 0);
  await editor.run("torchlint.fixAll");
  const edits = editor.edits[0].changes;
  assert.ok(edits.every((each) => each.uri === document.uri.toString()));
  const lines = applied(document.getText(), edits).split("\n");
  assert.deepEqual(lines.slice(-3, -1), ["plain = net.weight.detach().numpy()", "old = torch.ones(2)"]);
});

test("where nothing is to be fixed, that is said", async () => {
  const editor = await started();
  const document = editor.open("clean.py", "import torch\n");
  await editor.until(document, (each) => each.length === 0);
  await editor.run("torchlint.fixAll");
  assert.deepEqual(editor.edits, []);
  assert.match(editor.statusBar[0], /no safe fix/);
});

test("a program that is not there is named, with the remedy", async () => {
  const missing = path.join(folder, "no such program");
  const editor = await started({ command: [missing] });
  assert.equal(editor.complaints.length, 1);
  assert.ok(editor.complaints[0].includes(missing));
  assert.match(editor.complaints[0], /lsp extra \(https:\/\/torchlint\.readthedocs\.io\/#install\).*torchlint\.command/);
  await editor.set("command", PROGRAM);
  const document = editor.open("model.py", MODEL);
  assert.deepEqual(codes(await editor.until(document, (each) => each.length > 0)), ["TNS101", "TNS401"]);
});

test("switched off, nothing is started", async () => {
  const editor = await started({ enable: false, command: ["/nowhere/torchlint"] });
  assert.deepEqual([editor.complaints, editor.log], [[], []]);
});

function environment(name) {
  const place = path.join(folder, name, "bin");
  fs.mkdirSync(place, { recursive: true });
  const words = PROGRAM.map((each) => `'${each}'`).join(" ");
  fs.writeFileSync(path.join(place, "torchlint"), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  return path.join(place, "torchlint");
}

test("the environment of a folder is taken, unless the folder is not trusted", { skip: process.platform === "win32" }, async () => {
  const own = environment(".venv");
  const trusted = await started({ command: [] });
  assert.equal(trusted.log[0], `starting: ${own} server`);
  assert.deepEqual(trusted.complaints, []);
  await extension.deactivate();
  const untrusted = await started({ command: [] }, (editor) => (editor.isTrusted = false));
  assert.equal(untrusted.log[0], "starting: torchlint server");
});

test("the Python that is chosen in the editor is asked next", { skip: process.platform === "win32" }, async () => {
  const python = path.join(path.dirname(environment("elsewhere")), "python");
  const resolved = { executable: { uri: { fsPath: python } } };
  const environments = { getActiveEnvironmentPath: () => ({}), resolveEnvironment: async () => resolved };
  const editor = await started({ command: [] }, (each) => (each.python = { isActive: true, exports: { environments } }));
  assert.equal(editor.log[0], `starting: ${python} -m torchlint server`);
});

test("settings become the flags of the server", () => {
  extension = { deactivate() {} };
  const { serverArguments } = require("../src/command");
  const settings = { minSeverity: "warning", minConfidence: "likely", args: ["--isolated"] };
  const of = (known) => serverArguments({ get: (key, otherwise) => known[key] ?? otherwise });
  assert.deepEqual(of({}), ["server"]);
  assert.deepEqual(of(settings), ["server", "--min-severity", "warning", "--min-confidence", "likely", "--isolated"]);
});
