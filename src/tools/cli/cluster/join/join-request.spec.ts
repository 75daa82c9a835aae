import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JoinOptions } from '../../../../base/config/join.options.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import { parseOptions } from '../../../../base/config/parse-options.js';
import { joinRequest } from './join-request.js';

const token = '--token=abcdef.0123456789abcdef';
const pin = `--discovery-token-ca-cert-hash=sha256:${'ab'.repeat(32)}`;

function read(operands: readonly string[], ...argv: string[]) {
  return joinRequest(parseOptions({ groups: { join: JoinOptions }, argv, environment: {} }).join, operands);
}

describe('the arguments of a join', () => {
  it('name a server and a token for both purposes', () => {
    const { discovery, bootstrapToken, nodeName } = read(['[fd00::1]:6443'], token, pin, '--node-name=n1');
    assert.deepEqual('endpoint' in discovery && discovery.endpoint, { host: 'fd00::1', port: 6443 });
    assert.deepEqual([String(bootstrapToken), nodeName], ['abcdef.0123456789abcdef', 'n1']);
    const other = read(['api.example.com:443'], token, pin, '--tls-bootstrap-token=ghijkl.0123456789abcdef');
    assert.deepEqual('endpoint' in other.discovery && other.discovery.endpoint, { host: 'api.example.com', port: 443 });
    assert.equal(other.bootstrapToken?.id, 'ghijkl');
  });

  it('are refused in other forms, and never with the token in the message', () => {
    const cases: readonly (readonly [readonly string[], readonly string[], RegExp])[] = [
      [[], [token, pin], /needs HOST:PORT/],
      [['api'], [token, pin], /"api" is not HOST:PORT/],
      [['https://api:6443'], [token, pin], /is not HOST:PORT/],
      [['api:6443/x'], [token, pin], /is not HOST:PORT/],
      [['a:1', 'b:2'], [token, pin], /unexpected argument "b:2"/],
      [['a:1'], [pin], /needs --token/],
      [['a:1'], ['--discovery-token=abcdef.0123456789abcdef', pin], /needs --token or --tls-bootstrap-token/],
      [['a:1'], ['--token=abcdef.0123456789abcde', pin], /must be 6 and 16 characters/],
      [['a:1'], [token], /needs --discovery-token-ca-cert-hash/],
      [['a:1'], [token, pin, '--discovery-token-unsafe-skip-ca-verification'], /exclude each other/],
      [['a:1'], [token, '--discovery-token-ca-cert-hash=sha256:ab'], /64 hexadecimal digits/],
      [['a:1'], [token, pin, '--discovery-file=f'], /takes the place of HOST:PORT/],
      [['a:1'], [token, pin, '--node-name=N_1'], /must be a name/],
    ];
    for (const [operands, argv, expected] of cases) {
      assert.throws(
        () => read(operands, ...argv),
        (error) => error instanceof OptionsError && expected.test(error.message) && !/0123456789/.test(error.message),
        `${operands} ${argv}`,
      );
    }
  });
});
