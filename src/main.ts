import { assetPrograms, commands } from './tools/cli/all-commands.js';
import { endWith } from './tools/cli/end-with.js';
import { runProgram } from './tools/cli/run-program.js';

// No await at the top: the program's one file is no module.
void runProgram(process.argv.slice(2), { commands, assetPrograms }).then(endWith);
