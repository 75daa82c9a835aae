// Whether the program of a container is alive: 0 or 1. Commands that end by themselves always are.
import { readFileSync } from 'node:fs';
import { get } from 'node:https';

const words = readFileSync(`/proc/${process.argv[2] ?? 1}/cmdline`, 'utf8').split('\0');

function portOf() {
  const index = words.findIndex((word) => /^--secure-port(=|$)/.test(word));
  const given = index < 0 ? undefined : (words[index].split('=')[1] ?? words[index + 1]);
  return Number(given ?? process.env.PLINTH_SECURE_PORT ?? 6443);
}

if (words.includes('serve') || words.includes('dev')) {
  // The certificate is for others; this is the same machine.
  const request = get({ host: '127.0.0.1', port: portOf(), path: '/livez', rejectUnauthorized: false, timeout: 4000 });
  request.on('response', (answer) => process.exit(answer.statusCode === 200 ? 0 : 1));
  request.on('timeout', () => request.destroy(new Error('no answer in time')));
  request.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
}
