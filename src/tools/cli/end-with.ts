/** Everything has stopped by then. Anything that still keeps the process alive is not worth waiting for. */
const lingerMs = 5000;

/** Ends the process with this code as soon as nothing keeps it alive, and in any case soon. */
export function endWith(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(), lingerMs).unref();
}
