import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { collectWhenQuiet } from './base/process/quiet-collection.js';
import { startProcess } from './base/process/start-process.js';
import { nodeCommand } from './tools/cli/commands/node.command.js';
import { endWith } from './tools/cli/end-with.js';
import { runProgram } from './tools/cli/run-program.js';

/** The file with the whole program, beside the file of the node agent. */
const wholeProgram = join(dirname(fileURLToPath(import.meta.url)), 'program.cjs');

// Only the whole program knows all commands and so can report what is wrong with a command line; the process then ends.
const explain = () => new Promise<number>(() => startProcess(wholeProgram, 'main'));
collectWhenQuiet();
void runProgram(process.argv.slice(2), { commands: [nodeCommand], assetPrograms: [], explain }).then(endWith);
