#!/usr/bin/env node
// Written for old versions of Node too: it is what tells their users what to do.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { keepCompiledCode } from './compiled-code.js';
import { suitableNode, unsuitableNodeMessage } from './node-version.js';

const program = fileURLToPath(new URL('../dist/program/main.js', import.meta.url));
const node = suitableNode();

if (node === undefined) {
  console.error(`plinth: ${unsuitableNodeMessage()}`);
  process.exitCode = 1;
} else if (!existsSync(program)) {
  console.error('plinth: it is not built yet: run npm run build');
  process.exitCode = 1;
} else if (node === process.execPath) {
  keepCompiledCode(program);
  await import(new URL('../dist/program/main.js', import.meta.url).href);
} else {
  keepCompiledCode(program);
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`plinth: cannot run ${node}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = signal === null ? (code ?? 1) : signal === 'SIGINT' ? 130 : 143;
  });
}
