// Writes deploy/plinth.yaml, the chart as plain manifests. Needs helm.
//   --check  only compares, and fails when the file differs from the chart
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments, stringify } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = join(root, 'deploy', 'plinth.yaml');
const head = `# The chart in charts/plinth as plain manifests, written by npm run deploy:manifests. docs/install.md says how to use them:
# they need the secrets plinth-database (url) and plinth-pki (the files that plinth pki makes) in the same namespace.
`;

function render() {
  const args = ['template', 'plinth', 'charts/plinth', '--skip-tests', '--kube-version=1.33.0'];
  const { error, status, stdout, stderr } = spawnSync(
    'helm',
    [...args, '--values=charts/plinth/ci/secret-values.yaml'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  if (error?.code === 'ENOENT') throw new Error('helm is not on the PATH: install Helm 3 (https://helm.sh)');
  if (status !== 0) throw new Error(error?.message ?? stderr);
  return stdout;
}

function parse(text, version = '1.2') {
  return parseAllDocuments(text, { version }).map((document) => document.toJS());
}

/** A value without the metadata that only Helm reads. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(
    ([key, one]) => !key.startsWith('helm.sh/') && !(key === 'app.kubernetes.io/managed-by' && one === 'Helm'),
  );
  return Object.fromEntries(kept.map(([key, one]) => [key, plain(one)]).filter(([key, one]) => !isEmptyMap(key, one)));
}

function isEmptyMap(key, value) {
  return key === 'annotations' && Object.keys(value).length === 0;
}

try {
  const rendered = render();
  const documents = parse(rendered).map(plain);
  const text = `${head}${documents.map((one) => `---\n${stringify(one, { lineWidth: 0 })}`).join('')}`;
  if (!isDeepStrictEqual(parse(rendered, '1.1').map(plain), parse(text, '1.1')))
    throw new Error('the chart has a value that YAML 1.1, which kubectl and Helm read, knows as another one');
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text)
    throw new Error('deploy/plinth.yaml is not that of the chart: run npm run deploy:manifests');
} catch (error) {
  console.error(`manifests: ${error.message}`);
  process.exitCode = 1;
}
