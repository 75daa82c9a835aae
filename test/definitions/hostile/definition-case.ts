import type { ApiResponse } from '../../e2e/support/api-client.js';
import { eventually } from '../../e2e/support/test-cluster.js';
import { checkAnswer, definitionsPath, expectStatus, Fault, type HostileScene, messageOf } from './scene.js';

/** One hostile case. It throws a Fault when the server misbehaves; its return value is shown. */
export interface HostileCase {
  readonly name: string;
  run(scene: HostileScene): Promise<string | undefined>;
}

/** The requests for the objects of an accepted definition. */
export interface InstanceStep {
  readonly method?: string;
  /** After the path of the objects; default: none. */
  readonly path?: string;
  readonly body?: () => string;
  readonly contentType?: string;
  readonly accept?: string;
  /** Statuses that are right; default: every one below 500. */
  readonly expect?: readonly number[];
  /** Checks the answer; returns the fault. */
  readonly check?: (answer: ApiResponse) => string | undefined;
}

export interface DefinitionCase {
  readonly name: string;
  /** Statuses of the answer to the definition that are right; default: every one below 500. */
  readonly expect?: readonly number[];
  /** The JSON text of the schema. */
  readonly schema?: () => string;
  /** More JSON members of the version. */
  readonly version?: () => string;
  /** All versions, instead of one. */
  readonly versions?: () => string;
  /** More JSON members of the names. */
  readonly names?: () => string;
  readonly group?: string;
  readonly plural?: string;
  readonly kind?: string;
  readonly scope?: string;
  readonly metadata?: string;
  /** More JSON members of the spec. */
  readonly spec?: () => string;
  readonly steps?: readonly InstanceStep[];
}

let next = 0;

/** Sends a definition; if it is accepted, waits until it is served, uses it, and deletes it. */
export function definitionCase(made: DefinitionCase): HostileCase {
  return { name: made.name, run: (scene) => tryDefinition(scene, made) };
}

export const freeSchema = '{"type":"object","x-kubernetes-preserve-unknown-fields":true}';

async function tryDefinition(scene: HostileScene, made: DefinitionCase): Promise<string> {
  const { group = 'hostile.example', scope = 'Namespaced', metadata = '' } = made;
  const number = next++;
  const plural = made.plural ?? `things${number}`;
  const kind = made.kind ?? `Thing${number}`;
  const name = `${plural}.${group}`;
  const versions =
    made.versions?.() ??
    `[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${made.schema?.() ?? freeSchema}}${made.version?.() ?? ''}}]`;
  const names = `{"plural":${JSON.stringify(plural)},"kind":${JSON.stringify(kind)}${made.names?.() ?? ''}}`;
  const raw = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":${JSON.stringify(name)}${metadata}},"spec":{"group":${JSON.stringify(group)},"scope":"${scope}","names":${names},"versions":${versions}${made.spec?.() ?? ''}}}`;
  const created = checkAnswer('definition', await scene.client.send('POST', definitionsPath, { raw }));
  if (made.expect !== undefined) expectStatus('definition', created, ...made.expect);
  if (created.status !== 201) return `${created.status} ${messageOf(created)}`;
  const base = `/apis/${group}/v1`;
  const place = scope === 'Namespaced' ? `${base}/namespaces/default/${plural}` : `${base}/${plural}`;
  const state = await eventually(async () => {
    const { body } = await scene.client.get(`${definitionsPath}/${name}`);
    const conditions: { type: string; status: string; reason: string }[] = body.status.conditions ?? [];
    const refused = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False');
    if (refused !== undefined) return refused.reason;
    return conditions.some(({ type, status }) => type === 'Established' && status === 'True') && 'established';
  }, `${made.name} gets conditions`);
  const found = [`201 ${state}`];
  try {
    if (state === 'established') {
      for (const client of scene.clients) {
        await eventually(async () => (await client.get(`${place}?limit=1`)).status === 200, `${made.name} is served`);
      }
      for (const [i, step] of (made.steps ?? []).entries()) {
        found.push(await take(scene, place, { apiVersion: `${group}/v1`, kind }, i, step));
      }
      for (const path of [`/apis/${group}/v1`, `/openapi/v3/apis/${group}/v1`, '/openapi/v2']) {
        expectStatus(path, await scene.other.get(path), 200);
      }
    }
  } finally {
    checkAnswer('deletion', await scene.client.delete(`${definitionsPath}/${name}`));
    await eventually(async () => {
      const { status } = await scene.other.get(`${definitionsPath}/${name}`);
      return status === 404;
    }, `${made.name} is gone`);
  }
  return found.join(', ');
}

async function take(
  scene: HostileScene,
  place: string,
  type: { readonly apiVersion: string; readonly kind: string },
  i: number,
  step: InstanceStep,
): Promise<string> {
  const { method = 'POST', path = '', body, contentType = 'application/json', accept } = step;
  const raw = body?.().replace('{', `{"apiVersion":"${type.apiVersion}","kind":"${type.kind}",`);
  const client = i % 2 === 0 ? scene.client : scene.other;
  const answer = await client.send(method, `${place}${path}`, {
    ...(raw === undefined ? {} : { raw: contentType.includes('json-patch') ? (body?.() ?? '') : raw }),
    contentType,
    ...(accept === undefined ? {} : { headers: { accept } }),
  });
  const what = `${method} ${path} (step ${i})`;
  checkAnswer(what, answer);
  if (step.expect !== undefined) expectStatus(what, answer, ...step.expect);
  const wrong = step.check?.(answer);
  if (wrong !== undefined) throw new Fault(`${what}: ${wrong}`);
  return answer.status < 300 ? `${answer.status}` : `${answer.status} ${messageOf(answer).slice(0, 80)}`;
}
