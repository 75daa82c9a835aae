import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { ApiClient } from '../e2e/support/api-client.js';
import { eventually, TestCluster } from '../e2e/support/test-cluster.js';

/*
 * Installs custom resource definitions of other projects and applies objects of theirs.
 *
 *   npm run check:definitions -- <definitions> [--valid <objects>] [--invalid <objects>] ...
 *
 * Each argument is a YAML file or a folder with such files. Prints valid objects that were refused, and invalid ones
 * that were accepted. Ends with a failure if there were any.
 */

interface Item {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly generateName?: string };
}

interface Found {
  readonly file: string;
  readonly item: Item;
}

function filesOf(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => join(path, name))
    .toSorted();
}

function itemsOf(path: string): Found[] {
  return filesOf(path).flatMap((file) =>
    parseAllDocuments(readFileSync(file, 'utf8'))
      .map((document) => document.toJS() as Item | null)
      .filter((item): item is Item => typeof item?.kind === 'string')
      .map((item) => ({ file, item })),
  );
}

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly plural: string; readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

class Installed {
  private readonly paths = new Map<string, { readonly plural: string; readonly isNamespaced: boolean }>();

  constructor(private readonly client: ApiClient) {}

  /** Creates a definition and waits until it is served; returns the fault, if any. */
  async install({ file, item }: Found): Promise<string | undefined> {
    const begin = performance.now();
    const { status, text } = await this.client.post(definitionsPath, item);
    if (status !== 201) return `${file}: ${item.metadata.name} refused with ${status}: ${messageOf(text)}`;
    const created = performance.now();
    const { spec } = item as unknown as Definition;
    await eventually(async () => {
      const found = await this.client.get(`${definitionsPath}/${item.metadata.name}`);
      const { status: state } = JSON.parse(found.text) as Definition;
      return state?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true;
    }, `${item.metadata.name} is established`);
    for (const { name, served } of spec.versions) {
      if (!served) continue;
      await eventually(
        async () => (await this.client.get(`/apis/${spec.group}/${name}/${spec.names.plural}`)).status === 200,
        `${name} is served`,
      );
      const key = `${spec.group}/${name} ${spec.names.kind}`;
      this.paths.set(key, { plural: spec.names.plural, isNamespaced: spec.scope === 'Namespaced' });
    }
    const times = `${(created - begin).toFixed(0)} ms to create, ${(performance.now() - created).toFixed(0)} ms to serve`;
    console.log(`installed ${item.metadata.name}: ${times}`);
    return undefined;
  }

  /** Creates an object by a dry run; undefined if no installed definition has its kind. */
  async create({ apiVersion, kind, metadata, ...rest }: Item): Promise<{ status: number; text: string } | undefined> {
    const path = this.paths.get(`${apiVersion} ${kind}`);
    if (path === undefined) return undefined;
    const place = path.isNamespaced ? `/namespaces/default/${path.plural}` : `/${path.plural}`;
    const object = { apiVersion, kind, metadata: { ...metadata, namespace: undefined }, ...rest };
    return this.client.post(`/apis/${apiVersion}${place}?dryRun=All&fieldValidation=Strict`, object);
  }
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}

/** The OpenAPI documents must be there with all definitions, in both formats. */
async function documentFaults(client: ApiClient): Promise<string[]> {
  const binary = (version: string) => `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`;
  const index = JSON.parse((await client.get('/openapi/v3')).text) as {
    readonly paths: Readonly<Record<string, object>>;
  };
  const asked: (readonly [path: string, accept: string])[] = ['application/json', binary('v2')].map((accept) => [
    '/openapi/v2',
    accept,
  ]);
  for (const path of Object.keys(index.paths)) {
    asked.push([`/openapi/v3/${path}`, 'application/json'], [`/openapi/v3/${path}`, binary('v3')]);
  }
  const faults: string[] = [];
  for (const [path, accept] of asked) {
    const { status, text } = await client.get(path, { headers: { accept } });
    if (status !== 200) faults.push(`${path} as ${accept}: ${status} ${text.slice(0, 200)}`);
  }
  return faults;
}

async function main(client: ApiClient): Promise<number> {
  const installed = new Installed(client);
  let expected: 'definitions' | 'valid' | 'invalid' = 'definitions';
  const counts = { definitions: 0, valid: 0, invalid: 0, faults: 0 };
  const fault = (text: string) => {
    counts.faults++;
    console.log(`FAULT ${text}`);
  };
  for (const argument of process.argv.slice(2)) {
    if (argument === '--valid' || argument === '--invalid') {
      expected = argument === '--valid' ? 'valid' : 'invalid';
      continue;
    }
    for (const found of itemsOf(argument)) {
      const { file, item } = found;
      if (item.kind === 'CustomResourceDefinition') {
        counts.definitions++;
        const problem = await installed.install(found);
        if (problem !== undefined) fault(problem);
        continue;
      }
      if (expected === 'definitions') continue;
      const answer = await installed.create(item);
      if (answer === undefined) continue;
      counts[expected]++;
      const { status, text } = answer;
      if (expected === 'valid' && status !== 201) fault(`${file}: ${item.kind} ${status}: ${messageOf(text)}`);
      if (expected === 'invalid' && status === 201) fault(`${file}: ${item.kind} ${item.metadata.name} was accepted`);
      if (status >= 500) fault(`${file}: ${status} ${messageOf(text)}`);
    }
  }
  for (const problem of await documentFaults(client)) fault(problem);
  const { definitions, valid, invalid, faults } = counts;
  console.log(`${definitions} definitions, ${valid} valid and ${invalid} invalid objects, ${faults} faults`);
  return definitions === 0 || faults > 0 ? 1 : 0;
}

const cluster = await TestCluster.start({ servers: 1, controllers: true });
try {
  process.exitCode = await main(cluster.first.client);
} finally {
  await cluster.stop();
}
