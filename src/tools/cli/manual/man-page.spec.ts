import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { mainFile } from '../../../../test/support/main-file.js';
import { flagsOf } from '../../../base/config/flag.js';
import { commands } from '../all-commands.js';
import { manualPages } from './man-page.js';

const pages = manualPages(commands, { version: '1.2.3', date: '2026-01-02' });
const plain = (text: string) =>
  text
    .replaceAll(/\\f[BIR]|\\:|\\&/g, '')
    .replaceAll('\\-', '-')
    .replaceAll('\\(dq', '"');

describe('manual pages', () => {
  it('are in the package: one of the program and one of each subcommand', () => {
    const manifest = readFileSync(join(mainFile, '..', '..', '..', 'package.json'), 'utf8');
    const { man } = JSON.parse(manifest) as { readonly man: readonly string[] };
    assert.deepEqual(
      man,
      [...pages.keys()].map((name) => `./dist/man/${name}`),
    );
    for (const { name } of commands)
      assert.match(
        String(pages.get('plinth.1')),
        new RegExp(`^\\.BR plinth.*${name.replaceAll('-', '.+')} \\(1\\)$`, 'm'),
      );
  });

  it('have every flag with its usage, default and variable', () => {
    for (const { name, groups } of commands) {
      const text = plain(String(pages.get(`plinth-${name}.1`))).replaceAll('\n', ' ');
      assert.match(text, /^\.TH PLINTH-\S+ 1 2026-01-02 "plinth 1\.2\.3" /);
      for (const flag of Object.values(groups).flatMap(flagsOf)) {
        const at = text.indexOf(`--${flag.name}${flag.type === 'bool' ? '' : ` ${flag.unit ?? flag.type}`} `);
        assert.ok(at > 0, `${name} --${flag.name}`);
        const after = text.slice(at, at + flag.usage.length + 4000);
        assert.ok(after.includes(flag.usage.replaceAll(/[^\x20-\x7e].*/gu, '').trim()), `${name} --${flag.name}`);
        assert.ok(after.includes(`Environment: ${flag.environment}.`), flag.environment);
      }
    }
    assert.match(plain(String(pages.get('plinth-serve.1'))), /--secure-port port\n.*\n(.*\n)?Default: 6443\./);
  });

  it('hold nothing that a formatter would take for a request', () => {
    const requests = new Set(['.TH', '.nh', '.ad', '.SH', '.SS', '.TP', '.B', '.BR', '.I', '.br']);
    for (const [name, text] of pages) {
      assert.match(text, /^[\x20-\x7e\n]*$/, name);
      for (const line of text.split('\n')) {
        if (/^[.']/.test(line)) assert.ok(requests.has(line.split(' ')[0] ?? ''), `${name}: ${line}`);
        for (const [sequence] of line.matchAll(/\\./g)) assert.match(sequence, /^\\[-&:efe([]$/, `${name}: ${line}`);
      }
    }
  });
});
