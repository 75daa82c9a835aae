import { runProgram } from './program/run-program.js';

/** Everything has stopped by then. Anything that still keeps the process alive is not worth waiting for. */
const lingerMs = 5000;

process.exitCode = await runProgram(process.argv.slice(2));
setTimeout(() => process.exit(), lingerMs).unref();
