// SPDX-License-Identifier: Apache-2.0
// Starts Pyodide from a snapshot of its memory and runs a script, again and again; the seconds of each, one a line. Making the
// snapshot is not measured. Usage: pyodide.mjs DIRECTORY ROUNDS SCRIPT OUTPUT   (DIRECTORY has node_modules; OUTPUT is what SCRIPT
// must print)
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [directory, rounds, script, output] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(path.resolve(directory, 'node_modules/pyodide/pyodide.mjs')));
const snapshot = (await loadPyodide({ _makeSnapshot: true })).makeMemorySnapshot();
for (let i = 0; i < Number(rounds); i++) {
    const printed = [];
    const begin = performance.now();
    const python = await loadPyodide({ _loadSnapshot: snapshot, stdout: (line) => printed.push(line) });
    python.runPython(script);
    const end = performance.now();
    if (printed.join('\n') !== output)
        throw new Error(`Pyodide printed ${JSON.stringify(printed)}`);
    fs.writeSync(1, ((end - begin) / 1000).toFixed(6) + '\n');
}
