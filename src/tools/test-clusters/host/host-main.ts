import { rmSync } from 'node:fs';
import { OptionsError } from '../../../base/config/options-error.js';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { CallMessage, FixtureInput, HostMethod, StartSettings, UserRequest } from '../library/messages.js';
import { TestServer } from './test-server.js';

/* The process of a test's server. Its parent sends it commands, and it ends with the parent, however that ends. */

const orderMs = 5_000;
let folder: string | undefined;
let server: TestServer | undefined;

const used = (): TestServer => {
  if (server === undefined) throw new Error('the server has not started');
  return server;
};

const calls: Readonly<Record<HostMethod, (parameter: unknown) => Promise<unknown>>> = {
  start: async (settings) => {
    folder = (settings as StartSettings).folder;
    server = await TestServer.start(settings as StartSettings);
    return server.answer;
  },
  reset: (options) => used().reset((options as { readonly endWatches: boolean }).endWatches),
  checkpoint: async () => {
    await used().checkpoint();
    return null;
  },
  apply: (inputs) => used().apply(inputs as readonly FixtureInput[]),
  user: (request) => used().user(request as UserRequest),
  stop: async () => {
    await server?.finish();
    return null;
  },
};

process.on('exit', () => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
process.on('disconnect', () => {
  setTimeout(() => process.exit(0), orderMs);
  const ended = server?.finish() ?? Promise.resolve();
  void ended.catch(() => undefined).then(() => process.exit(0));
});
// A Ctrl-C in the terminal is for the parent, which ends us when it has ended its tests.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => process.exit(143));

process.on('message', ({ id, method, parameter }: CallMessage) => {
  calls[method](parameter).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => {
      const text = error instanceof OptionsError ? error.problems.join('; ') : errorText(error);
      process.send?.({ id, error: text });
    },
  );
});
