import { runProgram } from './tools/cli/run-program.js';

/** Everything has stopped by then. Anything that still keeps the process alive is not worth waiting for. */
const lingerMs = 5000;

// No await at the top: the program's one file is no module.
void runProgram(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
  setTimeout(() => process.exit(), lingerMs).unref();
});
