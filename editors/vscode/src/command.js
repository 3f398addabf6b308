// Which program is torchlint here: the setting, the folder's virtual environment, the chosen Python, the path.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const ENVIRONMENTS = [".venv", "venv"];

/**
 * The program of a virtual environment in a folder.
 * @param {string} folder
 * @returns {string | undefined}
 */
function ofFolder(folder, windows = process.platform === "win32") {
  const place = windows ? ["Scripts", "torchlint.exe"] : ["bin", "torchlint"];
  return ENVIRONMENTS.map((each) => path.join(folder, each, ...place)).find((each) => fs.existsSync(each));
}

/**
 * The command that starts torchlint, without what is asked of it.
 * @param {string[]} setting what `torchlint.command` says; it wins
 * @param {string[]} folders the folders that are open; none where they are not trusted
 * @param {() => Promise<string | undefined>} chosenPython the interpreter that is chosen in the editor
 * @returns {Promise<string[]>}
 */
async function command(setting, folders, chosenPython) {
  if (setting.length) return setting;
  const found = folders.map((each) => ofFolder(each)).find((each) => each);
  if (found) return [found];
  const python = await chosenPython();
  return python && ofInterpreter(python) ? [python, "-m", "torchlint"] : ["torchlint"];
}

/** Whether torchlint is installed beside an interpreter. */
function ofInterpreter(python) {
  return ["torchlint", "torchlint.exe"].some((each) => fs.existsSync(path.join(path.dirname(python), each)));
}

/**
 * The arguments of the server that stand for the settings.
 * @param {{get: (key: string, otherwise: any) => any}} settings
 * @returns {string[]}
 */
function serverArguments(settings) {
  const flags = { preset: "--preset", minSeverity: "--min-severity", minConfidence: "--min-confidence" };
  const chosen = Object.entries(flags).flatMap(([key, flag]) => {
    const value = settings.get(key, "");
    return value ? [flag, value] : [];
  });
  return ["server", ...chosen, ...settings.get("args", [])];
}

module.exports = { command, ofFolder, serverArguments };
