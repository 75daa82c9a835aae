import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { Logger } from '../observability/logger.js';
import { openApplicationContext } from './application-context.js';

/** A module that records calls of its hooks, and fails in one of them on request. */
function noting(log: string[], name: string, imports: DynamicModule[], fails?: string): DynamicModule {
  const note = (hook: string) => async () => {
    // Unless each call is awaited, the hooks do not finish in the order of the calls.
    await new Promise((resolve) => setImmediate(resolve));
    log.push(`${hook} ${name}`);
    if (hook === fails) throw new Error(`${name} fails`);
  };
  class NotingModule {
    onModuleInit = note('init');
    onApplicationBootstrap = note('bootstrap');
    onModuleDestroy = note('destroy');
    beforeApplicationShutdown = note('before');
    onApplicationShutdown = note('shutdown');
  }
  Module({})(NotingModule as Type<unknown>);
  return { module: NotingModule, imports };
}

/** The module structure of a process: a root over endpoints over access over storage, which all of them import. */
function processOf(log: string[], fails?: string): DynamicModule {
  const storage = noting(log, 'storage', []);
  const access = noting(log, 'access', [storage], fails);
  const endpoints = noting(log, 'endpoints', [storage, access]);
  return noting(log, 'root', [storage, endpoints, access]);
}

const upwards = ['storage', 'access', 'endpoints', 'root'];
const lines: string[] = [];
const logger = new Logger('info', 'text', (line) => lines.push(line));

describe('an application context', () => {
  it('starts imported modules first and stops them last, phase by phase', async () => {
    const log: string[] = [];
    const context = await openApplicationContext(processOf(log), logger);
    const downwards = upwards.toReversed();
    assert.deepEqual(log, [...upwards.map((name) => `init ${name}`), ...upwards.map((name) => `bootstrap ${name}`)]);
    log.length = 0;
    await context.close();
    const phases = ['destroy', 'before', 'shutdown'];
    assert.deepEqual(
      log,
      phases.flatMap((phase) => downwards.map((name) => `${phase} ${name}`)),
    );
  });

  for (const hook of ['init', 'bootstrap']) {
    it(`leaves nothing open when a module fails in ${hook}`, async () => {
      const log: string[] = [];
      await assert.rejects(openApplicationContext(processOf(log, hook), logger), /access fails/);
      assert.deepEqual(
        log.filter((entry) => entry.startsWith('shutdown')),
        upwards.toReversed().map((name) => `shutdown ${name}`),
      );
    });
  }

  it('logs faults during its stop', async () => {
    const context = await openApplicationContext(processOf([], 'shutdown'), logger);
    await context.close();
    assert.match(lines.join(''), /ERROR fault in the application .*access fails/);
  });
});
