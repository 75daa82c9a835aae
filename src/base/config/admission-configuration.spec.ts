import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { vendorNames } from '../machinery/vendor.js';
import { readAdmissionConfiguration } from './admission-configuration.js';

const folder = mkdtempSync(join(tmpdir(), 'admission-'));
after(() => rmSync(folder, { recursive: true }));
const names = vendorNames('example.dev');
const head = 'apiVersion: apiserver.config.example.dev/v1\nkind: AdmissionConfiguration\n';

function read(text: string) {
  const file = join(folder, 'admission.yaml');
  writeFileSync(file, text);
  const { plugins, problems } = readAdmissionConfiguration(file, names, ['A', 'B', 'C']);
  return { plugins, problems: problems.map((problem) => problem.replaceAll(`${folder}/`, '')) };
}

describe('the configuration of admission', () => {
  it('has a document for each plugin, inline or in a file beside it', () => {
    writeFileSync(join(folder, 'b.json'), '{"kind": "BConfiguration"}');
    const { plugins, problems } = read(
      `${head}plugins:\n- name: A\n  configuration: {kind: AConfiguration}\n- name: B\n  path: b.json\n`,
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(plugins, {
      A: { value: { kind: 'AConfiguration' }, source: `${join(folder, 'admission.yaml')}, A`, folder },
      B: { value: { kind: 'BConfiguration' }, source: join(folder, 'b.json'), folder },
    });
  });

  it('names everything that is wrong at once', () => {
    const { problems } = read(`apiVersion: v1
kind: Config
pluginz: []
plugins:
- name: A
  configuration: {}
- name: A
  configuration: {}
- name: Nothing
- {}
- name: B
  path: absent.yaml
- name: C
  path: absent.yaml
  configuration: {}
  paths: []
`);
    const flag = '--admission-control-config-file admission.yaml: ';
    assert.deepEqual(problems, [
      `${flag}must be of kind AdmissionConfiguration`,
      `${flag}apiVersion must be apiserver.config.example.dev/v1 or apiserver.example.dev/v1alpha1`,
      `${flag}unknown field pluginz`,
      `${flag}plugins[1].name: A is configured twice`,
      `${flag}plugins[2].name: there is no plugin "Nothing"`,
      `${flag}plugins[3].name must be set`,
      "absent.yaml: can't be read: ENOENT: no such file or directory, open 'absent.yaml'",
      `${flag}unknown field plugins[5].paths`,
      `${flag}plugins[5] has both path and configuration`,
    ]);
  });

  it('is refused without being quoted when it is no document', () => {
    for (const text of ['{', 'a: 1\na: 2', '- secret']) {
      const { problems } = read(text);
      assert.equal(problems.length, 1);
      assert.doesNotMatch(problems[0] ?? '', /secret/);
    }
  });
});
