import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseOptions } from './parse-options.js';
import { historyExclusions, StorageOptions } from './storage.options.js';

const parse = (...argv: string[]) =>
  parseOptions({ groups: { storage: StorageOptions }, argv, environment: {} }).storage;

describe('--history-exclude', () => {
  it('leaves out leases by the name that they have with the vendor of the cluster', () => {
    assert.deepEqual(historyExclusions(parse(), 'k8s.io'), ['leases.coordination.k8s.io']);
    assert.deepEqual(historyExclusions(parse(), 'example.dev'), ['leases.coordination.example.dev']);
  });

  it('leaves out what it names, and nothing else', () => {
    const named = parse('--history-exclude=events,things.example.com');
    assert.deepEqual(historyExclusions(named, 'example.dev'), ['events', 'things.example.com']);
    assert.deepEqual(historyExclusions(parse('--history-exclude='), 'example.dev'), []);
  });
});

describe('the flags of the database', () => {
  it('make each URL say where it and its password are read', () => {
    assert.equal(parse('--database-url-file=/run/url').databaseUrl, 'file:///run/url');
    const both = parse(
      '--database-url=postgres://u@h/d?sslmode=require',
      '--listen-database-url=postgres://u@direct/d',
      '--database-password-file=/run/the password',
    );
    const file = 'password_file=%2Frun%2Fthe+password';
    assert.equal(both.databaseUrl, `postgres://u@h/d?sslmode=require&${file}`);
    assert.equal(both.listenDatabaseUrl, `postgres://u@direct/d?${file}`);
    const [primary, replica] = ['--database-url=postgres://u@h/d', '--read-database-url=postgres://u@r/d'];
    assert.equal(
      parse(primary, replica, '--database-password-file=/run/the password').readDatabaseUrl,
      `postgres://u@r/d?${file}`,
    );
    assert.equal(parse(primary, '--read-database-url-file=/run/replica').readDatabaseUrl, 'file:///run/replica');
    const { databaseUrl } = parse(
      '--database-url-file=/run/url',
      '--database-password-command=print-token --host "$PGHOST"',
      '--database-password-lifetime=5m',
    );
    const command = 'password_command=print-token+--host+%22%24PGHOST%22&password_lifetime=300000';
    assert.equal(databaseUrl, `file:///run/url?${command}`);
    assert.equal(parse().databaseUrl, undefined);
    assert.equal(parse('--database-url=postgres://u:p@h/d').databaseUrl, 'postgres://u:p@h/d');
  });

  it('exclude each other where they name the same', () => {
    const url = '--database-url=postgres://u@h/d';
    for (const [problem, ...argv] of [
      [/excludes --database-url/, url, '--database-url-file=/run/url'],
      [/exclude each other/, url, '--database-password-file=/x', '--database-password-command=y'],
      [/excludes the password/, '--database-url=postgres://u:secret@h/d', '--database-password-file=/x'],
      [/excludes --read-database-url/, url, '--read-database-url=postgres://u@r/d', '--read-database-url-file=/run/r'],
      [/asks for the primary/, url, '--read-database-url=postgres://u@r/d?target_session_attrs=primary'],
      [/needs --database-url/, '--database-password-command=y'],
      [/must not be negative/, url, '--database-password-lifetime=-1s'],
    ] as const) {
      assert.throws(() => parse(...argv), { message: problem });
    }
  });
});
