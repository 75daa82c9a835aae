import { assetPrograms, commands } from './tools/cli/all-commands.js';
import { endWith } from './tools/cli/end-with.js';
import { runProgram } from './tools/cli/run-program.js';

// There is no top-level await, because the bundle is not an ES module.
void runProgram(process.argv.slice(2), { commands, assetPrograms }).then(endWith);
