// Starts `torchlint server` and shows what it says; all that is known of tensors is known there.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { command, serverArguments } = require("./command");

const FIX_ALL = "source.fixAll.torchlint";

/** Leaves it to the extension to say that no server begins: it knows the remedy, and one message is enough. */
class Client extends LanguageClient {
  begun = false;

  error(message, data, shown = true) {
    super.error(message, data, this.begun && shown);
  }
}

/** @type {Client | undefined} */
let client;
/** @type {vscode.LogOutputChannel | vscode.OutputChannel} */
let log;
/** Starts and stops wait for one another: settings may change while a server begins. */
let turn = Promise.resolve();

async function activate(context) {
  log = vscode.window.createOutputChannel("torchlint");
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand("torchlint.restart", restart),
    vscode.commands.registerCommand("torchlint.showLog", () => log.show()),
    vscode.commands.registerCommand("torchlint.fixAll", fixAll),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("torchlint")) return restart();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
  );
  await restart();
}

function deactivate() {
  return inTurn(stop);
}

function restart() {
  return inTurn(async () => {
    await stop();
    await start();
  });
}

function inTurn(work) {
  turn = turn.then(work, work);
  return turn;
}

async function stop() {
  const running = client;
  client = undefined;
  if (running?.isRunning()) await running.stop();
}

async function start() {
  const settings = vscode.workspace.getConfiguration("torchlint");
  if (!settings.get("enable", true)) return;
  const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
  const [program, ...first] = await command(settings.get("command", []), folders.map((each) => each.uri.fsPath), chosenPython);
  const args = [...first, ...serverArguments(settings)];
  log.appendLine(`starting: ${[program, ...args].join(" ")}`);
  const cwd = folders[0]?.uri.fsPath;
  const starting = new Client(
    "torchlint",
    "torchlint",
    { command: program, args, options: { cwd } },
    {
      documentSelector: [{ language: "python" }],
      outputChannel: log,
      initializationFailedHandler: () => false,
    },
  );
  try {
    await starting.start();
    starting.begun = true;
    client = starting;
  } catch (error) {
    log.appendLine(`${error}`);
    await complain(program);
  }
}

/** Says what to do where the server does not begin: nobody reads a log that is not named. */
async function complain(program) {
  const settings = "Open Settings";
  const shown = "Show Log";
  const answer = await vscode.window.showErrorMessage(
    `torchlint: the server does not start by \`${program}\`. Install torchlint with its lsp extra (https://torchlint.readthedocs.io/#install), or name the program in the setting torchlint.command.`,
    settings,
    shown,
  );
  if (answer === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "torchlint.command");
  if (answer === shown) log.show();
}

/** The interpreter that is chosen in the Python extension, where there is one. */
async function chosenPython() {
  const python = vscode.extensions.getExtension("ms-python.python");
  if (!python || !vscode.workspace.isTrusted) return undefined;
  try {
    const api = python.isActive ? python.exports : await python.activate();
    const chosen = api.environments.getActiveEnvironmentPath();
    return (await api.environments.resolveEnvironment(chosen))?.executable?.uri?.fsPath;
  } catch {
    return undefined; // an older one
  }
}

/** Does what `torchlint --fix` does, in the text that is open. */
async function fixAll() {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || !client?.isRunning()) return;
  const uri = client.code2ProtocolConverter.asUri(document.uri);
  const last = { line: document.lineCount, character: 0 };
  const range = { start: { line: 0, character: 0 }, end: last };
  const context = { diagnostics: [], only: [FIX_ALL] };
  const offered = await client.sendRequest("textDocument/codeAction", { textDocument: { uri }, range, context });
  const action = (offered ?? []).find((each) => each.kind === FIX_ALL);
  if (!action) {
    vscode.window.setStatusBarMessage("torchlint: no safe fix to apply", 4000);
    return;
  }
  const { edit } = action.edit ? action : await client.sendRequest("codeAction/resolve", action);
  await vscode.workspace.applyEdit(await client.protocol2CodeConverter.asWorkspaceEdit(edit));
}

module.exports = { activate, deactivate };
