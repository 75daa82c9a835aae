import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from '../../../../test/e2e/support/test-cluster.js';
import type { ConnectionScene } from './connection-scene.js';

/** Cases about where the password of a connection comes from, and to whom it goes. */
export function passwordCases(scene: () => ConnectionScene): void {
  const file = (name: string): string => scene().file(name);
  const connect: ConnectionScene['connect'] = (...parameters) => scene().connect(...parameters);
  const url: ConnectionScene['url'] = (...parameters) => scene().url(...parameters);

  describe('obtains the password', () => {
    const role = 'rotated';
    const setPassword = async (password: string): Promise<void> => {
      const { client } = await connect(scene().server.adminUrl);
      await client.query(`alter role ${role} password '${password}'`);
    };
    const from = (parameters: Readonly<Record<string, string>>) => url(`?${new URLSearchParams(parameters)}`, role);

    before(async () => {
      const { client } = await connect(scene().server.adminUrl);
      await client.query(`create role ${role} login password 'first'`);
    });

    it('from a file, which may change', async () => {
      const path = file('password');
      for (const password of ['first', ' se:c\\ond ']) {
        await writeFile(path, `${password}\n`);
        await setPassword(password);
        await connect(from({ password_file: path }));
      }
      await writeFile(path, 'wrong\n');
      await assert.rejects(connect(from({ password_file: path }), {}, 2000), { code: '28P01' });
      await writeFile(path, '\n');
      await assert.rejects(connect(from({ password_file: path })), /the password file .* is empty/);
      await assert.rejects(connect(from({ password_file: file('absent') })), /ENOENT.*absent/);
      await assert.rejects(connect(from({ password_file: path, password_command: 'x' })), /only one of/);
    });

    it('from a command, whose output serves until it is refused or too old', async () => {
      const runs = file('runs');
      const script = (password: string) => `printf '%s@%s\\n' "$PGUSER" "$PGPORT" >> ${runs}; echo ${password}`;
      const countRuns = async () => (await readFile(runs, 'utf8')).split('\n').length - 1;
      await setPassword('from-a-command');
      const kept = { password_command: script(`"$(cat ${file('token')})"`) };
      await writeFile(file('token'), 'from-a-command');
      await Promise.all([connect(from(kept)), connect(from(kept)), connect(from(kept))]);
      await connect(from(kept));
      assert.equal(await countRuns(), 1, 'connections share what a command has printed');
      assert.equal((await readFile(runs, 'utf8')).trim(), `${role}@${scene().server.port}`);
      await setPassword('the-next');
      await writeFile(file('token'), 'the-next');
      await connect(from(kept));
      assert.equal(await countRuns(), 2, 'a refused password is replaced');
      await setPassword('for-all');
      await writeFile(file('token'), 'for-all');
      await Promise.all(Array.from({ length: 5 }, () => connect(from(kept))));
      assert.equal(await countRuns(), 3, 'connections that are refused together share what replaces the password');
      const short = { password_command: script('for-all'), password_lifetime: '0' };
      await connect(from(short));
      await connect(from(short));
      assert.equal(await countRuns(), 5);
    });

    it('again in a program that does nothing else meanwhile', async () => {
      const path = file('alone');
      await setPassword('alone');
      await writeFile(path, 'alone');
      const program = `const { connectDatabase } = await import(process.argv[1]);
        const { databaseTargets } = await import(process.argv[2]);
        const { writeFileSync } = await import('node:fs');
        const connect = () =>
          connectDatabase({ target: databaseTargets(process.argv[3], {})[0], config: {}, timeoutMs: 20_000 });
        const main = async () => {
          await (await connect()).client.end();
          writeFileSync(process.argv[4], 'wrong');
          setTimeout(() => writeFileSync(process.argv[4], 'alone'), 500).unref();
          const { stream } = await connect();
          console.log('connected');
          stream.destroy();
        };
        void main();`;
      const modules = ['../connect-database.js', '../database-targets.js'].map((name) => import.meta.resolve(name));
      const args = ['--input-type=module', '-e', program, ...modules, from({ password_file: path }), path];
      assert.equal((await promisify(execFile)(process.execPath, args)).stdout, 'connected\n');
    });

    it('again while the source and the role disagree, for an account that was accepted', async () => {
      const runs = file('rotations');
      const token = file('rotating');
      const command = { password_command: `echo >> ${runs}; cat ${token}` };
      const urlFile = file('url');
      const countRuns = async () => (await readFile(runs, 'utf8')).length;
      const inUrl = (password: string) => writeFile(urlFile, url('', `${role}:${password}`));
      await setPassword('before');
      await writeFile(token, 'before');
      await inUrl('before');
      await connect(from(command));
      // The command prints the next password before the role has it, and the file of a URL gets it after the role.
      await writeFile(token, 'after');
      const { client } = await connect(scene().server.adminUrl);
      await client.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role]);
      await client.query(`alter role ${role} password 'between'`);
      const waiting = Promise.all([connect(from(command)), connect(`file://${urlFile}`)]);
      const before = await countRuns();
      await eventually(async () => (await countRuns()) >= before + 2, 'attempts with a refused password');
      await client.query(`alter role ${role} password 'after'`);
      await inUrl('after');
      await waiting;
      // A password that stays wrong is an error within the time limit.
      await writeFile(token, 'wrong');
      await setPassword('the last');
      await assert.rejects(connect(from(command), {}, 2000), { code: '28P01' });
    });

    it('and reports how a command failed, without what it printed', async () => {
      await assert.rejects(
        connect(from({ password_command: 'echo secret-word; echo why >&2; exit 3' })),
        (error: Error) => /exit code 3: why$/.test(error.message) && !error.message.includes('secret-word'),
      );
      await assert.rejects(connect(from({ password_command: 'true' })), /the command .* is empty/);
      await assert.rejects(connect(from({ password_command: 'exec sleep 1' }), {}, 300), /timeout expired/);
    });

    it('from the password file of libpq', async () => {
      await setPassword('of:the\\file');
      const path = file('pgpass');
      const lines = [
        '# a comment',
        `other:*:*:${role}:wrong`,
        `127.0.0.1:${scene().server.port}:other:${role}:wrong`,
        `127.0.0.1:*:postgres:${role}:of:the\\\\file`,
        `*:*:*:*:wrong`,
      ];
      await writeFile(path, lines.join('\n'), { mode: 0o600 });
      await connect(from({ passfile: path }));
      await connect(url('', role), { PGPASSFILE: path });
      await assert.rejects(connect(url('', `${role}:given`), { PGPASSFILE: path }), { code: '28P01' });
      await chmod(path, 0o644);
      await assert.rejects(connect(from({ passfile: path })), /can be read by others: chmod 0600/);
    });

    it('with the whole URL from a file', async () => {
      const path = file('database-url');
      await setPassword('in-the-url');
      const at = `file://${path}`;
      await writeFile(path, `${url('', `${role}:in-the-url`)}\n`);
      const { client } = await connect(at);
      assert.equal((await client.query('select current_user')).rows[0].current_user, role);
      await writeFile(path, 'mysql://u:secret-word@h/d');
      await assert.rejects(
        connect(at),
        (error: Error) => /holds no postgresql/.test(error.message) && !error.message.includes('secret-word'),
      );
      await writeFile(path, url('?sslmode=require', role));
      await writeFile(file('password'), 'in-the-url');
      await connect(`${at}?${new URLSearchParams({ password_file: file('password') })}`);
      await assert.rejects(connect('file:///absent/url'), /can't be read: ENOENT/);
    });
  });

  it('binds the password to the certificate when that is asked for', async () => {
    const bound = '?sslmode=require&channel_binding=require';
    const guarded = (parameters: string, role = 'guarded:secret') => connect(url(parameters, role));
    await guarded(bound);
    await guarded('?channel_binding=prefer');
    await assert.rejects(guarded(bound, 'plainly:secret'), /does not bind the password/);
    await assert.rejects(guarded(bound, 'strict'), /does not bind the password/);
    await assert.rejects(guarded('?sslmode=disable&channel_binding=require'), /no pg_hba.conf entry/);
  });
}
