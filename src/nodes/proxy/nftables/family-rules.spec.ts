import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Logger } from '../../../base/observability/logger.js';
import { rulesOf, sampleEndpoint, sampleService, sampleSlice } from '../testing/samples.js';
import { FamilyRules } from './family-rules.js';
import type { PresentTable } from './table-script.js';
import type { TableSettings } from './table-settings.js';

const settings: TableSettings = {
  family: 'IPv4',
  masqueradeMark: 0x4000,
  masqueradesAll: false,
  pods: { isPod: 'ip saddr 10.1.0.0/16', isNoPod: 'ip saddr != 10.1.0.0/16' },
  nodePortAddresses: undefined,
  serviceCidrs: ['10.96.0.0/12'],
};

function scene(present?: PresentTable) {
  const scripts: string[] = [];
  const state = { fails: false, elapsed: 0, cleanupFailures: 0 };
  const table = {
    run: async (script: string) => {
      if (state.fails) throw new Error('nft: no');
      scripts.push(script);
    },
    read: async () => present,
    exists: async () => true,
  };
  const rules = new FamilyRules(
    {
      table,
      timers: { elapsed: () => state.elapsed },
      logger: new Logger('error', 'text', () => undefined),
      onCleanupFailure: () => {
        state.cleanupFailures += 1;
      },
    },
    settings,
  );
  const put = (...addresses: readonly string[]) =>
    rules.replace(
      'web/shop',
      addresses.length === 0
        ? undefined
        : rulesOf(sampleService(), [sampleSlice(addresses.map((address) => sampleEndpoint(address, 'there')))]),
    );
  return { rules, scripts, state, put };
}

describe('FamilyRules', () => {
  it('writes all at first and then only what changes', async () => {
    const { rules, scripts, put } = scene();
    put('10.1.0.1');
    assert.deepEqual(await rules.write(), { kind: 'full' });
    put('10.1.0.1', '10.1.0.2');
    assert.deepEqual(await rules.write(), { kind: 'partial' });
    assert.deepEqual(await rules.write(), { kind: undefined });
    assert.equal(scripts.length, 2);
    assert.match(scripts[0] ?? '', /add table ip plinth-proxy\n/);
    assert.equal(
      scripts[1],
      [
        'add chain ip plinth-proxy pick-2',
        'flush chain ip plinth-proxy pick-2',
        ...['tcp', 'udp', 'sctp'].map(
          (protocol) =>
            `add rule ip plinth-proxy pick-2 dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 2 map @endpoints-${protocol}`,
        ),
        'delete element ip plinth-proxy service-ips { 10.96.0.7 . tcp . 80 }',
        'add element ip plinth-proxy service-ips { 10.96.0.7 . tcp . 80 : goto pick-2 }',
        'add element ip plinth-proxy endpoints-tcp { 10.96.0.7 . tcp . 80 . 1 : 10.1.0.2 . 8080 }',
        '',
      ].join('\n'),
    );
  });

  it('masquerades packets from outside with bit 14, and drops those with bit 15', async () => {
    const { rules, scripts } = scene();
    await rules.write();
    const [text = ''] = scripts;
    assert.match(
      text,
      /services ip daddr @cluster-ips ip saddr != 10\.1\.0\.0\/16 meta mark set meta mark or 0x00004000\n/,
    );
    assert.match(text, /masquerading meta mark and 0x00004000 != 0 .* masquerade fully-random\n/);
    assert.match(text, /filter-input meta mark and 0x00008000 != 0 drop\n/);
    assert.match(text, /cluster-ips-check ip daddr \{ 10\.96\.0\.0\/12 \} drop\n/);
  });

  it('writes all again after a failure, and then begins with an empty table', async () => {
    const { rules, scripts, state, put } = scene({ chains: new Set(), affinitySets: new Set() });
    await rules.write();
    put('10.1.0.1');
    state.fails = true;
    await assert.rejects(rules.write(), /nft: no/);
    state.fails = false;
    put('10.1.0.2');
    assert.deepEqual(await rules.write(), { kind: 'full' });
    assert.match(scripts.at(-1) ?? '', /delete table ip plinth-proxy\n/);
    assert.match(scripts.at(-1) ?? '', /80 \. 0 : 10\.1\.0\.2 \. 8080/);
    assert.doesNotMatch(scripts.at(-1) ?? '', /10\.1\.0\.1/);
  });

  it('keeps sets of clients that it finds and are wanted, and removes chains of others when they are free', async () => {
    const old = 'service-0123456789abcdef-web/old/tcp/http';
    const { rules, scripts, state } = scene({
      chains: new Set(['services', old]),
      affinitySets: new Set(['affinity-60-gone']),
    });
    await rules.write();
    const [text = ''] = scripts;
    assert.doesNotMatch(text, /delete table/);
    assert.ok(text.includes(`flush chain ip plinth-proxy ${old}\n`));
    assert.ok(text.includes('delete set ip plinth-proxy affinity-60-gone\n'));
    await rules.removeStale();
    assert.equal(scripts.length, 1);
    state.elapsed += 1_500;
    await rules.removeStale();
    assert.equal(scripts[1], `delete chain ip plinth-proxy ${old}\n`);
  });

  it('counts chains that can not be removed', async () => {
    const { rules, state } = scene({ chains: new Set(['endpoint-old/1']), affinitySets: new Set() });
    await rules.write();
    state.elapsed += 1_500;
    state.fails = true;
    await rules.removeStale();
    assert.equal(state.cleanupFailures, 1);
  });
});
