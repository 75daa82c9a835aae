import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { eventually } from '../../../test/e2e/support/test-cluster.js';
import { endWithUs, removeWithUs } from '../../../test/support/child-guard.js';
import { mainFile } from '../../../test/support/main-file.js';
import { answers, freePort } from '../../../test/support/ports.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';

const wrong = 'wrong-and-secret';

describe('a wrong database URL', () => {
  let server: TestPostgres;
  let port: string;
  const certs = mkdtempSync(join(tmpdir(), 'plinth-knock-'));
  removeWithUs(certs);
  before(async () => {
    server = await startTestPostgres();
    port = new URL(server.adminUrl).port;
    const admin = new pg.Client({ connectionString: server.adminUrl });
    await admin.connect();
    await admin.query("create role guarded login password 'right'");
    // Roles other than this one are let in as before.
    const [row] = (await admin.query<{ file: string }>("select current_setting('hba_file') as file")).rows;
    const { file } = row as { file: string };
    writeFileSync(file, `host all guarded all scram-sha-256\n${readFileSync(file, 'utf8')}`);
    await admin.query('select pg_reload_conf()');
    await admin.end();
    // The server reads its files some time after the request to reload them.
    const url = `postgresql://guarded:${wrong}@127.0.0.1:${port}/postgres`;
    await eventually(async () => !(await answers(url)), 'a wrong password is refused');
  });
  after(() => server.stop());

  /** The output of the program until `enough` or its end, and its exit code. */
  async function run(command: string, url: string, enough?: RegExp): Promise<{ lines: string[]; code: number | null }> {
    const child = spawn(process.execPath, [mainFile, command, `--database-url=${url}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        ...(command === 'serve' ? { PLINTH_CERT_DIR: certs, PLINTH_SECURE_PORT: String(await freePort()) } : {}),
      },
    });
    endWithUs(child);
    let text = '';
    const hear = (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (enough?.test(text)) child.kill('SIGTERM');
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { lines: text.trimEnd().split('\n'), code };
  }

  /**
   * Runs a command, and runs it again when the machine was too busy to connect in time: the command reports that and
   * waits.
   */
  async function runInTime(command: string, url: string): Promise<{ lines: string[]; code: number | null }> {
    for (let tries = 1; ; tries++) {
      const end = await run(command, url);
      if (tries === 5 || !end.lines.some((line) => line.includes('timeout expired'))) return end;
    }
  }

  for (const command of ['serve', 'controllers', 'migrate']) {
    it(`ends ${command} with one line when no wait heals it`, { timeout: 120_000 }, async () => {
      const lasting = [
        [
          `postgresql://guarded:${wrong}@127.0.0.1:${port}/postgres`,
          /password authentication failed for user "guarded"/,
        ],
        [`postgresql://guarded@127.0.0.1:${port}/postgres`, /asks for a password, and the URL has none/],
        [`postgresql://guarded:right@127.0.0.1:${port}/missing`, /database "missing" does not exist/],
        [`postgresql://guarded:right@127.0.0.1:${port}/postgres?sslmode=require`, /does not support SSL/],
      ] as const;
      for (const [url, reason] of lasting) {
        const { lines, code } = await runInTime(command, url);
        assert.equal(code, 1, lines.join('\n'));
        assert.equal(lines.length, 1, lines.join('\n'));
        assert.match(lines[0] ?? '', reason);
        assert.ok(!lines.join().includes(wrong));
      }
    });
  }

  it('is reported once, in the first line, when it may heal', { timeout: 60_000 }, async () => {
    for (const command of ['serve', 'controllers']) {
      const url = `postgresql://guarded:${wrong}@127.0.0.1:1/postgres`;
      const { lines } = await run(command, url, /the start waits for the database/);
      assert.match(
        lines[0] ?? '',
        /connect ECONNREFUSED 127\.0\.0\.1:1.* remedy="start the database, .* correct --database-url"/,
      );
      assert.ok(lines.length <= 4, lines.join('\n'));
      assert.ok(!lines.join().includes(wrong));
    }
  });
});
