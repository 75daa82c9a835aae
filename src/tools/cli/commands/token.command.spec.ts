import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OptionsError } from '../../../base/config/options-error.js';
import type { CommandContext } from '../command.js';
import { tokenCommand } from './token.command.js';

describe('plinth token', () => {
  const printed: string[] = [];
  // No case gets as far as to need more of it.
  const context = { environment: {}, print: (line: string) => printed.push(line) } as unknown as CommandContext;

  it('refuses wrong command lines in words that show no secret', async () => {
    for (const [argv, expected] of [
      [['create', 'abcdef.0123456789ABCDEF'], /the token must be 6 and 16 characters of a-z and 0-9/],
      [['create', 'a.b', 'c.d'], /create makes one token/],
      [['create', '--usages=signing,all'], /"all", which is neither authentication nor signing/],
      [['create', '--usages='], /must have authentication or signing/],
      [['create', '--groups=devs'], /begins with system:bootstrappers:/],
      [['create', '--ttl=-1h'], /must not be negative/],
      [['create', '--usages=signing', '--print-join-command'], /needs both --usages/],
      [['delete'], /needs the id of a token/],
      [['delete', 'abcdef', 'x'], /must be 6 and 16 characters/],
      [['list', 'x'], /needs create/],
      [['make'], /needs create/],
      [[], /needs create/],
    ] as const) {
      await assert.rejects(
        () => tokenCommand.run({ ...context, argv }),
        (error) => error instanceof OptionsError && expected.test(error.message) && !/0123456789/.test(error.message),
        argv.join(' '),
      );
    }
    assert.deepEqual(printed, []);
  });

  it('generates tokens without a server', async () => {
    await tokenCommand.run({ ...context, argv: ['generate'] });
    assert.match(printed.join(), /^[a-z0-9]{6}\.[a-z0-9]{16}$/);
  });
});
